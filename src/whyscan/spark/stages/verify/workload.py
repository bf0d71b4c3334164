"""Verify the predicates of a workload, table by table."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from whyscan.errors import WhyscanError
from whyscan.spark.jobs import ran
from whyscan.spark.stages.verify.conditions import PredicateText
from whyscan.spark.stages.verify.result import UncheckedTable, Verification
from whyscan.spark.stages.verify.run import VerifySettings, prove
from whyscan.spark.versions import table_of
from whyscan.tables import open_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import SparkSession

    from whyscan.spark.stages.verify.result import TableProof
    from whyscan.spark.stages.workload.query import Workload
    from whyscan.spark.tables import NamedTable


def verify_workload(
    spark: SparkSession,
    workload: Workload,
    tables: Iterable[NamedTable],
    settings: VerifySettings,
    sample: int | None = None,
) -> Verification:
    """Verify every predicate of a workload on its table, or the `sample` with the most runs."""
    from whyscan.spark.stages.workload.scans import workload_scans

    tables_by_name = {table.name: table for table in tables}
    frame = workload_scans(spark, workload, tables_by_name.values(), timezone=settings.timezone)
    scans = ran(partial(table_of, frame)).to_pylist()
    failures = [UncheckedTable(_line(s["query"]), s["unparsed"]) for s in scans if s["unparsed"]]
    proofs: list[TableProof] = []
    for name, conditions in _by_table(scans, sample).items():
        try:
            source = tables_by_name.get(name)
            uri, options = (name, {}) if source is None else (source.uri, source.options)
            snapshot = open_snapshot([uri], {}, options)
            proofs.append(prove(spark, snapshot, conditions, settings, name))
        except WhyscanError as error:
            failures.append(UncheckedTable(name, error.message))
    return Verification(tuple(proofs), tuple(failures))


def _by_table(
    scans: Sequence[Mapping[str, object]], sample: int | None
) -> dict[str, list[PredicateText]]:
    """The conditions of each table; those with the most runs first."""
    times: dict[tuple[str, PredicateText], int] = {}
    for scan in scans:
        if scan["unparsed"] or scan["table"] is None:
            continue
        predicate_text = PredicateText(str(scan["predicate"]), str(scan["dialect"]))
        key = (str(scan["table"]), predicate_text)
        times[key] = times.get(key, 0) + int(str(scan["times"]))
    ranked = sorted(times, key=lambda key: -times[key])
    conditions: dict[str, list[PredicateText]] = {}
    for table, condition in ranked[:sample]:
        conditions.setdefault(table, []).append(condition)
    return conditions


def _line(text: str) -> str:
    return " ".join(text.split())
