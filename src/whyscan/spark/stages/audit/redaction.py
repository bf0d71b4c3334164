"""An audit that can be shared: it has no literal of a query and no value of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.predicate.syntax.redact import HIDDEN, without_literals
from whyscan.reports.redaction import Redactor, new_key

if TYPE_CHECKING:
    from whyscan.spark.stages.audit.report import Audit, AuditedScan, QueryLine

NOTE = "values are redacted: ? is a literal"


def redacted(audit: Audit) -> Audit:
    """The same audit without literals and values."""
    key = new_key()
    return replace(
        audit,
        run=replace(audit.run, notes=(*audit.run.notes, NOTE)),
        queries=tuple(_query(line, key) for line in audit.queries),
        # If a text is no SQL, its literals are unknown: all of it is hidden.
        unparsed=tuple(
            replace(entry, text=HIDDEN, why=_kind(entry.why)) for entry in audit.unparsed
        ),
        drift=tuple(replace(entry, sql=entry.shape) for entry in audit.drift),
    )


def _kind(why: str) -> str:
    """The kind of an error, without the words of the query that it quotes."""
    return why.split(":", 1)[0].split("'", 1)[0].strip()


def _query(line: QueryLine, key: bytes) -> QueryLine:
    hide = Redactor(line.sql, line.dialect, key)
    return replace(
        line,
        sql=hide.sql(line.sql),
        tables=tuple(
            _table(table, hide, Redactor(table.predicate, line.dialect, key))
            for table in line.tables
        ),
        findings=tuple(map(hide.finding, line.findings)),
        notes=tuple(map(hide.text, line.notes)),
        error=None if line.error is None else hide.text(line.error),
    )


def _table(line: AuditedScan, hide: Redactor, hide_predicate: Redactor) -> AuditedScan:
    """Hide the literals of the query, and those of the predicate that reached the table."""
    rewrite = None if line.rewrite is None else without_literals(line.rewrite, "spark")
    return replace(
        line,
        predicate=hide.sql(line.predicate) if line.predicate else "",
        conjuncts=tuple(map(hide.conjunct, line.conjuncts)),
        findings=tuple(hide.finding(hide_predicate.finding(finding)) for finding in line.findings),
        work=None if line.work is None else hide.conjunct(line.work),
        answer=None if line.answer is None else HIDDEN,
        rewrite=rewrite,
        error=None if line.error is None else hide.text(hide_predicate.text(line.error)),
    )
