"""Gates: thresholds that a run must meet. The outcome of each gate is an `Assertion`."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Annotated, ClassVar, Protocol, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import replace

from whyscan.fields import Name, Outcome, Record, Sentence, Sql, Word, one_of
from whyscan.planning.why.pushdown import ConjunctBucket, Pushdown
from whyscan.reports.coverage import MissingStatistics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.findings import Finding
    from whyscan.reports.report import Report


class Gates(Struct, frozen=True):
    """The thresholds that the user set; None and False mean that a gate is not checked."""

    min_pruning: float | None = None
    min_pruning_bytes: float | None = None
    max_files: int | None = None
    max_bytes: int | None = None
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
    OPTIONAL: ClassVar = ("exemption", "expired", "missing_statistics")
    COMPUTED: ClassVar = {"result": "result"}

    name: GateName
    threshold: float
    actual: Annotated[
        float | None, Meta(description="Percent, files, bytes or conjuncts, as the threshold.")
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


class GatedAmount(Struct, frozen=True):
    """The files and bytes of a table, and how many of them are read; unknown bytes are None."""

    total: int
    kept: int
    bytes_total: int | None
    bytes_kept: int | None


def assertions(report: Report, gates: Gates) -> Iterator[Assertion]:
    """Yield the outcome of each gate that is set, measured on a report."""
    files = report.files_level
    read = GatedAmount(files.total, files.kept, files.bytes_total, files.bytes_kept)
    yield from assertions_on(read, gates)
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
    if gates.min_pruning is not None:
        yield at_least("min_pruning", gates.min_pruning, percent_pruned(read.total, read.kept))
    if gates.min_pruning_bytes is not None:
        pruned = percent_pruned(read.bytes_total, read.bytes_kept)
        yield at_least("min_pruning_bytes", gates.min_pruning_bytes, pruned)
    if gates.max_files is not None:
        yield at_most("max_files", gates.max_files, read.kept)
    if gates.max_bytes is not None:
        yield at_most("max_bytes", gates.max_bytes, read.bytes_kept)


def percent_pruned(total: int | None, kept: int | None) -> float | None:
    """Return the percentage that is pruned; of an empty table it is 100."""
    if total is None or kept is None:
        return None
    return 100.0 * (total - kept) / total if total else 100.0


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
