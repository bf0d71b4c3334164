"""The audit: what every query of a workload reads of every table, and how much of it is wasted.

For one scan of a table:

- `bytes_read` is the bytes of the files that the conditions keep as they are written. Some
  conditions do not prune in engines: a function on a partition column, a number compared with text,
  an OR of partition columns and others. If a finding says so, such a condition removes nothing.
- `bytes_needed` is the least amount that is proven to be enough: the files that the plan keeps,
  without the row groups that footers prune, or the files that a proven rewrite keeps.
- The difference is wasted.
- `layout_bytes` is the part of `bytes_needed` that a table sorted by another column would not read.
  It is an upper estimate from bounds, and not proven; without a better layout it is needed.

The numbers of a query are the sums over its scans; its `wasted` is the sum times the number of its
runs. An unknown number is None, and so is every sum with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta
from msgspec.structs import replace

from whyscan.fields import (
    Count,
    Fraction,
    Name,
    Outcome,
    Record,
    Sentence,
    Sql,
    TableFormat,
    Value,
    Word,
)
from whyscan.planning.plan.planner import plus_all
from whyscan.reports.findings import Finding
from whyscan.reports.first_change import PROVEN, first_change
from whyscan.reports.gates import Assertion, at_most
from whyscan.reports.prices import Prices, Spent, WorkloadCost
from whyscan.reports.rendering import WrittenReport
from whyscan.spark.stages.audit.actions import Action, actions
from whyscan.spark.stages.audit.spending import (
    EarlierRun,
    LogEntries,
    RunsTotal,
    by_day,
    by_log,
    by_user,
)
from whyscan.spark.stages.workload.query import Unparsed
from whyscan.statements.records import Edge, ScanReport, StatementReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from whyscan.reports.conjuncts import ConjunctLine
    from whyscan.reports.view import Blocks


class Actual(Record, frozen=True):
    """What the engine reported that its runs read of a table: sums over `runs`, None if unknown."""

    runs: Count
    files: Count | None
    bytes: Count | None
    rows: Count | None
    partitions: Count | None
    manifests: Count | None = None


class AuditedScan(Record, frozen=True):
    """One scan of a table in a query: the report on it, and the bytes that it reads and needs."""

    FLAT: ClassVar = ("scan",)
    COMPUTED: ClassVar = {
        "bytes_kept": "bytes_kept",
        "work": "most_work",
        "write_instead": "write_instead",
    }

    scan: ScanReport
    bytes_read: Annotated[
        Count | None, Meta(description="What engines read that miss some conditions.")
    ] = None
    bytes_needed: Annotated[
        Count | None, Meta(description="The least amount that is proven to be enough.")
    ] = None
    layout_bytes: Annotated[
        Count | None,
        Meta(description="An upper estimate of the needed bytes that another layout would spare."),
    ] = None
    actual: Annotated[
        Actual | None, Meta(description="What the engine reported that its runs read.")
    ] = None

    @property
    def name(self) -> str:
        """The table's name in the audit."""
        return self.scan.name

    @property
    def uri(self) -> str:
        """The table's address."""
        return self.scan.report.table.uri

    @property
    def bytes_kept(self) -> Count | None:
        """What the plan reads; 0 where metadata answers the query."""
        return self.scan.reading.bytes_kept

    @property
    def write_instead(self) -> Sql | None:
        """Text to copy: the proven rewrite that saves the most; null if none surely saves any."""
        findings = self.scan.report.findings
        proven = [f for f in findings if f.code in PROVEN and f.rewrite and f.effect]
        change = first_change(proven)
        return None if change is None else change.rewrite

    @property
    def work(self) -> ConjunctLine | None:
        """The conjunct that removes the most bytes alone, or files where bytes are unknown."""
        working = [line for line in self.scan.report.conjuncts if line.alone.files]
        return max(working, key=lambda c: (c.alone.bytes or 0, c.alone.files), default=None)

    @property
    def most_work(self) -> Sql | None:
        """The conjunct that removes the most bytes alone."""
        return None if self.work is None else self.work.sql

    @property
    def ratio(self) -> float:
        """The share of the table's bytes that is read; of its files where bytes are unknown."""
        return kept_share([self])

    @property
    def wasted_per_run(self) -> int | None:
        """The bytes that one run reads and does not need."""
        if self.bytes_read is None or self.bytes_needed is None:
            return None
        return self.bytes_read - self.bytes_needed


def kept_share(scans: Sequence[AuditedScan]) -> float:
    """Return the share of the scanned bytes that is read; of files where bytes are unknown."""
    readings = [scan.scan.reading for scan in scans]
    kept = plus_all(reading.bytes_kept for reading in readings)
    all_bytes = plus_all(reading.bytes_total for reading in readings)
    if kept is None or all_bytes is None:
        kept, all_bytes = sum(r.kept for r in readings), sum(r.total for r in readings)
    return kept / all_bytes if all_bytes else 0.0


class UnreadTable(Record, frozen=True):
    """A table of a query that is not planned, because this table or another cannot be read."""

    name: Name
    uri: Name
    error: Annotated[
        Sentence | None, Meta(description="Why it cannot be read; null if another table is why.")
    ] = None


class UserRuns(Record, frozen=True):
    """How often one user ran a query. `--redact` hides the name."""

    user: Value
    times: Count


class QueryLine(Record, frozen=True):
    """One distinct query text of a workload. `times` and `days` say how often and when it ran.

    `shape` is the text without its literals. `bytes_logged` is what the log says that all runs
    read. `ratio` is the share of the tables' bytes that the plans keep; of their files where the
    bytes of a table are unknown. `error` is why not all its tables could be audited.
    """

    OPTIONAL: ClassVar = ("cost",)
    QUOTED: ClassVar = ("sql", "dialect")

    sql: Sql
    shape: Annotated[Name, Meta(description="The text with ? for each literal.")]
    dialect: Name
    times: Annotated[int, Meta(ge=1, description="How often the query ran.")]
    first: datetime | None = None
    last: datetime | None = None
    days: Annotated[
        Mapping[Word, Count], Meta(description="How often the query ran on each day.")
    ] = {}
    users: Annotated[
        tuple[UserRuns, ...], Meta(description="Who ran the query, as far as the log says.")
    ] = ()
    logs: Annotated[
        Mapping[Word, Count], Meta(description="How many of the runs each kind of log has.")
    ] = {}
    origins: Annotated[
        tuple[Name, ...], Meta(description="The first places of the query in the logs.")
    ] = ()
    notes: tuple[Sentence, ...] = ()
    operation: Word = ""
    tables: Annotated[
        tuple[AuditedScan, ...], Meta(description="One entry per scan of a table.")
    ] = ()
    joins: tuple[Edge, ...] = ()
    unread: Annotated[
        tuple[UnreadTable, ...], Meta(description="All tables, if one cannot be read.")
    ] = ()
    findings: Annotated[
        tuple[Finding, ...], Meta(description="The findings about several tables.")
    ] = ()
    bytes_read: Annotated[
        Count | None, Meta(description="What one run reads, by the conditions as written.")
    ] = None
    bytes_needed: Annotated[
        Count | None, Meta(description="What is proven to be enough for one run.")
    ] = None
    bytes_logged: Annotated[
        Count | None, Meta(description="What the log says that all runs read.")
    ] = None
    wasted: Annotated[Count | None, Meta(description="Bytes that all runs waste.")] = None
    layout_bytes: Annotated[
        Count | None,
        Meta(description="An upper estimate of what another layout would spare all runs."),
    ] = None
    ratio: Annotated[
        Fraction | None,
        Meta(description="The share of the tables' bytes, or else files, that is kept."),
    ] = None
    error: Annotated[Sentence | None, Meta(description="Why not all tables could be audited.")] = (
        None
    )
    cost: Annotated[Spent | None, Meta(description="With --price: what all runs cost.")] = None

    @property
    def table_names(self) -> tuple[str, ...]:
        """The names of the tables, each once."""
        names = [*(scan.name for scan in self.tables), *(table.name for table in self.unread)]
        return tuple(dict.fromkeys(names))

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """The findings about each scan, then those about several tables."""
        return (*(f for table in self.tables for f in table.scan.report.findings), *self.findings)

    def statement(self, timezone: str) -> StatementReport:
        """Return the report on the statement, which was read in this time zone."""
        scans = tuple(table.scan for table in self.tables)
        return StatementReport(
            self.sql, self.dialect, timezone, self.operation, scans, self.joins, self.findings
        )


class ColumnTotal(Record, frozen=True):
    """What all scans read and waste whose predicate names a column, over all runs.

    A scan counts for each of its columns, so the columns of a table do not add up to the table.
    """

    OPTIONAL: ClassVar = ("cost",)

    column: Name
    times: Count
    bytes_read: Count | None
    wasted: Count | None
    cost: Annotated[Spent | None, Meta(description="With --price: what all runs cost.")] = None


class TableTotal(Record, frozen=True):
    """A table in all queries: how many texts and runs, what they read, and what they waste."""

    OPTIONAL: ClassVar = ("cost",)

    name: Name
    uri: Name
    format: TableFormat | None = None
    version: int | None = None
    queries: Annotated[Count, Meta(description="The texts that name the table.")] = 0
    times: Annotated[Count, Meta(description="How often they ran.")] = 0
    bytes_read: Count | None = None
    wasted: Count | None = None
    columns: tuple[ColumnTotal, ...] = ()
    error: Sentence | None = None
    layout_bytes: Annotated[
        Count | None,
        Meta(description="An upper estimate of what another layout would spare all runs."),
    ] = None
    cost: Annotated[Spent | None, Meta(description="With --price: what all runs cost.")] = None


class Drift(Record, frozen=True):
    """A shape that keeps more of a table than before: `before` and `after` are shares of its bytes.

    `fell_at` is the first snapshot between the two audits at which the same query keeps more;
    `last_good` is the one before it. `unknown` says why they are None.
    """

    REDACTED_AS: ClassVar = {"sql": "shape"}

    shape: Name
    sql: Sql
    table: Name
    before: Fraction
    after: Fraction
    before_run: Name
    before_at: datetime
    before_snapshot: int | None
    after_snapshot: int | None
    fell_at: int | None = None
    last_good: int | None = None
    unknown: Sentence | None = None


class AuditRun(Record, frozen=True, rename={"threshold": "drift_threshold"}):
    """One run of the audit: its id in the history, its time and its options."""

    REDACTION_NOTE: ClassVar = "values are redacted: ? is a literal"

    id: Annotated[Name, Meta(description="The name of the run in a history.")]
    at: datetime
    seconds: float
    timezone: Name
    depth: Word
    threshold: Annotated[
        float,
        Meta(description="A share of bytes: a shape that keeps so much more has drifted."),
    ]
    notes: tuple[Sentence, ...] = ()


class Audit(WrittenReport, frozen=True):
    """The audit of a workload.

    `queries` are ranked by the bytes that they waste and that another layout would spare.
    """

    ONE_PER_LINE: ClassVar = ("queries",)
    OPTIONAL: ClassVar = ("cost",)
    COMPUTED: ClassVar = {
        "actions": "actions",
        "users": "users",
        "days": "days",
        "logs": "logs",
        "result": "result",
    }

    run: AuditRun
    queries: tuple[QueryLine, ...] = ()
    tables: tuple[TableTotal, ...] = ()
    unparsed: tuple[Unparsed, ...] = ()
    drift: tuple[Drift, ...] = ()
    trend: Annotated[
        tuple[EarlierRun, ...], Meta(description="The last runs in the history, the newest first.")
    ] = ()
    assertions: Annotated[tuple[Assertion, ...], Meta(description="The outcome of each gate.")] = ()
    cost: Annotated[
        WorkloadCost | None, Meta(description="With --price: what the workload costs.")
    ] = None

    @property
    def actions(self) -> tuple[Action, ...]:
        """The ten changes that save the most, the largest first."""
        return actions(self.queries, self.cost)

    @property
    def users(self) -> tuple[RunsTotal, ...]:
        """The sums of each user, the largest waste first."""
        return by_user(self.queries)

    @property
    def days(self) -> tuple[RunsTotal, ...]:
        """The sums of each day, in order."""
        return by_day(self.queries)

    @property
    def logs(self) -> tuple[LogEntries, ...]:
        """How many entries each kind of log has, and how many of them are explained."""
        return by_log(self.queries, self.unparsed)

    @property
    def passed(self) -> bool:
        return all(assertion.holds for assertion in self.assertions)

    @property
    def result(self) -> Outcome:
        """`fail` if a gate fails."""
        return "pass" if self.passed else "fail"

    def priced(self, price: str | None = None, request_price: str | None = None) -> Audit:
        """Return this audit with what its runs cost, at prices like `5/TB` and `0.0004/1000`."""
        from whyscan.spark.stages.audit.costs import priced

        return priced(self, Prices.of(price, request_price))

    def gated(
        self,
        *,
        max_wasted: int | None = None,
        max_cost: float | None = None,
        fail_on_drift: bool = False,
    ) -> Audit:
        """The same audit with the outcome of each gate; a number that is unknown fails.

        `max_wasted` is the most bytes that all queries may waste, and `max_cost` the most that they
        may cost. `fail_on_drift` allows no shape to keep more of a table than in an earlier run.
        """
        outcomes = []
        if max_wasted is not None:
            wasted = [query.wasted for query in self.queries]
            total_wasted = None if None in wasted else sum(amount or 0 for amount in wasted)
            outcomes.append(at_most("max_wasted", max_wasted, total_wasted))
        if max_cost is not None:
            spent = None if self.cost is None else self.cost.log.read
            outcomes.append(at_most("max_cost", max_cost, spent))
        if fail_on_drift:
            outcomes.append(at_most("drift", 0, len(self.drift)))
        return replace(self, assertions=tuple(outcomes))

    def summaries(self) -> pa.Table:
        """One row for each scan of each audited query, as a history keeps them."""
        from whyscan.spark.stages.audit.history import summaries

        return summaries(self)

    def redacted(self) -> Audit:
        """The same audit without literals and values, for sharing."""
        from whyscan.reports.redaction import redacted

        return redacted(self)

    def to_html(self) -> str:
        from whyscan.spark.stages.audit.page import page

        return page(self)

    def view(self, shown: int = 20) -> Blocks:
        """Return the blocks; text lists `shown` queries."""
        from whyscan.spark.stages.audit.view import view

        return view(self, shown)
