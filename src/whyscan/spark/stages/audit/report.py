"""The audit: what every query of a workload reads of every table, and what of it is in vain.

Of one scan of a table

- *reads* is the bytes of the files that stay by the conditions as they are written. A condition
  that engines do not see through, by a finding that says so (a function on a partition column, a
  number compared with text, an OR of partition columns and others), removes nothing here.
- *needs* is the least of what is known to be enough: the files that the plan keeps, without those
  of their row groups that the footers rule out, or the files that a proven rewrite keeps.
- what it reads *in vain* is the difference.

A query's figures are the sums over its scans; `wasted` is what is read in vain, times how often
the query ran. What is not known is None, and so is every sum that it is a part of.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - msgspec reads the annotations of a record
from datetime import datetime  # noqa: TC003 - likewise
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from whyscan.planning.plan.scan_plan import ScanPlanSummary  # noqa: TC001 - likewise
from whyscan.reports.conjuncts import ConjunctLine  # noqa: TC001 - likewise
from whyscan.reports.findings import Finding  # noqa: TC001 - likewise
from whyscan.reports.levels import Level  # noqa: TC001 - likewise
from whyscan.spark.stages.workload.query import Unparsed  # noqa: TC001 - likewise

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION = "1.0"


class Actual(Struct, frozen=True):
    """What the engine said that its runs read of a table: sums over `runs`, None if not told."""

    runs: int
    files: int | None
    bytes: int | None
    rows: int | None
    partitions: int | None


class AuditedScan(Struct, frozen=True):
    """One scan of a table in a query: the report on it, in short.

    `name` is the table's as it was given, `alias` what the query calls it. `work` is the conjunct
    that did the work, the one that removes the most bytes alone; None where none removes any.
    `bytes_kept` is what the plan reads, nothing where metadata answers. `rewrite` is text to copy,
    the proven one that spares the most; None where there is none, or where it is not known to
    spare anything. With an `error` nothing else is known.
    """

    name: str
    alias: str
    uri: str
    format: str = ""
    version: int | None = None
    columns: tuple[str, ...] = ()
    predicate: str = ""
    levels: tuple[Level, ...] = ()
    conjuncts: tuple[ConjunctLine, ...] = ()
    findings: tuple[Finding, ...] = ()
    summary: ScanPlanSummary | None = None
    unchecked: tuple[tuple[str, str], ...] = ()
    work: ConjunctLine | None = None
    answer: str | None = None
    bytes_kept: int | None = None
    bytes_read: int | None = None
    bytes_needed: int | None = None
    rewrite: str | None = None
    actual: Actual | None = None
    error: str | None = None

    @property
    def ratio(self) -> float | None:
        """The share of the table's bytes that is read; of its files where bytes are not known."""
        if self.summary is None:
            return None
        kept, whole = self.bytes_kept, self.summary.bytes_total
        if kept is None or whole is None:
            kept = 0 if self.answer is not None else self.summary.files_kept
            whole = self.summary.files_total
        return kept / whole if whole else 0.0

    @property
    def in_vain(self) -> int | None:
        """The bytes of one run that are read and need not be."""
        if self.bytes_read is None or self.bytes_needed is None:
            return None
        return self.bytes_read - self.bytes_needed


class QueryLine(Struct, frozen=True):
    """One distinct text of a workload. `times` and `days` say how often and when it ran.

    `shape` is the text without its literals. `bytes_logged` is what the log says that all runs
    read. `ratio` is the share of the tables' bytes that the plans keep, of their files where the
    bytes of one are not known. `error` is why its tables were not all looked at.
    """

    sql: str
    shape: str
    dialect: str
    times: int
    first: datetime | None = None
    last: datetime | None = None
    days: Mapping[str, int] = {}
    origins: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    operation: str = ""
    tables: tuple[AuditedScan, ...] = ()
    findings: tuple[Finding, ...] = ()
    bytes_read: int | None = None
    bytes_needed: int | None = None
    bytes_logged: int | None = None
    wasted: int | None = None
    ratio: float | None = None
    error: str | None = None


class ColumnTotal(Struct, frozen=True):
    """What scans whose predicate names a column read in vain, all runs together.

    A scan counts for each of its columns: the columns' sums are no parts of the table's.
    """

    column: str
    times: int
    bytes_read: int | None
    wasted: int | None


class TableTotal(Struct, frozen=True):
    """A table in all queries: how many texts and runs, what they read, and what of it in vain."""

    name: str
    uri: str
    format: str = ""
    version: int | None = None
    queries: int = 0
    times: int = 0
    bytes_read: int | None = None
    wasted: int | None = None
    columns: tuple[ColumnTotal, ...] = ()
    error: str | None = None


class Drift(Struct, frozen=True):
    """A shape that keeps more of a table than it did: `before` and `after` are shares of its bytes.

    `fell_at` is the first snapshot between the two runs' at which the same predicate keeps as
    much more; `last_good` the one before it. `unknown` says why they are None.
    """

    shape: str
    sql: str
    table: str
    before: float
    after: float
    before_run: str
    before_at: datetime
    before_snapshot: int | None
    after_snapshot: int | None
    fell_at: int | None = None
    last_good: int | None = None
    unknown: str | None = None


class AuditRun(Struct, frozen=True):
    """One run of the audit: who can be found again in a history."""

    id: str
    at: datetime
    seconds: float
    timezone: str
    depth: str
    threshold: float
    notes: tuple[str, ...] = ()


class Audit(Struct, frozen=True):
    """A workload against its tables. `queries` are ranked: what wastes the most comes first."""

    run: AuditRun
    queries: tuple[QueryLine, ...] = ()
    tables: tuple[TableTotal, ...] = ()
    unparsed: tuple[Unparsed, ...] = ()
    drift: tuple[Drift, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The JSON document: `whyscan schema audit` prints what it promises."""
        from whyscan.spark.stages.audit.document import document

        return document(self)

    def summaries(self) -> pa.Table:
        """One row for each scan of each query that was audited: what a history keeps of a run."""
        from whyscan.spark.stages.audit.history import summaries

        return summaries(self)

    def redacted(self) -> Audit:
        """The same audit without literals and values, for sharing."""
        from whyscan.spark.stages.audit.redaction import redacted

        return redacted(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from whyscan.spark.stages.audit.page import fragment

        return fragment(self)

    def __repr__(self) -> str:
        from whyscan.spark.stages.audit.text import text

        return text(self)
