"""Write a verification as text: the answer, the table of engines, then every error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports.phrases import version_of
from whyscan.reports.text_layout import Ink, Page, headed, in_paragraphs, title_lines
from whyscan.reports.words import inert, inert_sql
from whyscan.spark.stages.verify import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.spark.stages.verify.result import TableProof, Verification

SHOWN = 50
LEGEND = "tight: reads what the plan reads; +n: n more, pruning that the engine lost"


def text(verification: Verification, page: Page | None = None) -> str:
    """The verification as text, with a line break at the end."""
    where = Page() if page is None else page
    sections = [title_lines(words.answer(verification), where)]
    for table in verification.tables:
        sections += [_subject(table, where), _matrix(table, where)]
        sections += [_listed(section, where) for section in words.sections(table)]
    sections += [_listed(section, where) for section in words.failures(verification)]
    return in_paragraphs(sections)


def _subject(table: TableProof, page: Page) -> Iterator[str]:
    about = ", ".join(filter(None, (table.format, version_of(table))))
    yield page.wrap(f"table   {inert(page.place(table.uri))} ({about})", hanging=" " * 8)
    yield page.wrap(f"read    {words.amount(table)}", hanging=" " * 8)
    if table.columns:
        columns = inert(", ".join(table.columns))
        yield page.wrap(f"columns {columns}: statistics compared", hanging=" " * 8)
    if table.native.rows is not None:
        yield page.wrap(f"beside  {table.native.reader}, which reads {table.native.rows:,} rows")


def _matrix(table: TableProof, page: Page) -> Iterator[str]:
    """One line per predicate, one column per engine."""
    engines = [read.engine for read in table.predicates[0].engines] if table.predicates else []
    rows = [("predicate", "rows", "files kept", "plan", *engines)]
    for proof in table.predicates:
        rows_true = "" if proof.rows_true is None else f"{proof.rows_true:,}"
        cells = (words.cell(read) for read in proof.engines)
        sql = inert_sql(proof.predicate)
        rows.append((sql, rows_true, words.kept(proof), words.verdict(proof), *cells))
    yield from headed(rows, page, right=frozenset({1, 2}))
    if engines:
        yield page.wrap(LEGEND)


def _listed(section: words.Section, page: Page) -> Iterator[str]:
    yield page.paint(section.title, Ink.BAD if section.bad else Ink.WARN)
    for line in section.lines[:SHOWN]:
        yield page.wrap(inert(line), indent="  ", hanging="    ")
    more = len(section.lines) - SHOWN
    if more > 0:
        yield f"  … and {more:,} more: --format json has all of them"
