"""Plan a predicate with the executors of a Spark session: each executor plans parts of a snapshot.

Executors count too. The driver receives one result per part: counts, the sizes of the kept files,
and the partition values and bounds that a finding reads, of at most 200,000 files. The numbers of
a report are sums over the parts. Only a report that lists every file, and a plan that is iterated,
bring the files to the driver. The result is equal to that of one process.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from functools import partial, reduce
from hashlib import blake2b
from operator import add
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import pyarrow as pa
from msgspec import Struct, field
from msgspec.structs import astuple, replace

from whyscan.errors import WhyscanError, shortened
from whyscan.planning.plan.planner import left_closed, make_plan
from whyscan.planning.plan.scan_plan import Depth, Options
from whyscan.planning.rows.limit import CutParts
from whyscan.planning.why.pushdown import interpreted
from whyscan.planning.why.reasons import reasons
from whyscan.reports.listing import join_listings, listing
from whyscan.reports.report import Effort, after_limit, report_on
from whyscan.reports.tally import CommonFacts, PlanOutcome, Tally
from whyscan.spark.errors import carried, from_text, to_text
from whyscan.spark.jobs import mapped, packed, ran, work_frame, work_of_task
from whyscan.spark.sessions import cores
from whyscan.spark.table_facts import TableFacts
from whyscan.tables.bounded_cache import size
from whyscan.tables.parts import FILES_EACH, parts
from whyscan.tables.snapshot import Snapshot, Traffic
from whyscan.tree.lazy import lazy
from whyscan.tree.nodes import Predicate  # noqa: TC001 - `help` resolves the types of fields
from whyscan.tree.zones import Zone, zone

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import SparkSession

    from whyscan.planning.plan.file_scans import FileScan
    from whyscan.planning.plan.scan_plan import PlannedSnapshot, ScanPlan, ScanPlanSummary
    from whyscan.reports.listing import Listing
    from whyscan.reports.report import Report
    from whyscan.spark.jobs import Batches, Task

Run = Callable[["Work"], Iterable["PartResult"]]
"""Runs one question on the plan of every part, and returns one result per part."""

T = TypeVar("T")
G = TypeVar("G")

PARTS_A_CORE = 2
FEWEST_FILES = 10_000
"""Parts are not made smaller than this to use idle cores: each task has a fixed cost."""

CACHE_BYTES = 1 << 29
"""The most bytes of parts and plans that one Python process of an executor caches."""

ANSWER = pa.schema(
    [
        ("part", pa.int64()),
        ("value", pa.binary()),
        ("error", pa.string()),
        ("objects", pa.int64()),
        ("bytes", pa.int64()),
    ]
)


class DistributedPlan(Struct, frozen=True, eq=False, dict=True):
    """The plan of a predicate on a snapshot whose parts executors plan.

    Iterating gives the files to read. `options` are the options of the caller. `each_options` are
    the options that each part is planned with; they depend on the files that all parts keep.
    """

    run: Run
    snapshot: Snapshot
    predicate: Predicate
    zone: Zone
    options: Options
    each_options: Options
    common: CommonFacts
    name: str
    started: float
    meter: list[Traffic] = field(default_factory=list)

    def each(self, question: Callable[[ScanPlan], T]) -> Sequence[T]:
        """The result of a function of the plan, one per part, in one Spark job."""
        return self._ask(question, None)

    def each_with(
        self, question: Callable[[ScanPlan, G], T], arguments: Sequence[G]
    ) -> Sequence[T]:
        """The result of a function of the plan and of one argument per part, in one Spark job."""
        return self._ask(question, arguments)

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
        """The counts of every level, summed over the parts."""
        return reduce(add, self.each(summary_of))

    @property
    def files(self) -> tuple[FileScan, ...]:
        """The files to read, in the table's order."""
        return tuple(self)

    def __iter__(self) -> Iterator[FileScan]:
        for files in self.each(_files):
            yield from files

    def __repr__(self) -> str:
        table, condition = shortened(self.snapshot.uri), shortened(self.predicate.text)
        return f"<DistributedPlan of {table!r} where {condition}>"

    def traffic(self) -> Traffic:
        """The objects and bytes of metadata that the driver and all executors have read."""
        read = [self.snapshot.traffic(), *self.meter]
        return Traffic(sum(each.objects for each in read), sum(each.bytes for each in read))


def plan_parts(
    spark: SparkSession,
    snapshot: Snapshot,
    predicate: Predicate,
    options: Options,
    *,
    files_each: int | None = None,
) -> DistributedPlan:
    """Plan a predicate on a snapshot in parts of about `files_each` files."""
    return planned_by(_divided(spark, snapshot, files_each), snapshot, predicate, options)


def planned_by(
    run: Run, snapshot: Snapshot, predicate: Predicate, options: Options
) -> DistributedPlan:
    """Plan a predicate on a snapshot whose parts `run` plans."""
    planned = DistributedPlan(
        run=run,
        snapshot=snapshot,
        predicate=predicate,
        zone=zone(predicate.zone),
        options=options,
        each_options=replace(options, depth=Depth.FILES),
        common=CommonFacts((), partitions_stay=False),
        name=uuid4().hex,
        started=perf_counter(),
    )
    return _with_common_options(planned)


def explain_parts(planned: DistributedPlan, *, verbose: bool = False) -> Report:
    """The report of `make_report`, counted by the executors."""
    tally = reduce(add, planned.each(partial(Tally.of, common=planned.common)))
    report = report_on(planned, tally, planned.common)
    if verbose:
        report = replace(report, listing=_listed(planned, planned.common))
    read = planned.traffic()
    effort = Effort(read.objects, read.bytes, read.from_cache, perf_counter() - planned.started)
    return replace(report, metadata=effort)


def _with_common_options(planned: DistributedPlan) -> DistributedPlan:
    """The plan with the options and facts that depend on all parts together.

    Whether footers are opened depends on how many files all parts keep.
    """
    facts = reduce(add, planned.each(TableFacts.of))
    if facts.never_run:
        common_options = replace(planned.each_options, never_run=facts.never_run)
        planned = replace(planned, each_options=common_options)
        facts = reduce(add, planned.each(TableFacts.of))
    pushdown = interpreted(planned, facts.run_everywhere)
    opens = left_closed(planned.options.depth, facts.kept) is None
    depth = Depth.ROW_GROUPS if opens else Depth.FILES
    return replace(
        planned,
        each_options=replace(planned.each_options, depth=depth),
        common=CommonFacts(pushdown, partitions_stay=facts.partitions_stay),
    )


def executors(spark: SparkSession, *, files_each: int | None = None) -> Executors:
    """The executors of a session, as the planner of a statement's scans."""
    return Executors(partial(_divided, spark, files_each=files_each))


class Executors:
    """Plans the scans of a statement on executors. Each table is divided into parts once."""

    def __init__(self, divided: Callable[[Snapshot], Run]) -> None:
        self._divided = divided
        self._runs: dict[int, tuple[Snapshot, Run]] = {}

    def plan(self, snapshot: Snapshot, predicate: Predicate, options: Options) -> DistributedPlan:
        """Plan a predicate on a snapshot, part by part."""
        # The snapshot is kept too: a new object could get the `id` of one that was freed.
        if id(snapshot) not in self._runs:
            self._runs[id(snapshot)] = (snapshot, self._divided(snapshot))
        return planned_by(self._runs[id(snapshot)][1], snapshot, predicate, options)

    def report(self, plan: PlannedSnapshot, *, verbose: bool) -> Report:
        """The report of a plan that this object made, also of one that a LIMIT has cut."""
        whole_plan = plan.plan if isinstance(plan, CutParts) else plan
        if not isinstance(whole_plan, DistributedPlan):
            raise TypeError(f"{type(whole_plan).__name__} was planned elsewhere")
        if not isinstance(plan, CutParts):
            return explain_parts(whole_plan, verbose=verbose)
        report = explain_parts(whole_plan)
        outcome = reduce(add, plan.each(partial(_outcome, common=whole_plan.common)))
        report = after_limit(report, plan, outcome)
        return replace(report, listing=_listed(plan, whole_plan.common)) if verbose else report


def _divided(spark: SparkSession, snapshot: Snapshot, files_each: int | None) -> Run:
    """Divide a snapshot into parts and send them to the executors of a session."""
    divided = (
        _parts_for_cores(snapshot, cores(spark))
        if files_each is None
        else parts(snapshot, files_each)
    )
    return _on_executors(spark, divided)


def _parts_for_cores(snapshot: Snapshot, cores: int) -> Sequence[Snapshot]:
    """Divide a snapshot: enough parts for all cores, and no part too large for one executor."""
    divided = parts(snapshot)
    wanted = cores * PARTS_A_CORE
    if len(divided) >= wanted:
        return divided
    return parts(snapshot, max(FILES_EACH * len(divided) // wanted, FEWEST_FILES))


def _on_executors(spark: SparkSession, divided: Sequence[Snapshot]) -> Run:
    """The function that runs one Spark job per question, over one row per part."""
    # Pickled twice: the hash of a pickled part is its key in the cache of an executor.
    frame = work_frame(spark, ((number, packed(part)) for number, part in enumerate(divided)))

    def run(work: Work) -> list[PartResult]:
        rows = ran(mapped(frame, _answering(work), ANSWER).collect)
        return [PartResult(*row) for row in rows]

    return run


class Work(Struct, frozen=True):
    """One question for every part.

    `arguments` has one value per part, or is None if the question takes no argument. `name`
    identifies the run: an executor reuses the plans of the same run.
    """

    name: str
    predicate: Predicate
    options: Options
    question: Callable[..., Any]
    arguments: Sequence[Any] | Mapping[int, Any] | None


class PartResult(Struct, frozen=True):
    """The result of one part: a pickled value or an error, and the metadata that it read."""

    part: int
    value: bytes
    error: str | None
    objects: int
    bytes: int


def _answering(work: Work) -> Task:
    """The function for `mapInArrow` that turns pickled parts into rows of `ANSWER`."""

    @carried
    def answers(batches: Batches) -> Iterator[pa.RecordBatch]:
        for number, part in work_of_task(batches):
            result = answer(work, number, part)
            yield pa.record_batch([[value] for value in astuple(result)], schema=ANSWER)

    return answers


def answer(work: Work, number: int, part: bytes) -> PartResult:
    """The result of one part. A WhyscanError is a result too: a retry would not help."""
    try:
        planned, read = _planned(work, part)
        extra = () if work.arguments is None else (work.arguments[number],)
        value = pickle.dumps(work.question(planned, *extra))
    except WhyscanError as error:
        return PartResult(number, b"", to_text(error), 0, 0)
    return PartResult(number, value, None, read.objects, read.bytes)


class _PlannedPart(Struct):
    """A part in the cache of this process, its last plan, and the bytes of both."""

    part: Snapshot
    run: str
    options: Options
    plan: ScanPlan
    bytes: int


_CACHE: dict[bytes, _PlannedPart] = {}
"""The metadata of each part by the hash of the pickled part, so that another run finds it."""


def _planned(work: Work, sent: bytes) -> tuple[ScanPlan, Traffic]:
    """The plan of a part, from the cache if this process has planned it, and the traffic."""
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
    """Put a part into the cache, and remove the least recently used parts if it is full."""
    _CACHE[key] = planned_part
    total = sum(kept.bytes for kept in _CACHE.values())
    for other in list(_CACHE):
        if total <= CACHE_BYTES or other == key:
            return
        total -= _CACHE.pop(other).bytes


def summary_of(plan: ScanPlan) -> ScanPlanSummary:
    """The counts of one part."""
    return plan.summary


def _files(plan: ScanPlan) -> tuple[FileScan, ...]:
    return plan.files


def _outcome(plan: ScanPlan, common: CommonFacts) -> PlanOutcome:
    return PlanOutcome.of(plan, common, reasons(plan, common.interpreted))


def _listed(planned: PlannedSnapshot, common: CommonFacts) -> Listing:
    return join_listings(planned.each(partial(_listing, understood=common.interpreted)))


def _listing(plan: ScanPlan, understood: tuple[bool, ...]) -> Listing:
    return listing(plan, reasons(plan, understood))
