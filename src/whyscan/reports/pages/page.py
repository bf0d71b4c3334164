"""The writer of HTML: the blocks of a view as a whole page, and as a fragment for notebooks."""

from __future__ import annotations

from itertools import count, islice
from typing import TYPE_CHECKING, Any

from whyscan.reports import phrases, words
from whyscan.reports.distribution import steps
from whyscan.reports.markdown import sql_lines
from whyscan.reports.pages.bars import part_of, segments
from whyscan.reports.pages.data import files_json
from whyscan.reports.pages.lanes import drawing
from whyscan.reports.pages.shell import document, piece
from whyscan.reports.view import (
    CodeBlock,
    FactsBlock,
    FilesBlock,
    Fold,
    FunnelBlock,
    GatesBlock,
    GridBlock,
    NotesBlock,
    Section,
    TitleBlock,
    cell_of,
    is_empty,
    spans_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.listing import FileLine, Listing
    from whyscan.reports.view import Block, Blocks, ScansBlock

FILES_SHOWN = 500
OPEN_AT_ONCE = 12
"""Up to so many chapters are shown open; with more, the reader opens the relevant ones."""
ROWS_SHOWN = 10_000
ROWS_IN_NOTEBOOK = 50
STYLES = ("stats.css", "statement.css")
FILE_SCRIPTS = ("numbers.js", "values.js", "files.js", "chart.js", "grid.js", "table.js")


def page(blocks: Blocks) -> str:
    """Write a whole document.

    The answer, the question and the gates come first, and folds come last, as chapters. Scripts
    draw the charts and the table of the files that are listed outside of folds.
    """
    from markupsafe import Markup

    head, question, remarks, assertions, rest = _parts(blocks)
    files = next((block for block in rest if isinstance(block, FilesBlock)), None)
    # The picture stands behind what is read, and before what is said about it.
    at = next((place + 1 for place in _places(rest)), 0)
    start = ("start_view.js",) if files is None else (*FILE_SCRIPTS, "start.js")
    return document(
        "view.html.j2",
        scripts=start,
        styles=STYLES,
        head=head,
        question=question,
        assertions=assertions,
        remarks=remarks,
        first=rest[:at],
        blocks=[block for block in rest[at:] if not isinstance(block, Fold)],
        chapters=[block for block in rest if isinstance(block, Fold)],
        # JSON without `<`, `>` and `&` is safe.
        data=None if files is None else Markup(files_json(files.listing)),  # noqa: S704
        notebook=False,
        open_at_once=OPEN_AT_ONCE,
        **template_words(ROWS_SHOWN),
    )


def fragment(blocks: Blocks) -> str:
    """Write the HTML that a notebook shows: without a script, in the notebook's colours."""
    head, *rest = blocks
    return piece(
        "notebook.html.j2",
        head=head,
        blocks=rest,
        notebook=True,
        data=None,
        **template_words(ROWS_IN_NOTEBOOK),
    )


def _places(blocks: list[Block]) -> Iterator[int]:
    """Yield the positions of sections that show what is read on each level."""
    for at, block in enumerate(blocks):
        if isinstance(block, Section) and any(isinstance(b, FunnelBlock) for b in block.blocks):
            yield at


def _parts(blocks: Blocks) -> tuple[TitleBlock, list[Any], list[Any], list[Any], list[Block]]:
    """Return the title, the rows of the question, notes on it, the gates, and the other blocks."""
    head = blocks[0]
    if not isinstance(head, TitleBlock):
        raise TypeError("a view begins with its title")
    question: list[Any] = []
    remarks: list[Any] = []
    assertions: list[Any] = []
    rest: list[Block] = []
    for block in blocks[1:]:
        match block:
            case FactsBlock() if not rest:
                question += block.rows
            case CodeBlock() if not rest:
                question.append(block)
            case NotesBlock() if not rest:
                remarks.append(block)
            case GatesBlock():
                assertions += block.assertions
            case _:
                rest.append(block)
    return head, question, remarks, assertions, rest


def template_words(rows: int, *, first_id: int = 1) -> dict[str, Any]:
    """Return the functions that the templates use.

    `number` gives elements their ids, from `first_id` on. Tables and lists show up to `rows` rows.
    """
    return {
        "blind": phrases.blind,
        "cell_of": cell_of,
        "drawing_of": _drawing_of,
        "fate_without_rows": phrases.fate_without_rows,
        "files_shown": FILES_SHOWN,
        "first_files": _first_files,
        "gate": phrases.gate,
        "holds_wide": _holds_wide,
        "is_empty": is_empty,
        "kind": lambda value: type(value).__name__,
        "mechanisms_of": _mechanisms_of,
        "number": count(first_id).__next__,
        "part_of": part_of,
        "rows_shown": rows,
        "segments": segments,
        "spans_of": spans_of,
        "sql_lines": sql_lines,
        "steps": steps,
        "verdicts": words.VERDICTS,
    }


def _drawing_of(block: ScansBlock) -> Any:
    return drawing(block.joins, len(block.rows))


def _first_files(listing: Listing) -> Iterator[FileLine]:
    return islice(listing.lines(), FILES_SHOWN)


def _holds_wide(section: Section) -> bool:
    """Say whether a section contains a table that needs the whole width of the page."""
    return any(isinstance(block, GridBlock) and block.sortable for block in section.blocks)


def _mechanisms_of(block: FunnelBlock | ScansBlock) -> set[str]:
    if isinstance(block, FunnelBlock):
        return {mechanism for level in block.levels for mechanism in level.pruned_by}
    return {segment.fate for row in block.rows for segment in row.bar}
