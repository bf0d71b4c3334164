"""The writer of text: the blocks of a view as lines for a terminal or a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from whyscan.reports.findings import Severity
from whyscan.reports.listing_text import listed
from whyscan.reports.phrases import blind, fate, gate, selected
from whyscan.reports.text_layout import GAP, Ink, Page, columns, in_paragraphs, table, title_lines
from whyscan.reports.view import (
    CodeBlock,
    CodeSpan,
    FactsBlock,
    FilesBlock,
    FindingsBlock,
    Fold,
    FunnelBlock,
    GatesBlock,
    GridBlock,
    Histogram,
    NameSpan,
    NotesBlock,
    ScansBlock,
    Section,
    TitleBlock,
    Tone,
    cell_of,
    is_empty,
    spans_of,
)
from whyscan.reports.words import inert, inert_sql, level_name, sizes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from whyscan.reports.distribution import Distribution
    from whyscan.reports.findings import Finding
    from whyscan.reports.view import Block, Cell, Inline, NamedValue

NARROW_BAR = 10
WIDE_BAR = 40
SHORTEST_CUT = 6
LINES_OF_SQL = 6
STEPS = "▁▂▃▄▅▆▇█"
ASCII_STEPS = ".:-=+*#@"
TONES = {Tone.PLAIN: Ink.FAINT, Tone.WARN: Ink.WARN, Tone.BAD: Ink.BAD}


def text(blocks: Iterable[Block], page: Page | None = None) -> str:
    """Write all blocks; the text ends with a line break."""
    page_or_default = Page() if page is None else page
    return in_paragraphs(_paragraphs(blocks, page_or_default))


def _paragraphs(blocks: Iterable[Block], page: Page) -> Iterator[Sequence[str]]:
    """Yield the lines of each block, with an empty line to be put between them."""
    for block in blocks:
        if is_empty(block) or (isinstance(block, Fold | GridBlock | ScansBlock) and block.detail):
            continue
        match block:
            case Section():
                yield from _section(block, page)
            case Fold():
                yield _fold(block, page)
            case _:
                yield [*_lines(block, page)]


def _section(section: Section, page: Page) -> Iterator[Sequence[str]]:
    """Yield the blocks as one paragraph, and every fold as a paragraph of its own."""
    titled = not section.quiet and not section.aside
    inner = page.indented() if titled else page
    lines = [
        line
        for block in section.blocks
        if not isinstance(block, Fold) and not is_empty(block)
        for line in _lines(block, inner)
    ]
    if lines and titled:
        yield [page.paint(inert(section.title), TONES[section.tone]), *_indented(lines)]
    elif lines:
        yield lines
    yield from _paragraphs((b for b in section.blocks if isinstance(b, Fold)), page)


def _fold(fold: Fold, page: Page) -> list[str]:
    title = plain(fold.title, page)
    beside = "" if fold.beside is None else f": {plain(fold.beside, page)}"
    heading = page.wrap(f"{title}{beside}", hanging=GAP)
    first = heading.replace(title, page.paint(title, Ink.TITLE), 1)
    content = in_paragraphs(_paragraphs(fold.blocks, page.indented())).rstrip("\n")
    return [first, *_indented(content.split("\n"))]


def _indented(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield from (f"{GAP}{part}".rstrip() for part in line.split("\n"))


def _lines(block: Block, page: Page) -> Iterator[str]:
    match block:
        case TitleBlock():
            yield from title_lines(inert_sql(block.sentence), page)
        case FactsBlock():
            yield from _facts(block.rows, page)
        case GridBlock():
            yield from _grid(block, page)
        case FunnelBlock():
            yield from _funnel(block, page)
        case ScansBlock():
            yield from _grid(block.grid, page)
        case FilesBlock():
            yield "every file"
            yield from listed(block.listing, page)
        case FindingsBlock():
            for finding in block.findings:
                yield from _finding(finding, block.change, page)
        case GatesBlock():
            yield from _gates(block, page)
        case CodeBlock():
            yield from _code(block, page)
        case NotesBlock():
            for line in block.lines[: block.shown]:
                yield page.wrap(plain(line, page), hanging=GAP)
            yield from _more(len(block.lines), block.shown, page)
        case Section() | Fold():
            for paragraph in _paragraphs((block,), page):
                yield from paragraph
        case _:
            assert_never(block)


def plain(value: Inline, page: Page) -> str:
    """Write a text on one line without any character that a terminal interprets."""
    return "".join(_span(span, page) for span in spans_of(value))


def _span(span: object, page: Page) -> str:
    match span:
        case CodeSpan():
            return inert_sql(span.text)
        case NameSpan():
            return inert(page.place(span.text))
        case Histogram():
            return spark(span.distribution, page)
        case _:
            return inert(page.near(str(span)))


def spark(distribution: Distribution, page: Page) -> str:
    """Draw the bins as a row of block characters; an empty bin is a blank."""
    steps = STEPS if page.unicode else ASCII_STEPS
    most = max(distribution.bins)
    return "".join(
        " " if not count else steps[(count * len(steps) - 1) // most] for count in distribution.bins
    ).rstrip()


def _facts(rows: Sequence[NamedValue], page: Page) -> Iterator[str]:
    width = max(columns(inert(row.name)) for row in rows)
    for row in rows:
        name = inert(row.name)
        beside = "" if row.beside is None else f" ({plain(row.beside, page)})"
        lead = name + " " * (width - columns(name)) + GAP
        yield page.wrap(f"{lead}{plain(row.value, page)}{beside}", hanging=" " * (width + len(GAP)))


def _grid(grid: GridBlock, page: Page) -> Iterator[str]:
    cells = [[cell_of(value) for value in row] for row in grid.rows[: grid.shown]]
    heads = [head.name for head in grid.columns]
    rows = [heads, *([_cell(cell, page) for cell in row] for row in cells)]
    others = sum(
        max(columns(row[at]) for row in rows) + len(GAP)
        for at in range(len(heads))
        if at != grid.flexible
    )
    room = max(page.width - others, SHORTEST_CUT)
    for texts in rows:
        texts[grid.flexible] = page.cut(texts[grid.flexible], room)
    right = frozenset(at for at, head in enumerate(grid.columns) if head.number)
    head, *lines = table(rows, right=right)
    if any(heads):
        yield page.paint(head, Ink.FAINT)
    for line, row in zip(lines, cells, strict=True):
        yield line
        for below in (text for cell in row for text in cell.below):
            yield page.wrap(plain(below, page), indent=GAP, hanging=GAP * 2)
    yield from _more(len(grid.rows), grid.shown, page)


def _cell(cell: Cell, page: Page) -> str:
    return f"{GAP * cell.depth}{plain(cell.shown, page)}"


def _more(total: int, shown: int | None, page: Page) -> Iterator[str]:
    if shown is not None and total > shown:
        dots = "…" if page.unicode else "..."
        yield page.paint(
            f"{dots} and {total - shown:,} more: --format json has all of them", Ink.FAINT
        )


def _funnel(funnel: FunnelBlock, page: Page) -> Iterator[str]:
    rows = [
        (level_name(v.level), f"{v.kept:,} of {v.total:,}", sizes(v.bytes_kept, v.bytes_total))
        for v in funnel.levels
    ]
    names, counts, weights = (max(map(columns, column)) for column in zip(*rows, strict=True))
    length = min(max(page.width - names - counts - weights - 3 * len(GAP), NARROW_BAR), WIDE_BAR)
    for level, (name, count, weight) in zip(funnel.levels, rows, strict=True):
        bar = page.bar(level.kept, level.total, length)
        cells = (name.ljust(names), bar, count.rjust(counts), weight.rjust(weights))
        yield GAP.join(cells).rstrip()
        for sentence in filter(None, (fate(level), selected(level), blind(level))):
            yield page.wrap(sentence, indent=" " * (names + len(GAP)))


def _finding(finding: Finding, change: str | None, page: Page) -> Iterator[str]:
    label = f"{finding.severity.value} {finding.code.value}"
    ink = Ink.WARN if finding.severity is Severity.WARNING else Ink.TITLE
    lead = "" if change is None else f"{change} "
    wrapped = page.wrap(f"{lead}{label}: {inert_sql(finding.message)}", hanging=GAP)
    yield wrapped.replace(label, page.paint(label, ink), 1)
    if finding.fix is not None and change != "gone":
        yield page.wrap(f"fix: {inert_sql(finding.fix)}", indent=GAP, hanging=" " * 7)
        if finding.rewrite is not None and finding.rewrite not in finding.fix:
            yield page.wrap(inert_sql(finding.rewrite), indent=" " * 7)


def _gates(gates: GatesBlock, page: Page) -> Iterator[str]:
    for assertion in gates.assertions:
        ink = Ink.GOOD if assertion.passed else Ink.WARN if assertion.holds else Ink.BAD
        yield page.wrap(f"{assertion.result}{GAP}{gate(assertion)}", hanging=" " * 6).replace(
            assertion.result, page.paint(assertion.result, ink), 1
        )


def _code(block: CodeBlock, page: Page) -> Iterator[str]:
    """Write SQL as one long line, wrapped and cut to a few lines."""
    lead = f"{block.name}{GAP}"
    hanging = " " * len(lead)
    lines = page.wrap(f"{lead}{inert_sql(block.sql)}", hanging=hanging).split("\n")
    if block.whole or len(lines) <= LINES_OF_SQL:
        yield from lines
        return
    yield from lines[: LINES_OF_SQL - 1]
    rest = " ".join(line.strip() for line in lines[LINES_OF_SQL:])
    yield page.cut(f"{lines[LINES_OF_SQL - 1]} {rest}", page.width)
