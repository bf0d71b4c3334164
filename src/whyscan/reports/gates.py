"""Gates: thresholds that a run must meet. The outcome of each gate is an `Assertion`."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - `help` resolves the types of fields
from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, ClassVar, Protocol, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import replace

from whyscan.errors import UsageError
from whyscan.fields import Name, Outcome, Record, Sentence, Sql, Word, one_of
from whyscan.planning.why.pushdown import ConjunctBucket, Pushdown
from whyscan.reports.coverage import MissingStatistics

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from whyscan.reports.engines import EngineReading
    from whyscan.reports.findings import Finding
    from whyscan.reports.report import Report


class Gates(Struct, frozen=True):
    """The thresholds that the user set; None and False mean that a gate is not checked."""

    min_pruning: float | None = None
    min_pruning_bytes: float | None = None
    max_files: int | None = None
    max_bytes: int | None = None
    max_cost: float | None = None
    assert_stats: bool = False
    require_partition_filter: bool = False


class Exemption(Record, frozen=True):
    """A gate that a table, or one predicate on it, may fail until a date, with the reason."""

    OMITTED: ClassVar = ("table", "gate", "predicate")

    table: Name
    gate: Word
    reason: Sentence
    until: date
    predicate: Sql | None = None


GateName: TypeAlias = Annotated[
    Word,
    one_of(
        "min_pruning",
        "min_pruning_bytes",
        "max_files",
        "max_bytes",
        "max_cost",
        "stats_complete",
        "partition_filter",
        "baseline",
        "baseline_bytes",
        "regression",
        "regression_bytes",
        "max_wasted",
        "drift",
    ),
]


class Assertion(Record, frozen=True, rename={"missing_statistics": "files_without_statistics"}):
    """The outcome of one gate. A gate that could not be measured (`actual` is null) fails."""

    OMITTED: ClassVar = ("passed",)
    OPTIONAL: ClassVar = ("exemption", "expired", "missing_statistics", "engine")
    COMPUTED: ClassVar = {"result": "result"}

    name: GateName
    threshold: float
    actual: Annotated[
        float | None,
        Meta(description="In the unit of the threshold: percent, files, bytes, money."),
    ]
    passed: bool
    exemption: Annotated[
        Exemption | None, Meta(description="Excuses a failed gate until it has expired.")
    ] = None
    expired: bool = False
    missing_statistics: Annotated[
        MissingStatistics | None,
        Meta(description="The files for which the gate on statistics failed, some by path."),
    ] = None
    engine: Annotated[
        Name | None,
        Meta(description="The named engine that reads the most, if the gate is for what it reads."),
    ] = None

    @property
    def result(self) -> Outcome:
        """Whether the gate passed."""
        return "pass" if self.passed else "fail"

    @property
    def holds(self) -> bool:
        """True if the gate passed, or if a valid exemption excuses it."""
        return self.passed or (self.exemption is not None and not self.expired)


class GatedReport(Protocol):
    """A report with gates and findings: that of a table, and that of a statement."""

    @property
    def assertions(self) -> tuple[Assertion, ...]: ...
    @property
    def findings(self) -> tuple[Finding, ...]: ...


class CheckedSubject(Struct, frozen=True):
    """A table or a statement whose gates and findings are written to JUnit and SARIF.

    `name` is its name in JUnit, `question` its SQL, and `answer` what it reads. `table` is the
    address at which SARIF places the results. `identity` is the same for the question in each run.
    """

    name: str
    question: str
    answer: str
    table: str
    identity: str
    report: GatedReport


class GatedAmount(Struct, frozen=True):
    """The files and bytes of a table, and how many of them are read; unknown bytes are None.

    `cost` is what reading them costs; None without a price. `engine` is the engine that reads them;
    None for what metadata proves.
    """

    total: int
    kept: int
    bytes_total: int | None
    bytes_kept: int | None
    cost: float | None = None
    engine: str | None = None

    def by_engine(self, reading: EngineReading | None) -> GatedAmount:
        """What an engine reads instead; the same without an engine."""
        if reading is None:
            return self
        kept, size = reading.files.kept, reading.bytes
        return replace(self, kept=kept, bytes_kept=size, engine=reading.title)


def most_read(amounts: Iterable[GatedAmount]) -> GatedAmount:
    """The amount with the most files; of equal ones, that with the most bytes or unknown bytes."""
    return max(amounts, key=lambda a: (a.kept, a.bytes_kept is None, a.bytes_kept or 0))


class StatementGates(Struct, frozen=True):
    """The gates of a statement.

    `whole` applies to the statement: limits on amounts to the sum of its scans, all other gates to
    each scan. `tables` has gates by name or alias of a table; they apply to every scan of it.
    """

    whole: Gates = Gates()
    tables: Mapping[str, Gates] = MappingProxyType({})


class GatedScan(Protocol):
    """A scan of a statement, with what it reads."""

    @property
    def name(self) -> str: ...
    @property
    def alias(self) -> str: ...
    @property
    def report(self) -> Report: ...
    @property
    def gated_reading(self) -> GatedAmount: ...


def assertions(
    report: Report, gates: Gates, read: GatedAmount | None = None
) -> Iterator[Assertion]:
    """Yield the outcome of each gate that is set.

    `read` are the files and bytes that a scan of a statement reads; None means those of the report.
    """
    yield from assertions_on(report.gated_reading if read is None else read, gates)
    if gates.assert_stats:
        yield _stats_complete(report)
    if gates.require_partition_filter:
        yield at_least("partition_filter", 1, _partition_filters(report))


def _stats_complete(report: Report) -> Assertion:
    """Check the statistics of all files if they were counted, else of the files that were read."""
    missing = report.missing_statistics
    if missing is None:
        covered = min((column.percent for column in report.statistics), default=100.0)
        return at_least("stats_complete", 100, covered)
    outcome = at_least("stats_complete", 100, missing.percent)
    return replace(outcome, missing_statistics=missing) if missing.files else outcome


def assertions_on(read: GatedAmount, gates: Gates) -> Iterator[Assertion]:
    """Yield the outcomes of the gates on files and bytes."""
    yield from (replace(outcome, engine=read.engine) for outcome in _limits(read, gates))


def _limits(read: GatedAmount, gates: Gates) -> Iterator[Assertion]:
    if gates.min_pruning is not None:
        yield at_least("min_pruning", gates.min_pruning, percent_pruned(read.total, read.kept))
    if gates.min_pruning_bytes is not None:
        pruned = percent_pruned(read.bytes_total, read.bytes_kept)
        yield at_least("min_pruning_bytes", gates.min_pruning_bytes, pruned)
    if gates.max_files is not None:
        yield at_most("max_files", gates.max_files, read.kept)
    if gates.max_bytes is not None:
        yield at_most("max_bytes", gates.max_bytes, read.bytes_kept)
    if gates.max_cost is not None:
        yield at_most("max_cost", gates.max_cost, read.cost)


def percent_pruned(total: int | None, kept: int | None) -> float | None:
    """Return the percentage that is pruned; of an empty table it is 100."""
    if total is None or kept is None:
        return None
    return 100.0 * (total - kept) / total if total else 100.0


def scan_assertions(
    scans: Sequence[GatedScan], gates: StatementGates
) -> list[tuple[Assertion, ...]]:
    """Return the outcomes of the gates on each scan: of those for all scans, then of its table's.

    A table without partitions cannot be filtered by them, so the gate for all scans passes it over.
    """
    for name in gates.tables:
        if not any(_is_called(scan, name) for scan in scans):
            names = ", ".join(dict.fromkeys(scan.name for scan in scans))
            raise UsageError(
                f"a gate is for {name!r}, which the statement does not scan",
                hint=f"its tables are {names}" if names else "it scans no table",
            )
    outcomes_of_scans = []
    for scan in scans:
        of_statement = Gates(
            assert_stats=gates.whole.assert_stats,
            require_partition_filter=gates.whole.require_partition_filter
            and bool(scan.report.table.partitioned_by),
        )
        of_table = [table for name, table in gates.tables.items() if _is_called(scan, name)]
        outcomes: dict[tuple[str, float], Assertion] = {}
        for scan_gates in (of_statement, *of_table):
            for outcome in assertions(scan.report, scan_gates, scan.gated_reading):
                outcomes.setdefault((outcome.name, outcome.threshold), outcome)
        outcomes_of_scans.append(tuple(outcomes.values()))
    return outcomes_of_scans


def _is_called(scan: GatedScan, name: str) -> bool:
    """Say whether the name is the name or alias of the scan's table, in any case."""
    return name.lower() in {scan.name.lower(), scan.alias.lower()}


def _partition_filters(report: Report) -> int:
    """Count the conjuncts on partition columns alone that can remove a file."""
    return sum(
        c.bucket is ConjunctBucket.PARTITION_SAFE
        and c.pushdown is not Pushdown.UNSUPPORTED
        and bool(c.columns)
        for c in report.conjuncts
    )


def at_least(name: str, threshold: float, actual: float | None) -> Assertion:
    """Make the outcome of a gate with a lower limit."""
    passed = actual is not None and actual >= threshold
    shown = None if actual is None else round(actual, 1)
    # A rounded figure must not seem to contradict the outcome.
    if shown is not None and (shown >= threshold) is not passed:
        shown = actual
    return Assertion(name, threshold, shown, passed)


def at_most(name: str, threshold: float, actual: float | None) -> Assertion:
    """Make the outcome of a gate with an upper limit."""
    return Assertion(name, threshold, actual, actual is not None and actual <= threshold)


def regression(name: str, tolerance: float, before: float | None, after: float | None) -> Assertion:
    """Make the outcome of a gate on lost pruning; a loss that could not be measured fails."""
    if before is None or after is None:
        return Assertion(name, tolerance, None, passed=False)
    lost = max(before - after, 0.0)
    return Assertion(name, tolerance, round(lost, 3), lost <= tolerance)
