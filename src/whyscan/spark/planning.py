"""Planning past one machine: the parts of a snapshot are planned by executors, and counted there.

What a report says in numbers is a sum over the parts, and whatever else it has to ask, it asks of
the plan of each part: the driver gets counts, the sizes of the files that stay, and the partition
values and bounds that a finding looks at, of 200,000 files at most. A report that lists every file
gets that list, and a plan the files to read. The answer is that of one process.
"""

from __future__ import annotations

import pickle
from functools import partial, reduce
from hashlib import blake2b
from operator import add
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import pyarrow as pa
from msgspec import Struct, field
from msgspec.structs import astuple, replace

from whyscan.errors import WhyscanError
from whyscan.planning.plan.planner import left_closed, make_plan
from whyscan.planning.plan.scan_plan import Depth, FileScan, Options
from whyscan.planning.plan.table_facts import TableFacts
from whyscan.planning.rows.limit import CutParts
from whyscan.planning.why.pushdown import interpreted
from whyscan.planning.why.reasons import reasons
from whyscan.reports.listing import listing, listings_together
from whyscan.reports.report import Effort, after_limit, report_on
from whyscan.reports.tally import Common, PlanOutcome, Tally
from whyscan.spark.errors import carried, collected, from_text, to_text, uncarried
from whyscan.spark.packed import packed
from whyscan.spark.sessions import cores
from whyscan.tables.cached_files import size
from whyscan.tables.parts import FILES_EACH, parts
from whyscan.tables.snapshot import Traffic
from whyscan.tree.lazy import lazy
from whyscan.tree.zones import zone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyspark.sql import SparkSession

    from whyscan.planning.plan.scan_plan import PlannedSnapshot, ScanPlan, ScanPlanSummary
    from whyscan.reports.listing import Listing
    from whyscan.reports.report import Report
    from whyscan.tables.snapshot import Snapshot
    from whyscan.tree.nodes import Predicate
    from whyscan.tree.zones import Zone

    Run = Callable[["Work"], Iterable["PartResult"]]
    """Has every part answer, wherever they are."""

T = TypeVar("T")
G = TypeVar("G")

PARTS_A_CORE = 2
FEWEST_FILES = 10_000
"""A part is no smaller than this for the sake of idle cores: a task has its own cost."""

CACHE_BYTES = 1 << 29
"""So many bytes of parts and plans an executor's Python process keeps for the next question."""

ANSWER = pa.schema(
    [
        ("part", pa.int64()),
        ("found", pa.binary()),
        ("error", pa.string()),
        ("objects", pa.int64()),
        ("bytes", pa.int64()),
    ]
)
_ANSWER_DDL = "part long, found binary, error string, objects long, bytes long"


class Parted(Struct, frozen=True, eq=False, dict=True):
    """A predicate planned on a snapshot part by part, by the executors of a session.

    Iterate over it for the files to read. `options` are those that were asked for, `each_options`
    those that each part is planned with once it is known what all of them leave.
    """

    run: Run
    snapshot: Snapshot
    predicate: Predicate
    zone: Zone
    options: Options
    each_options: Options
    common: Common
    name: str
    started: float
    meter: list[Traffic] = field(default_factory=list)

    def each(self, question: Callable[[ScanPlan], T]) -> Sequence[T]:
        """What a question finds in the plan of each part, in one job."""
        return self._ask(question, None)

    def each_given(self, question: Callable[[ScanPlan, G], T], given: Sequence[G]) -> Sequence[T]:
        """The same of a question that is told something else of each part."""
        return self._ask(question, given)

    def _ask(self, question: Callable[..., T], arguments: Sequence[Any] | None) -> Sequence[T]:
        work = Work(self.name, self.predicate, self.each_options, question, arguments)
        answers = sorted(self.run(work), key=lambda answer: answer.part)
        for answer in answers:
            if answer.error is not None:
                raise from_text(answer.error)
        self.meter.extend(Traffic(answer.objects, answer.bytes) for answer in answers)
        return [pickle.loads(answer.value) for answer in answers]  # noqa: S301 - by our executors

    @lazy
    def summary(self) -> ScanPlanSummary:
        """The pyramid in numbers."""
        return reduce(add, self.each(_summary))

    @property
    def files(self) -> tuple[FileScan, ...]:
        """The files to read, in the table's order."""
        return tuple(self)

    def __iter__(self) -> Iterator[FileScan]:
        for files in self.each(_files):
            yield from files

    def traffic(self) -> Traffic:
        """What the driver and all executors have read."""
        read = [self.snapshot.traffic(), *self.meter]
        return Traffic(sum(each.objects for each in read), sum(each.bytes for each in read))


def plan_parts(
    spark: SparkSession,
    snapshot: Snapshot,
    predicate: Predicate,
    options: Options,
    *,
    files_each: int | None = None,
) -> Parted:
    """Plan a predicate on a snapshot in parts of about so many files each."""
    return planned_by(_divided(spark, snapshot, files_each), snapshot, predicate, options)


def planned_by(run: Run, snapshot: Snapshot, predicate: Predicate, options: Options) -> Parted:
    """Plan a predicate on a snapshot whose parts `run` knows."""
    planned = Parted(
        run=run,
        snapshot=snapshot,
        predicate=predicate,
        zone=zone(predicate.zone),
        options=options,
        each_options=replace(options, depth=Depth.FILES),
        common=Common((), partitions_stay=False),
        name=uuid4().hex,
        started=perf_counter(),
    )
    return _with_common_options(planned)


def explain_parts(planned: Parted, *, verbose: bool = False) -> Report:
    """The report of `make_report`, counted by the executors."""
    tally = reduce(add, planned.each(partial(Tally.of, common=planned.common)))
    report = report_on(planned, tally, planned.common)
    if verbose:
        report = replace(report, listing=_listed(planned, planned.common))
    read = planned.traffic()
    effort = Effort(read.objects, read.bytes, read.from_cache, perf_counter() - planned.started)
    return replace(report, metadata=effort)


def _with_common_options(planned: Parted) -> Parted:
    """What all parts leave settles how each is planned."""
    facts = reduce(add, planned.each(TableFacts.of))
    if facts.never_run:
        common_options = replace(planned.each_options, never_run=facts.never_run)
        planned = replace(planned, each_options=common_options)
        facts = reduce(add, planned.each(TableFacts.of))
    pushdown = interpreted(planned, facts.run_everywhere)
    opens = left_closed(planned.options.depth, facts.kept) is None
    depth = Depth.ROW_GROUPS if opens else Depth.FILES
    if planned.snapshot.footers_describe_files:
        depth = planned.each_options.depth
    return replace(
        planned,
        each_options=replace(planned.each_options, depth=depth),
        common=Common(pushdown, partitions_stay=facts.partitions_stay),
    )


def executors(spark: SparkSession, *, files_each: int | None = None) -> Executors:
    """Those of a session, for the scans of a statement."""
    return Executors(partial(_divided, spark, files_each=files_each))


class Executors:
    """They plan the scans of a statement. A table is divided once."""

    def __init__(self, divided: Callable[[Snapshot], Run]) -> None:
        self._divided = divided
        self._runs: dict[int, tuple[Snapshot, Run]] = {}

    def plan(self, snapshot: Snapshot, predicate: Predicate, options: Options) -> Parted:
        """In parts."""
        # The snapshot is kept beside it: another could take the identity of one that is gone.
        if id(snapshot) not in self._runs:
            self._runs[id(snapshot)] = (snapshot, self._divided(snapshot))
        return planned_by(self._runs[id(snapshot)][1], snapshot, predicate, options)

    def report(self, plan: PlannedSnapshot, *, verbose: bool) -> Report:
        """Counted by them, with what a LIMIT leaves."""
        whole_plan = plan.whole if isinstance(plan, CutParts) else plan
        if not isinstance(whole_plan, Parted):
            raise TypeError(f"{type(whole_plan).__name__} was planned elsewhere")
        if not isinstance(plan, CutParts):
            return explain_parts(whole_plan, verbose=verbose)
        report = explain_parts(whole_plan)
        outcome = reduce(add, plan.each(partial(_outcome, common=whole_plan.common)))
        report = after_limit(report, plan, outcome)
        return replace(report, listing=_listed(plan, whole_plan.common)) if verbose else report


def _divided(spark: SparkSession, snapshot: Snapshot, files_each: int | None) -> Run:
    """A snapshot before the executors of a session, in parts of about so many files each."""
    divided = (
        _parts_for_cores(snapshot, cores(spark))
        if files_each is None
        else parts(snapshot, files_each)
    )
    return _on_executors(spark, divided)


def _parts_for_cores(snapshot: Snapshot, cores: int) -> Sequence[Snapshot]:
    """In parts that keep the cores busy, and none of which is too large for one of them."""
    divided = parts(snapshot)
    wanted = cores * PARTS_A_CORE
    if len(divided) >= wanted:
        return divided
    return parts(snapshot, max(FILES_EACH * len(divided) // wanted, FEWEST_FILES))


def _on_executors(spark: SparkSession, divided: Sequence[Snapshot]) -> Run:
    """A job a question, over a row a part."""
    schema = pa.schema([("number", pa.int64()), ("part", pa.binary())])
    # A batch a row: what is large Spark spreads over its tasks by batches.
    batches = [
        pa.record_batch([[number], [packed(part)]], schema=schema)
        for number, part in enumerate(divided)
    ]
    with uncarried():
        frame = spark.createDataFrame(pa.Table.from_batches(batches))

    def run(work: Work) -> list[PartResult]:
        rows = collected(frame.mapInArrow(_answering(work), _ANSWER_DDL))
        return [PartResult(*row) for row in rows]

    return run


class Work(Struct, frozen=True):
    """What each part is asked; `given` has one for each, None where the question takes none.

    `name` is that of the run: its plans are kept for the next question.
    """

    name: str
    predicate: Predicate
    options: Options
    question: Callable[..., Any]
    arguments: Sequence[Any] | None


class PartResult(Struct, frozen=True):
    """What one part found, pickled, or the error; and what it read for that."""

    part: int
    value: bytes
    error: str | None
    objects: int
    bytes: int


def _answering(work: Work) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """For `mapInArrow`: parts to answers."""

    @carried
    def answers(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number, part in zip(*batch.columns, strict=True):
                result = answer(work, number.as_py(), part.as_py())
                yield pa.record_batch([[value] for value in astuple(result)], schema=ANSWER)

    return answers


def answer(work: Work, number: int, part: bytes) -> PartResult:
    """What a part finds. An error of ours is an answer too: to try again would not help."""
    try:
        planned, read = _planned(work, part)
        extra = () if work.arguments is None else (work.arguments[number],)
        value = pickle.dumps(work.question(planned, *extra))
    except WhyscanError as error:
        return PartResult(number, b"", to_text(error), 0, 0)
    return PartResult(number, value, None, read.objects, read.bytes)


class _PlannedPart(Struct):
    """A part that was planned here, the plan that a run made of it last, and what they hold."""

    part: Snapshot
    run: str
    options: Options
    plan: ScanPlan
    bytes: int


_CACHE: dict[bytes, _PlannedPart] = {}
"""By what the part is: the same part of another run has its metadata already."""


def _planned(work: Work, sent: bytes) -> tuple[ScanPlan, Traffic]:
    """The plan of a part, from an earlier question where it was asked of this very process."""
    key = blake2b(sent).digest()
    planned_part = _CACHE.pop(key, None)
    part = pickle.loads(sent) if planned_part is None else planned_part.part  # noqa: S301 - by the driver
    before = part.traffic()
    if planned_part is None or (planned_part.run, planned_part.options) != (
        work.name,
        work.options,
    ):
        plan = make_plan(part, work.predicate, work.options)
        planned_part = _PlannedPart(
            part, work.name, work.options, plan, size(part) + size(plan.evidence)
        )
    _keep(key, planned_part)
    after = part.traffic()
    return planned_part.plan, Traffic(after.objects - before.objects, after.bytes - before.bytes)


def _keep(key: bytes, planned_part: _PlannedPart) -> None:
    """What was asked for last goes last."""
    _CACHE[key] = planned_part
    total = sum(kept.bytes for kept in _CACHE.values())
    for other in list(_CACHE):
        if total <= CACHE_BYTES or other == key:
            return
        total -= _CACHE.pop(other).bytes


def _summary(plan: ScanPlan) -> ScanPlanSummary:
    return plan.summary


def _files(plan: ScanPlan) -> tuple[FileScan, ...]:
    return plan.files


def _outcome(plan: ScanPlan, common: Common) -> PlanOutcome:
    return PlanOutcome.of(plan, common, reasons(plan, common.interpreted))


def _listed(planned: PlannedSnapshot, common: Common) -> Listing:
    return listings_together(planned.each(partial(_listing, understood=common.interpreted)))


def _listing(plan: ScanPlan, understood: tuple[bool, ...]) -> Listing:
    return listing(plan, reasons(plan, understood))
