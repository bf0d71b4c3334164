"""Write a verification as GitHub Markdown; text from a table is never markup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports.markdown import code, grid, plain
from whyscan.reports.phrases import version_of
from whyscan.reports.text_layout import in_paragraphs
from whyscan.spark.stages.verify import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.spark.stages.verify.result import TableProof, Verification

SHOWN = 100
"""The most lines per section: a GitHub comment has at most 65,536 characters."""


def markdown(verification: Verification) -> str:
    """The verification as Markdown, with a line break at the end."""
    sections = [iter([f"**{plain(words.answer(verification))}**"])]
    for table in verification.tables:
        sections += [_subject(table), _matrix(table)]
        sections += [_listed(section) for section in words.sections(table)]
    sections += [_listed(section) for section in words.failures(verification)]
    return in_paragraphs(sections)


def _subject(table: TableProof) -> Iterator[str]:
    about = ", ".join(filter(None, (table.format, version_of(table))))
    yield f"{code(table.uri)} ({about}): {words.amount(table)}"


def _matrix(table: TableProof) -> Iterator[str]:
    engines = [read.engine for read in table.predicates[0].engines] if table.predicates else []
    head = ("predicate", "plan", *engines, "files kept", "rows")
    rows = [
        (
            code(proof.predicate).replace("|", "\\|"),
            words.verdict(proof),
            *(words.cell(read) for read in proof.engines),
            words.kept(proof),
            "" if proof.rows_true is None else f"{proof.rows_true:,}",
        )
        for proof in table.predicates
    ]
    yield from grid(head, rows, right=2)


def _listed(section: words.Section) -> Iterator[str]:
    yield f"**{section.title}**"
    yield ""
    for line in section.lines[:SHOWN]:
        yield f"- {plain(line)}"
    more = len(section.lines) - SHOWN
    if more > 0:
        yield f"- … and {more:,} more"
