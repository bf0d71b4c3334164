"""The audit: what every query of a workload reads of every table, and how much of it is wasted.

For one scan of a table:

- `bytes_read` is the bytes of the files that the conditions keep as they are written. Some
  conditions do not prune in engines: a function on a partition column, a number compared with text,
  an OR of partition columns and others. If a finding says so, such a condition removes nothing.
- `bytes_needed` is the least amount that is proven to be enough: the files that the plan keeps,
  without the row groups that footers prune, or the files that a proven rewrite keeps.
- The difference is wasted.

The numbers of a query are the sums over its scans; its `wasted` is the sum times the number of its
runs. An unknown number is None, and so is every sum with it.
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
    """What the engine reported that its runs read of a table: sums over `runs`, None if unknown."""

    runs: int
    files: int | None
    bytes: int | None
    rows: int | None
    partitions: int | None


class AuditedScan(Struct, frozen=True):
    """One scan of a table in a query: a short form of the report on it.

    `name` is the table's name in the audit, `alias` its name in the query. `work` is the conjunct
    that removes the most bytes alone; None where none removes any. `bytes_kept` is what the plan
    reads, 0 where metadata answers the query. `rewrite` is the proven rewrite that saves the most,
    as text to copy; None where no rewrite saves anything for certain. With an `error`, nothing else
    is known.
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
        """The share of the table's bytes that is read; of its files where bytes are unknown."""
        if self.summary is None:
            return None
        kept, total = self.bytes_kept, self.summary.bytes_total
        if kept is None or total is None:
            kept = 0 if self.answer is not None else self.summary.files_kept
            total = self.summary.files_total
        return kept / total if total else 0.0

    @property
    def wasted_per_run(self) -> int | None:
        """The bytes that one run reads and does not need."""
        if self.bytes_read is None or self.bytes_needed is None:
            return None
        return self.bytes_read - self.bytes_needed


class QueryLine(Struct, frozen=True):
    """One distinct query text of a workload. `times` and `days` say how often and when it ran.

    `shape` is the text without its literals. `bytes_logged` is what the log says that all runs
    read. `ratio` is the share of the tables' bytes that the plans keep; of their files where the
    bytes of a table are unknown. `error` is why not all its tables could be audited.
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
    """What all scans read and waste whose predicate names a column, over all runs.

    A scan counts for each of its columns, so the columns of a table do not add up to the table.
    """

    column: str
    times: int
    bytes_read: int | None
    wasted: int | None


class TableTotal(Struct, frozen=True):
    """A table in all queries: how many texts and runs, what they read, and what they waste."""

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
    """A shape that keeps more of a table than before: `before` and `after` are shares of its bytes.

    `fell_at` is the first snapshot between the two audits at which the same query keeps more;
    `last_good` is the one before it. `unknown` says why they are None.
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
    """One run of the audit: its id in the history, its time and its options."""

    id: str
    at: datetime
    seconds: float
    timezone: str
    depth: str
    threshold: float
    notes: tuple[str, ...] = ()


class Audit(Struct, frozen=True):
    """The audit of a workload. `queries` are ranked: the query that wastes the most comes first."""

    run: AuditRun
    queries: tuple[QueryLine, ...] = ()
    tables: tuple[TableTotal, ...] = ()
    unparsed: tuple[Unparsed, ...] = ()
    drift: tuple[Drift, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The JSON document; `whyscan schema audit` prints its schema."""
        from whyscan.spark.stages.audit.document import document

        return document(self)

    def summaries(self) -> pa.Table:
        """One row for each scan of each audited query, as a history keeps them."""
        from whyscan.spark.stages.audit.history import summaries

        return summaries(self)

    def redacted(self) -> Audit:
        """The same audit without literals and values, for sharing."""
        from whyscan.spark.stages.audit.redaction import redacted

        return redacted(self)

    def _repr_html_(self) -> str:
        """The HTML that a notebook shows."""
        from whyscan.spark.stages.audit.page import fragment

        return fragment(self)

    def __repr__(self) -> str:
        from whyscan.spark.stages.audit.text import text

        return text(self)
