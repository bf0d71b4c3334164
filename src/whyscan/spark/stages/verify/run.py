"""Verify the plans, verdicts and statistics of a table in one pass over its rows."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from msgspec import Struct, field
from msgspec.structs import replace

from whyscan.errors import CorruptFile, UsageError, WhyscanError
from whyscan.planning.plan.planner import make_plan, total
from whyscan.reports.levels import rows_matched
from whyscan.spark.stages.verify import lies, native_reader, recorded, verdicts
from whyscan.spark.stages.verify.conditions import CheckedPredicate, measured, questions
from whyscan.spark.stages.verify.data import choose, damaged, read, without
from whyscan.spark.stages.verify.engines.engine import Target
from whyscan.spark.stages.verify.engines.matrix import VerifiedPredicate, fitting, matrix
from whyscan.spark.stages.verify.result import NativeRows, PlanCounts, PredicateProof, TableProof
from whyscan.spark.stages.verify.truth import terms
from whyscan.terms import PlanTerms
from whyscan.tree.zones import zone

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from whyscan.planning.plan.evidence import Evidence
    from whyscan.planning.plan.judgement import Flags
    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.spark.stages.verify.conditions import PredicateText
    from whyscan.spark.stages.verify.data import Chosen, Data
    from whyscan.tables.snapshot import Snapshot


class VerifySettings(Struct, frozen=True):
    """How a table is verified.

    `terms` are options of a plan: timezone, depth, full, assume_no_nan. `columns` are further
    columns whose statistics are compared, beside those of the predicates; `*` means all.
    `at_most_files` limits the number of data files that are read. `engines` are the engines to
    compare with, None for all that read the format; `duckdb_python` and `trino` are their options.
    """

    terms: PlanTerms = PlanTerms()
    columns: tuple[str, ...] = ()
    at_most_files: int | None = None
    engines: tuple[str, ...] | None = None
    duckdb_python: str | None = None
    trino: str | None = None

    @property
    def timezone(self) -> str:
        return self.terms.timezone


def prove(
    spark: SparkSession,
    snapshot: Snapshot,
    conditions: Sequence[PredicateText],
    settings: VerifySettings,
    name: str | None = None,
) -> TableProof:
    """Verify the plans of some predicates and the statistics of one table with its rows."""
    started = perf_counter()
    if not conditions:
        raise UsageError("there is no predicate to verify", hint="-w PREDICATE names one")
    session_zone = zone(settings.timezone)
    predicates = questions(snapshot, conditions, settings.terms)
    columns = measured(snapshot, predicates, settings.columns)
    chosen = choose(snapshot, columns, session_zone, settings.at_most_files)
    with terms(spark, settings.timezone):
        data = read(spark, chosen, predicates, session_zone)
        native_rows = _native(spark, chosen, predicates, data)
        proofs = _with_engines(
            tuple(zip(predicates, _proofs(chosen, predicates, data, native_rows), strict=True)),
            chosen,
            _target(chosen, data, native_rows, settings),
            settings,
        )
    contradictions = lies.contradictions(
        chosen.snapshot, chosen.files, chosen.groups, (columns, session_zone)
    )
    return TableProof(
        name=name or snapshot.uri,
        uri=snapshot.uri,
        format=snapshot.format,
        version=snapshot.version,
        files_total=chosen.total,
        files_read=len(data.at),
        row_groups_read=data.table.num_rows,
        rows=_sum(data, "rows"),
        live=_sum(data, "live"),
        columns=tuple(".".join(column.path) for column in columns),
        native=native_rows.table,
        predicates=proofs,
        lies=tuple(recorded.all_lies(chosen, data)),
        contradictions=tuple(contradictions),
        unreadable=(*chosen.unreadable, *data.unreadable),
        unchecked=tuple(_unchecked(chosen, data)),
        seconds=round(perf_counter() - started, 3),
    )


class _NativeCounts(Struct, frozen=True):
    """The counts of Spark's reader: all rows of the table, and TRUE rows by predicate."""

    table: NativeRows
    true: Mapping[int, int] = field(default_factory=dict)
    rows: DataFrame | None = None


def _native(
    spark: SparkSession, chosen: Chosen, predicates: Sequence[CheckedPredicate], data: Data
) -> _NativeCounts:
    reader = native_reader.reader_of(chosen.snapshot)
    if chosen.unreadable or data.unreadable:
        return _NativeCounts(NativeRows(reader, why="some data files cannot be read"))
    if len(data.at) < chosen.total:
        return _NativeCounts(NativeRows(reader, why="only some of the data files were read"))
    native_predicates = (
        (n, q) for n, q in enumerate(predicates) if q.native and n not in data.failed
    )
    sql = {number: checked.sql for number, checked in native_predicates if checked.sql is not None}
    try:
        rows = native_reader.frame(spark, chosen.snapshot)
        counted, true = native_reader.totals(rows, sql)
    except WhyscanError as error:
        return _NativeCounts(NativeRows(reader, why=error.message))
    return _NativeCounts(NativeRows(reader, counted), true, rows)


def _target(
    chosen: Chosen, data: Data, native_rows: _NativeCounts, settings: VerifySettings
) -> Target:
    return Target(
        chosen.snapshot,
        native_rows.rows,
        native_rows.table.why,
        tuple(file.shown for file in data.files),
        settings.timezone,
        settings.duckdb_python,
        settings.trino,
    )


def _with_engines(
    predicates: Sequence[tuple[CheckedPredicate, PredicateProof]],
    chosen: Chosen,
    target: Target,
    settings: VerifySettings,
) -> tuple[PredicateProof, ...]:
    """The proofs, each with what the engines read."""
    engines = fitting(target) if settings.engines is None else settings.engines
    if not engines:
        return tuple(proof for _, proof in predicates)
    verified = [
        VerifiedPredicate(checked, proof, _plan_of_engines(chosen, checked, proof))
        for checked, proof in predicates
    ]
    return matrix(target, engines, verified)


def _plan_of_engines(
    chosen: Chosen, checked: CheckedPredicate, proof: PredicateProof
) -> ScanPlan | None:
    """The plan by which profiles predict: engines leave closed what manifests rule out."""
    if proof.why is not None or checked.options is None:
        return None
    options = replace(checked.options, every_manifest=False)
    return planned(chosen, replace(checked, options=options))


def _proofs(
    chosen: Chosen, predicates: Sequence[CheckedPredicate], data: Data, native_rows: _NativeCounts
) -> Iterator[PredicateProof]:
    paths = chosen.files.paths.to_pylist()
    for number, checked in enumerate(predicates):
        why = checked.why or data.failed.get(number)
        if chosen.total and not data.at:
            why = why or "no data file can be read"
        try:
            plan = None if checked.predicate is None else planned(chosen, checked)
        except WhyscanError as error:
            plan, why = None, error.message
        if plan is None or why is not None:
            yield PredicateProof(checked.text, checked.dialect, why)
            continue
        observed = data.observed(number)
        levels = verdicts.verdicts(plan.evidence, observed)
        all_read = len(data.at) == chosen.total
        yield PredicateProof(
            checked.text,
            checked.dialect,
            planned=_plan_counts(plan),
            rows_true=int(observed.true.sum()) if all_read else None,
            native=native_rows.true.get(number),
            raised=int(observed.raised.sum()),
            lost=tuple(verdicts.lost(levels, observed, paths)),
            false_all=tuple(verdicts.false_all(levels, observed, paths)),
        )


def planned(chosen: Chosen, checked: CheckedPredicate) -> ScanPlan:
    """The plan as users get it, but with the files of pruned manifests too."""
    assert checked.predicate is not None  # noqa: S101 - the caller looked
    assert checked.options is not None  # noqa: S101 - both or neither
    try:
        return make_plan(chosen.snapshot, checked.predicate, checked.options)
    except CorruptFile:
        # A file that is not among the chosen ones is damaged.
        files = chosen.snapshot.files((), zone(checked.predicate.zone))
        gone = damaged(chosen.snapshot, files, list(range(files.count)))
        spared = without(chosen.snapshot, gone)
        return make_plan(spared, checked.predicate, checked.options)


def _plan_counts(plan: ScanPlan) -> PlanCounts:
    """The counts of a plan without the files of pruned manifests."""
    evidence = plan.evidence
    kept = evidence.judgement.kept
    above, of_file = evidence.manifest_level, evidence.files.manifest
    if above is not None and of_file is not None:
        kept = kept & above.verdicts.kept[of_file.to_numpy()]
    rows = rows_matched(evidence)
    inside, kept_rows = _row_groups_kept(evidence, kept)
    return PlanCounts(
        files_total=plan.summary.files_total,
        files_kept=int(kept.sum()),
        row_groups_total=plan.summary.row_groups_total,
        row_groups_kept=inside,
        rows_kept=kept_rows,
        at_least=rows.at_least,
        at_most=rows.at_most,
    )


def _row_groups_kept(evidence: Evidence, files: Flags) -> tuple[int | None, int | None]:
    """The number of kept row groups and of their rows; None if footers were not opened."""
    level = evidence.row_group_level
    if level is None or level.listed.unchecked:
        return None, None
    left = level.verdicts.kept & files[level.listed.owners.to_numpy()]
    return int(left.sum()), total(level.rows.filter(pa.array(left)))


def _sum(data: Data, name: str) -> int:
    return int(np.sum(data.table[name].to_numpy(), dtype=np.int64))


def _unchecked(chosen: Chosen, data: Data) -> Iterator[str]:
    if len(data.at) + len(chosen.unreadable) + len(data.unreadable) < chosen.total:
        read_files = len(data.at)
        yield f"{read_files} of {chosen.total} data files were read, by chance"
    yield from map(str, chosen.groups.unchecked)
