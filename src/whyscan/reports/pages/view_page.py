"""The writer of HTML: the blocks of a view as a whole page, and as a fragment for notebooks."""

from __future__ import annotations

from itertools import count, islice
from typing import TYPE_CHECKING, Any

from whyscan.reports.markdown import sql_lines
from whyscan.reports.pages.page import report_words
from whyscan.reports.pages.shell import document, piece
from whyscan.reports.stats.histogram import steps
from whyscan.reports.view import (
    CodeBlock,
    FactsBlock,
    GatesBlock,
    GridBlock,
    Section,
    TitleBlock,
    cell_of,
    is_empty,
    spans_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.listing import FileLine, Listing
    from whyscan.reports.view import Block, Blocks, FunnelBlock

FILES_SHOWN = 500
ROWS_SHOWN = 10_000
ROWS_IN_NOTEBOOK = 50
SCRIPTS = ("sorting.js", "start_view.js")
STYLES = ("stats.css", "statement.css")


def page(blocks: Blocks) -> str:
    """Write a whole document. The answer, the question and the gates come first."""
    head, question, assertions, rest = _parts(blocks)
    return document(
        "view.html.j2",
        scripts=SCRIPTS,
        styles=STYLES,
        head=head,
        question=question,
        assertions=assertions,
        blocks=rest,
        notebook=False,
        **_words(ROWS_SHOWN),
    )


def fragment(blocks: Blocks) -> str:
    """Write the HTML that a notebook shows: without a script, in the notebook's colours."""
    head, *rest = blocks
    return piece(
        "notebook_view.html.j2",
        head=head,
        blocks=rest,
        notebook=True,
        **_words(ROWS_IN_NOTEBOOK),
    )


def _parts(blocks: Blocks) -> tuple[TitleBlock, list[Any], list[Any], list[Block]]:
    """Return the title, the rows of the question, the gates, and the other blocks."""
    head = blocks[0]
    if not isinstance(head, TitleBlock):
        raise TypeError("a view begins with its title")
    question: list[Any] = []
    assertions: list[Any] = []
    rest: list[Block] = []
    for block in blocks[1:]:
        match block:
            case FactsBlock() if not rest:
                question += block.rows
            case CodeBlock() if not rest:
                question.append(block)
            case GatesBlock():
                assertions += block.assertions
            case _:
                rest.append(block)
    return head, question, assertions, rest


def _words(rows: int) -> dict[str, Any]:
    """Return the functions that the templates use; `number` gives elements their ids."""
    return report_words() | {
        "cell_of": cell_of,
        "files_shown": FILES_SHOWN,
        "first_files": _first_files,
        "holds_wide": _holds_wide,
        "is_empty": is_empty,
        "kind": lambda value: type(value).__name__,
        "mechanisms_of": _mechanisms_of,
        "number": count(1).__next__,
        "rows_shown": rows,
        "spans_of": spans_of,
        "sql_lines": sql_lines,
        "steps": steps,
    }


def _first_files(listing: Listing) -> Iterator[FileLine]:
    return islice(listing.lines(), FILES_SHOWN)


def _holds_wide(section: Section) -> bool:
    """Whether a section holds a table that needs the whole width of the page."""
    return any(isinstance(block, GridBlock) and block.sortable for block in section.blocks)


def _mechanisms_of(block: FunnelBlock) -> set[str]:
    return {mechanism for level in block.levels for mechanism in level.pruned_by}
