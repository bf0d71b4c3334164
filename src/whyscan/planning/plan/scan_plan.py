"""The scan plan: which files, row groups and bytes are read, and what is left to check on rows."""

from __future__ import annotations

from collections.abc import Callable  # noqa: TC003 - `help` resolves the types of fields
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import astuple

from whyscan.errors import shortened
from whyscan.fields import Count, Record
from whyscan.planning.plan.evidence import FILES, MANIFESTS, ROW_GROUPS, Evidence
from whyscan.planning.plan.file_scans import FileScan, file_scans
from whyscan.tables.snapshot import Snapshot  # noqa: TC001 - `help` resolves the types of fields
from whyscan.tree.lazy import lazy
from whyscan.tree.nodes import Predicate  # noqa: TC001 - `help` resolves the types of fields
from whyscan.tree.zones import Zone  # noqa: TC001 - `help` resolves the types of fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.tree.nodes import Column, Path

T = TypeVar("T")
G = TypeVar("G")


class Depth(StrEnum):
    """The deepest level that the planner looks at."""

    FILES = "files"
    ROW_GROUPS = "row-groups"
    PAGES = "pages"
    DICTIONARY = "dictionary"
    AUTO = "auto"

    @property
    def opens_footers(self) -> bool:
        """The footers of all kept files are opened, however many there are."""
        return self is Depth.ROW_GROUPS or self.keeps_footers

    @property
    def keeps_footers(self) -> bool:
        """Metadata is read whose place only footers say: indexes of pages, filters."""
        return self in {Depth.PAGES, Depth.DICTIONARY}


class Options(Struct, frozen=True):
    """How a plan is made.

    - `full` opens every metadata object, so that every number is exact.
    - `every_manifest` opens every manifest, so that every live file can be listed.
    - `measured` are columns whose statistics are read in addition to those of the predicate.
    - `never_run` are positions of conjuncts that are interpreted and not run in DuckDB, because
      another part of the table has partition values on which they cannot be run.
    - `complete` are columns whose statistics every file should have: files without them are counted
      and named. None means no check.
    - `limit` is a number of rows that suffices, any rows; None means all.
    - `engines` are names of engines for the report on the plan, no plan depends on them: `()` means
      those that are common, and None means no engine.
    """

    depth: Depth = Depth.AUTO
    full: bool = False
    every_manifest: bool = False
    assume_no_nan: bool = False
    projection: tuple[Path, ...] | None = None
    measured: tuple[Column, ...] = ()
    never_run: frozenset[int] = frozenset()
    complete: tuple[Column, ...] | None = None
    limit: int | None = None
    engines: tuple[str, ...] | None = ()


class LevelTotal(Struct, frozen=True):
    """How many containers a level has, and how many of them are kept."""

    level: str
    total: int
    kept: int


class ScanPlanSummary(Record, frozen=True):
    """How many containers of each level, bytes and rows there are and how many are kept.

    `levels` are those that were looked at, top down. None means unknown: the table has no
    manifests, or that level was not looked at.
    """

    OMITTED: ClassVar = ("levels",)
    COMPUTED: ClassVar = {
        f"{level}_{number}": f"{level}_{number}"
        for level in ("manifests", "files", "row_groups")
        for number in ("total", "kept")
    }

    levels: tuple[LevelTotal, ...]
    bytes_total: Count | None
    bytes_kept: Count | None
    rows_total: Count | None
    rows_kept: Count | None

    def level(self, name: str) -> LevelTotal | None:
        """The numbers of a level; None if it was not looked at."""
        return next((level for level in self.levels if level.level == name), None)

    @property
    def manifests_total(self) -> Count | None:
        return None if (level := self.level(MANIFESTS)) is None else level.total

    @property
    def manifests_kept(self) -> Count | None:
        return None if (level := self.level(MANIFESTS)) is None else level.kept

    @property
    def files_total(self) -> Count:
        return sum(level.total for level in self.levels if level.level == FILES)

    @property
    def files_kept(self) -> Count:
        return sum(level.kept for level in self.levels if level.level == FILES)

    @property
    def row_groups_total(self) -> Count | None:
        return None if (level := self.level(ROW_GROUPS)) is None else level.total

    @property
    def row_groups_kept(self) -> Count | None:
        return None if (level := self.level(ROW_GROUPS)) is None else level.kept

    def __add__(self, other: ScanPlanSummary) -> ScanPlanSummary:
        """The summary of two parts of a table; a number that one part does not know is unknown."""
        levels = tuple(
            LevelTotal(mine.level, mine.total + theirs.total, mine.kept + theirs.kept)
            for mine in self.levels
            if (theirs := other.level(mine.level)) is not None
        )
        both = zip(astuple(self)[1:], astuple(other)[1:], strict=True)
        sums: list[Any] = [None if None in pair else sum(pair) for pair in both]
        return ScanPlanSummary(levels, *sums)


class PlanRequest(Protocol):
    """A predicate on a snapshot, in this process or in parts on executors."""

    @property
    def snapshot(self) -> Snapshot: ...
    @property
    def predicate(self) -> Predicate: ...
    @property
    def zone(self) -> Zone: ...
    @property
    def options(self) -> Options: ...


class PlannedSnapshot(PlanRequest, Protocol):
    """The plan of a snapshot: in one piece, or in parts that lie on executors.

    A number of the whole table is the sum of the numbers of the parts, in their order, so only
    counts are brought together in one place.
    """

    @property
    def summary(self) -> ScanPlanSummary: ...

    def each(self, question: Callable[[ScanPlan], T]) -> Sequence[T]:
        """The result of a function on the plan of each part."""
        ...

    def each_with(
        self, question: Callable[[ScanPlan, G], T], arguments: Sequence[G]
    ) -> Sequence[T]:
        """The same for a function with a second argument; `arguments` has one value per part."""
        ...


def looked_at(evidence: Evidence) -> Callable[[], Evidence]:
    """`ScanPlan.look` for evidence that is there already. It is pickled with its plan."""
    return partial(_same, evidence)


def _same(evidence: Evidence) -> Evidence:
    return evidence


class ScanPlan(Struct, frozen=True, dict=True):
    """What a predicate reads of a snapshot. Iterate over it for its `FileScan`s.

    `look` gives the evidence; if the summary needed no more than blocks of files, it looks at the
    containers first. `seconds` is the time that planning took, including reading metadata.
    """

    snapshot: Snapshot
    predicate: Predicate
    zone: Zone
    options: Options
    look: Callable[[], Evidence]
    summary: ScanPlanSummary
    seconds: float = 0.0

    @lazy
    def counted(self) -> Evidence:
        """The evidence with one flag per group of files, which is enough for numbers."""
        return self.look()

    @lazy
    def evidence(self) -> Evidence:
        """The evidence with one flag per file."""
        return self.counted.per_file()

    def __iter__(self) -> Iterator[FileScan]:
        return file_scans(self.predicate, self.evidence)

    def __repr__(self) -> str:
        table, condition = shortened(self.snapshot.uri), shortened(self.predicate.text)
        counts = f"{self.summary.files_kept:,} of {self.summary.files_total:,} files"
        return f"<{type(self).__name__} of {table!r} where {condition}: reads {counts}>"

    def each(self, question: Callable[[ScanPlan], T]) -> Sequence[T]:
        """The result of the function on this plan, which is the only part."""
        return (question(self),)

    def each_with(
        self, question: Callable[[ScanPlan, G], T], arguments: Sequence[G]
    ) -> Sequence[T]:
        """The result of a function with a second argument on this plan."""
        return tuple(question(self, argument) for argument in arguments)

    @property
    def files(self) -> tuple[FileScan, ...]:
        return tuple(self)
