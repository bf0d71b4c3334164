"""The records of findings, and the facts from which findings are made."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta, Struct, field

from whyscan.fields import Count, Name, Record, Sentence, Sql, Word
from whyscan.planning.plan.planner import plus, total_of
from whyscan.planning.plan.replan import kept, without

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.planning.plan.judgement import Flags
    from whyscan.planning.plan.scan_plan import PlannedSnapshot, PlanRequest, ScanPlan
    from whyscan.planning.why.pushdown import Class
    from whyscan.planning.why.reasons import Stays
    from whyscan.reports.conjuncts import ConjunctLine
    from whyscan.reports.engines import EngineReading
    from whyscan.reports.levels import Level
    from whyscan.reports.tally import Workings
    from whyscan.tree.nodes import Conjunct


class Code(StrEnum):
    """The codes of findings."""

    NOTHING_KEPT = "NOTHING_KEPT"
    WEAK_PRUNING = "WEAK_PRUNING"
    NO_PARTITION_FILTER = "NO_PARTITION_FILTER"
    FUNCTION_ON_PARTITION = "FUNCTION_ON_PARTITION"
    RANGE_ON_BUCKET = "RANGE_ON_BUCKET"
    OLD_SPEC = "OLD_SPEC"
    CATALOG_DIFFERS = "CATALOG_DIFFERS"
    MIXED_MANIFESTS = "MIXED_MANIFESTS"
    NO_STATISTICS = "NO_STATISTICS"
    BEYOND_STATISTICS_BUDGET = "BEYOND_STATISTICS_BUDGET"
    TYPE_WITHOUT_STATISTICS = "TYPE_WITHOUT_STATISTICS"
    TRUNCATED_BOUNDS = "TRUNCATED_BOUNDS"
    NAN_UNCOUNTED = "NAN_UNCOUNTED"
    CONTRADICTORY_STATISTICS = "CONTRADICTORY_STATISTICS"
    UNREADABLE_STATISTICS = "UNREADABLE_STATISTICS"
    UNINTERPRETED = "UNINTERPRETED"
    LITERAL_TYPE = "LITERAL_TYPE"
    UNSPLITTABLE_OR = "UNSPLITTABLE_OR"
    OR_ENDS_PRUNING = "OR_ENDS_PRUNING"
    NEGATION_EXCLUDES_NOTHING = "NEGATION_EXCLUDES_NOTHING"
    WIDE_BOUNDS = "WIDE_BOUNDS"
    SMALL_FILES = "SMALL_FILES"
    CROSS_JOIN = "CROSS_JOIN"
    FILTER_ON_WRONG_SIDE = "FILTER_ON_WRONG_SIDE"
    FUNCTION_ON_JOIN_KEY = "FUNCTION_ON_JOIN_KEY"
    JOIN_TYPE_MISMATCH = "JOIN_TYPE_MISMATCH"
    JOIN_KEY_WITHOUT_STATISTICS = "JOIN_KEY_WITHOUT_STATISTICS"
    FULL_SCAN_OF_LARGER_SIDE = "FULL_SCAN_OF_LARGER_SIDE"
    FILTER_ABOVE_BARRIER = "FILTER_ABOVE_BARRIER"
    SCANNED_TWICE = "SCANNED_TWICE"
    UNUSED_CTE = "UNUSED_CTE"
    MERGE_WITHOUT_PARTITION_TERM = "MERGE_WITHOUT_PARTITION_TERM"
    MERGE_KEY_IN_FUNCTION = "MERGE_KEY_IN_FUNCTION"
    MERGE_VALUES_AT_RUN_TIME = "MERGE_VALUES_AT_RUN_TIME"
    NOT_MATCHED_BY_SOURCE_READS_ALL = "NOT_MATCHED_BY_SOURCE_READS_ALL"
    ENGINE_READS_MORE = "ENGINE_READS_MORE"
    UNUSED_BLOOM_FILTERS = "UNUSED_BLOOM_FILTERS"
    NO_BLOOM_FILTERS = "NO_BLOOM_FILTERS"


class Severity(StrEnum):
    """A warning costs pruning; an info does not."""

    WARNING = "warning"
    INFO = "info"


class Effect(Record, frozen=True):
    """What the fix changes on this snapshot: the number of `unit`s before and after."""

    OMITTED: ClassVar = ("bytes_before", "bytes_after")

    unit: Word
    before: Count
    after: Count
    bytes_before: Annotated[
        Count | None, Meta(description="The bytes of the files; null if unknown or unchanged.")
    ] = None
    bytes_after: Count | None = None


class Finding(Record, frozen=True):
    """One fact about a run; `fix` is null if there is nothing to do."""

    code: Code
    severity: Severity
    message: Sentence
    fix: Sentence | None
    evidence: Annotated[
        Mapping[Word, int | float | Sentence], Meta(description="The numbers behind the message.")
    ] = field(default_factory=dict)
    rewrite: Annotated[
        Sql | None, Meta(description="Text to copy: a condition, a statement or a setting.")
    ] = None
    effect: Annotated[
        Effect | None, Meta(description="What the fix changes; null if it could not be counted.")
    ] = None
    conjunct: Annotated[
        Count | None, Meta(description="The position of the conjunct that the finding is about.")
    ] = None
    columns: Annotated[
        tuple[Name, ...], Meta(description="The columns that the finding is about.")
    ] = ()


def table_sql(plan: PlanRequest) -> str:
    """The table by its address, as Spark SQL names one without a catalog."""
    return f"{plan.snapshot.format}.`{plan.snapshot.uri}`"


class FixedAmount(Struct, frozen=True):
    """The number of files that changed conjuncts would keep, and their bytes (None if unknown)."""

    files: int
    bytes: int | None

    def __add__(self, other: FixedAmount) -> FixedAmount:
        return FixedAmount(self.files + other.files, plus(self.bytes, other.bytes))


def reads(plan: ScanPlan, chosen: Flags) -> FixedAmount:
    """Count the chosen files of a plan and their bytes."""
    return FixedAmount(int(chosen.sum()), total_of(plan.evidence.files.bytes, chosen))


def reads_with(plan: ScanPlan, conjuncts: Sequence[Conjunct]) -> FixedAmount:
    """Count the files and bytes that other conjuncts would read."""
    return reads(plan, kept(plan, conjuncts))


class Facts(Struct, frozen=True):
    """The facts from which findings are made: sums over all parts of a table.

    A finding that needs another count computes it on the plan of each part.
    """

    plan: PlannedSnapshot
    classes: tuple[Class, ...]
    levels: tuple[Level, ...]
    stays: Stays
    workings: Workings
    conjuncts: tuple[ConjunctLine, ...]
    engines: tuple[EngineReading, ...] = ()

    @property
    def files(self) -> Level:
        return next(level for level in self.levels if level.level == "files")

    def read_with(self, conjuncts: Sequence[Conjunct]) -> FixedAmount:
        """Count the files and bytes that other conjuncts would read."""
        return reduce(add, self.plan.each(partial(reads_with, conjuncts=tuple(conjuncts))))

    def read_without(self, position: int) -> FixedAmount | None:
        """Count what is read if one conjunct is not used; None if unknown.

        It is unknown if manifests are closed, because they were not checked for the other
        conjuncts.
        """
        if not self.workings.closed:
            return self.read_with(without(self.plan, position))
        all_files = FixedAmount(self.files.total, self.files.bytes_total)
        return all_files if len(self.conjuncts) == 1 else None

    def about(self, name: str) -> list[int]:
        """Return the positions of the conjuncts that name a column."""
        return [i for i, line in enumerate(self.conjuncts) if name in line.columns]
