"""The writer of GitHub Markdown. No text of a table or a statement is read as markup."""

from __future__ import annotations

import html
import re
from itertools import islice
from typing import TYPE_CHECKING, assert_never

from msgspec import Struct

from whyscan.reports.phrases import blind, fate, gate, selected
from whyscan.reports.text import spark
from whyscan.reports.text_layout import Page, in_paragraphs
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
    Head,
    Histogram,
    NameSpan,
    NotesBlock,
    ScansBlock,
    Section,
    TitleBlock,
    cell_of,
    is_empty,
    spans_of,
)
from whyscan.reports.words import VERDICTS, inert, inert_sql, level_name, sizes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from whyscan.reports.findings import Finding
    from whyscan.reports.levels import Level
    from whyscan.reports.view import Block, Cell, Inline

ROOM = 60_000
"""What does not fit is cut or left out: a comment on GitHub has at most 65,536 characters."""
FILES_SHOWN = 100
SQL_SHOWN = 10_000

_MARKUP = re.compile(r"([\\`*_\[\]<>#~|&!$])")
_LINK = re.compile(r"(?i)(https?|ftp)://|(www)\.")
_FENCE = re.compile(r"`+")


class Limits(Struct, frozen=True):
    """How many rows of a table or list are shown, and how many characters of each text."""

    rows: int
    longest: int


LIMITS = (Limits(100, 400), Limits(20, 300), Limits(5, 100))


def markdown(blocks: Iterable[Block]) -> str:
    """Write all blocks; the text ends with a line break. Folds fill the room that is left."""
    parts = [block for block in blocks if not is_empty(block)]
    limits, texts = next(
        attempt for attempt in _attempts(parts) if _fits(attempt[1]) or attempt[0] is LIMITS[-1]
    )
    room = ROOM - sum(map(len, texts))
    left_out = 0
    for at, part in enumerate(parts):
        if isinstance(part, Fold):
            folded = "" if left_out else _text(part, limits)
            if left_out or len(folded) > room:
                left_out += 1
                continue
            room -= len(folded)
            texts[at] = folded
    if left_out:
        texts.append(f"{left_out:,} more sections left out: --format json has all of them")
    return "\n\n".join(filter(None, texts)) + "\n"


def _attempts(parts: Sequence[Block]) -> Iterator[tuple[Limits, list[str]]]:
    """Yield the texts of all blocks but folds, with smaller and smaller limits."""
    for limits in LIMITS:
        yield limits, ["" if isinstance(part, Fold) else _text(part, limits) for part in parts]


def _fits(texts: Iterable[str]) -> bool:
    return sum(map(len, texts)) <= ROOM


def _text(block: Block, limits: Limits) -> str:
    return in_paragraphs(_paragraphs((block,), limits)).rstrip("\n")


def plain(text: str) -> str:
    """Escape text so that it has no emphasis, link, tag or mention of a user."""
    quoted = _MARKUP.sub(r"\\\1", inert(text))
    unlinked = _LINK.sub(lambda m: f"{m[1]}:<!-- -->//" if m[1] else f"{m[2]}<!-- -->.", quoted)
    return unlinked.replace("@", "@<!-- -->")


def code(text: str) -> str:
    """Write SQL or a path as a code span, with a fence longer than every fence inside."""
    shown = inert_sql(text)
    longest = max((len(run) for run in _FENCE.findall(shown)), default=0)
    fence = "`" * (longest + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") or not shown else ""
    return f"{fence}{space}{shown}{space}{fence}"


def _paragraphs(blocks: Iterable[Block], limits: Limits) -> Iterator[Sequence[str]]:
    for block in blocks:
        if is_empty(block):
            continue
        match block:
            case Section() if block.aside:
                yield from _details(block.title, _paragraphs(block.blocks, limits))
            case Section():
                if not block.quiet:
                    yield [f"**{plain(block.title)}**"]
                yield from _paragraphs(block.blocks, limits)
            case Fold():
                content = _paragraphs(_beside(block), limits)
                yield from _details(_unmarked(block.title), content, " open" if block.open else "")
            case FilesBlock():
                yield from _files(block)
            case _:
                yield [*_lines(block, limits)]


def _beside(fold: Fold) -> tuple[Block, ...]:
    return fold.blocks if fold.beside is None else (NotesBlock((fold.beside,)), *fold.blocks)


def _details(
    title: str, content: Iterable[Sequence[str]], attribute: str = ""
) -> Iterator[Sequence[str]]:
    # Inside of a tag, an entity is text and a backslash is shown.
    shown = html.escape(inert(title)).replace("@", "@<!-- -->")
    yield [f"<details{attribute}><summary>{shown}</summary>"]
    yield from content
    yield ["</details>"]


def _unmarked(value: Inline) -> str:
    return "".join(span if isinstance(span, str) else _text_of(span) for span in spans_of(value))


def _text_of(span: CodeSpan | NameSpan | Histogram) -> str:
    return "" if isinstance(span, Histogram) else span.text


def _lines(block: Block, limits: Limits) -> Iterator[str]:
    match block:
        case TitleBlock():
            yield f"**{plain(inert_sql(block.sentence))}**"
        case FactsBlock():
            for row in block.rows[: limits.rows]:
                beside = "" if row.beside is None else f" ({inline(row.beside)})"
                yield f"- {plain(row.name)}: {inline(row.value)}{beside}"
            yield from _more(len(block.rows) - limits.rows, "- ")
        case GridBlock():
            yield from _grid(block, limits)
        case FunnelBlock():
            heads = (Head("level"), Head(""), Head("read", number=True), Head("bytes", number=True))
            yield from _rows(heads, [_level(level) for level in block.levels])
        case ScansBlock():
            yield from _grid(block.grid, limits)
        case FindingsBlock():
            for finding in block.findings[: limits.rows]:
                yield from _finding(finding, block.change)
            yield from _more(len(block.findings) - limits.rows, "- ")
        case GatesBlock():
            for assertion in block.assertions:
                sign = "✅" if assertion.passed else "⚠️" if assertion.holds else "❌"
                yield f"- {sign} {assertion.result}: {plain(gate(assertion))}"
        case CodeBlock():
            yield from _fenced(block.sql)
        case NotesBlock():
            limit = min(block.shown or limits.rows, limits.rows)
            yield from (f"- {inline(line, limits.longest)}" for line in block.lines[:limit])
            yield from _more(len(block.lines) - limit, "- ")
        case Section() | Fold() | FilesBlock():
            for paragraph in _paragraphs((block,), limits):
                yield from paragraph
        case _:
            assert_never(block)


def inline(value: Inline, longest: int | None = None) -> str:
    """Write a text: SQL and names as code, everything else escaped."""
    return "".join(_span(span, longest) for span in spans_of(value))


def _span(span: object, longest: int | None) -> str:
    match span:
        case CodeSpan() | NameSpan():
            return code(_cut(span.text, longest))
        case Histogram():
            return spark(span.distribution, Page())
        case _:
            return plain(_cut(str(span), longest))


def _cut(text: str, longest: int | None) -> str:
    if longest is None or len(text) <= longest:
        return text
    shown = inert_sql(text)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def _fenced(sql: str) -> Iterator[str]:
    """Write a code block, with a fence longer than every fence inside."""
    text = "\n".join(sql_lines(sql))
    shown = text if len(text) <= SQL_SHOWN else f"{text[:SQL_SHOWN]}\n…"
    longest = max((len(run) for run in _FENCE.findall(shown)), default=0)
    fence = "`" * max(longest + 1, 3)
    yield f"{fence}sql"
    yield from shown.split("\n")
    yield fence


def sql_lines(sql: str) -> list[str]:
    """Return the lines of SQL as written, with control characters made harmless."""
    return [inert(line.rstrip()) for line in sql.strip().replace("\t", "    ").split("\n")]


def _grid(grid: GridBlock, limits: Limits) -> Iterator[str]:
    limit = min(grid.shown or limits.rows, limits.rows)
    rows = [[_cell(cell_of(value), limits) for value in row] for row in grid.rows[:limit]]
    yield from _rows(grid.columns, rows)
    yield from _more(len(grid.rows) - limit, "\n")


def _more(number: int, lead: str) -> Iterator[str]:
    if number > 0:
        yield f"{lead}… and {number:,} more: --format json has all of them"


def _cell(cell: Cell, limits: Limits) -> str:
    lead = "↳ " * cell.depth
    texts = (cell.shown, *cell.below)
    return lead + "<br>".join(inline(text, limits.longest) for text in texts)


def _rows(heads: Sequence[Head], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(plain(head.name) for head in heads)} |"
    yield f"|{''.join('---:|' if head.number else '---|' for head in heads)}"
    for row in rows:
        # A bar ends a cell even in code.
        cells = (re.sub(r"(?<!\\)\|", r"\\|", cell) for cell in row)
        yield f"| {' | '.join(cells)} |"


def _level(level: Level) -> tuple[str, str, str, str]:
    sentences = filter(None, (fate(level), selected(level), blind(level)))
    weight = sizes(level.bytes_kept, level.bytes_total)
    read = f"{level.kept:,} of {level.total:,}"
    return level_name(level.level), "<br>".join(sentences), read, weight


def _finding(finding: Finding, change: str | None) -> Iterator[str]:
    lead = "" if change is None else f"{change} "
    label = f"{lead}**{finding.severity.value}** {code(finding.code.value)}"
    yield f"- {label}: {plain(inert_sql(finding.message))}"
    if finding.fix is not None and change != "gone":
        yield f"  - fix: {plain(inert_sql(finding.fix))}"
        if finding.rewrite is not None and finding.rewrite not in finding.fix:
            yield f"    - {code(finding.rewrite)}"


def _files(block: FilesBlock) -> Iterator[Sequence[str]]:
    total = len(block.listing)
    shown = list(islice(block.listing.lines(), FILES_SHOWN))
    more = f", {total - len(shown):,} of {total:,} left out" if total > len(shown) else ""
    rows = [(code(line.path), VERDICTS[line.verdict], plain(line.evidence)) for line in shown]
    content = [*_rows((Head("file"), Head("outcome"), Head("why")), rows)]
    yield from _details(f"every file{more}", [content])
