"""Explain a DataFrame: plan each scan of Spark's optimised plan with whyscan."""

from __future__ import annotations

from contextlib import suppress
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from whyscan.errors import PredicateError, UsageError, WhyscanError
from whyscan.planning.plan.file_scans import joined
from whyscan.planning.plan.planner import make_plan
from whyscan.planning.plan.request import bind_request
from whyscan.pruning.containers import Containers
from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.interval import only_null
from whyscan.pruning.mask import tally
from whyscan.reports.masked_records import masked
from whyscan.reports.report import make_report
from whyscan.spark.plans.catalyst import scans_of_frame
from whyscan.spark.plans.iceberg_filters import expression_sql
from whyscan.spark.plans.printed_filters import UnsureError
from whyscan.statements.records import Placed, ScanReport, StatementReport, Stayed
from whyscan.statements.roles import Origin
from whyscan.statements.scans import EVERYTHING
from whyscan.statements.stay_reasons import StayReason
from whyscan.tables import open_snapshot
from whyscan.tables.storage.enclosing_tables import OPTION as AS_FILES
from whyscan.tables.time_travel import Travel
from whyscan.terms import PlanTerms
from whyscan.tree.nodes import Column, Conjunct, IsNull, Not, Opaque, Predicate, columns_of
from whyscan.tree.rendering import to_sql
from whyscan.tree.zones import zone

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from whyscan.spark.plans.catalyst import PlanScan
    from whyscan.tables.snapshot import Snapshot


def explain(
    query: DataFrame | str,
    *,
    spark: SparkSession | None = None,
    storage: Mapping[str, object] = MappingProxyType({}),
    depth: str = "auto",
    verbose: bool = False,
) -> StatementReport:
    """Explain what each scan of a DataFrame reads, with the conditions that Spark pushes to it.

    `query` may be SQL for `spark.sql`. The DataFrame is optimised, and not run. `storage` are
    storage options. A scan that cannot be explained, such as a cached table, gets a note. On Spark
    Connect the plan stays on the server: use `whyscan.explain_sql` there.
    """
    started = perf_counter()
    frame = _frame(query, spark)
    timezone = frame.sparkSession.conf.get("spark.sql.session.timeZone") or "UTC"
    frame_options = _FrameOptions(timezone, depth, verbose)
    plan = scans_of_frame(_optimised(frame))
    scans: list[ScanReport] = []
    notes = [f"not explained: {line}" for line in plan.others]
    for scan in plan.scans:
        try:
            scans.append(_scan(scan, _snapshot(scan, storage), frame_options))
        except WhyscanError as error:
            notes.append(f"not explained: {scan.table.name}: {error.message}")
    report = StatementReport(
        sql=query if isinstance(query, str) else f"DataFrame[{', '.join(frame.columns)}]",
        dialect="spark",
        timezone=timezone,
        operation="select",
        scans=tuple(scans),
        notes=tuple(dict.fromkeys(notes)),
        seconds=perf_counter() - started,
    )
    return masked(report)


def _frame(query: DataFrame | str, spark: SparkSession | None) -> DataFrame:
    if isinstance(query, str):
        from pyspark.sql import SparkSession

        session = spark or SparkSession.getActiveSession()
        if session is None:
            raise UsageError("SQL needs a session to be planned in", hint="give it as spark=")
        query = session.sql(query)
    return query


def _optimised(frame: DataFrame) -> Any:
    """Return the DataFrame's Java object, from which its optimised plan can be read."""
    if not hasattr(frame, "_jdf"):
        raise UsageError(
            "the plan of a DataFrame of Spark Connect stays on the server",
            hint='whyscan.explain_sql("SELECT …", tables={…}) explains the same query',
        )
    return frame._jdf  # noqa: SLF001 - the plan is nowhere else


def _snapshot(scan: PlanScan, storage: Mapping[str, object]) -> Snapshot:
    table = scan.table
    travel = Travel(version=table.version, snapshot=table.snapshot)
    options = {**storage, AS_FILES: "on"} if table.as_files else storage
    return open_snapshot(table.places, table.partition_types, options, travel)


class _FrameOptions(Struct, frozen=True):
    """The options that all scans are planned with."""

    timezone: str
    depth: str
    verbose: bool

    @property
    def terms(self) -> PlanTerms:
        return PlanTerms(timezone=self.timezone, depth=self.depth, verbose=self.verbose)


def _scan(plan_scan: PlanScan, snapshot: Snapshot, frame_options: _FrameOptions) -> ScanReport:
    conjuncts, refused = _conjuncts(plan_scan, snapshot, frame_options)
    chosen = conjuncts or (EVERYTHING,)
    text = joined([chosen_conjunct.sql for chosen_conjunct in chosen]) or EVERYTHING.sql
    names = {name.lower() for name in snapshot.schema(named=plan_scan.columns).names()}
    columns = tuple(name for name in plan_scan.columns if name.lower() in names)
    # A count needs no column: then all columns are planned, so that bytes are not zero.
    _, options = bind_request(snapshot, "true", columns or None, frame_options.terms)
    predicate = Predicate(text, "spark", frame_options.timezone, None, chosen)
    plan = make_plan(snapshot, predicate, options)
    return ScanReport(
        name=plan_scan.table.name,
        alias="",
        columns=columns,
        plan=plan,
        report=make_report(plan, verbose=frame_options.verbose),
        placed=tuple(Placed(conjunct.sql, Origin.WRITTEN, conjunct.sql) for conjunct in conjuncts),
        above=(*plan_scan.above, *refused),
    )


def _conjuncts(
    plan_scan: PlanScan, snapshot: Snapshot, frame_options: _FrameOptions
) -> tuple[tuple[Conjunct, ...], list[Stayed]]:
    """The conditions bound to the table, and those that cannot be bound."""
    bound: dict[str, Conjunct] = {}
    refused = []
    for text in (*plan_scan.conditions, *_iceberg_conditions(plan_scan, snapshot)):
        try:
            predicate, _ = bind_request(snapshot, text, None, frame_options.terms)
        except PredicateError as error:
            refused.append(Stayed(text, StayReason.MUST_NOT_MOVE, error.message))
            continue
        for conjunct in predicate.conjuncts:
            opaque = isinstance(conjunct.expression, Opaque)
            sql = conjunct.sql if opaque else to_sql(conjunct.expression)
            bound.setdefault(sql, Conjunct(conjunct.expression, sql))
    return tuple(_needed(list(bound.values()), frame_options.timezone)), refused


def _iceberg_conditions(plan_scan: PlanScan, snapshot: Snapshot) -> Iterator[str]:
    if not plan_scan.pushed:
        return
    types = {field.name.lower(): str(field.type) for field in snapshot.schema().fields}
    for pushed_filter in plan_scan.pushed:
        # Without a condition fewer files are pruned, and no row is lost.
        with suppress(UnsureError):
            yield expression_sql(pushed_filter, types)


def _needed(conjuncts: Sequence[Conjunct], timezone: str) -> Iterator[Conjunct]:
    """Drop each `c IS NOT NULL` that another conjunct implies: Spark adds one per column."""
    for conjunct in conjuncts:
        if not any(
            _implies(other, conjunct, timezone) for other in conjuncts if other is not conjunct
        ):
            yield conjunct


def _implies(other: Conjunct, tested: Conjunct, timezone: str) -> bool:
    """Whether `tested` is `c IS NOT NULL` and `other` is never TRUE where c is NULL."""
    match tested.expression:
        case Not(IsNull(Column() as column)) if column in columns_of(other.expression):
            pass
        case _:
            return False
    rows = Containers(1, statistics={column.path: only_null(column.type)})
    truth = evaluate(other.expression, rows, zone(timezone))
    return tally(truth.true, 1) == 0 and tally(truth.raises, 1) == 0
