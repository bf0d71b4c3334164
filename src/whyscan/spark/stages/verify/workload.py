"""The predicates of a workload, table by table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.errors import WhyscanError
from whyscan.spark.errors import uncarried
from whyscan.spark.stages.verify.conditions import Condition
from whyscan.spark.stages.verify.result import Failure, Verification
from whyscan.spark.stages.verify.run import Settings, prove
from whyscan.tables import open_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import SparkSession

    from whyscan.spark.stages.verify.result import TableProof
    from whyscan.spark.stages.workload.query import Workload
    from whyscan.spark.tables import Source


def verify_workload(
    spark: SparkSession,
    found: Workload,
    tables: Iterable[Source],
    settings: Settings,
    sample: int | None = None,
) -> Verification:
    """Every predicate of a workload on its table, or the `sample` that ran most often."""
    from whyscan.spark.stages.workload.scans import workload_scans

    known = {table.name: table for table in tables}
    with uncarried():
        frame = workload_scans(spark, found, known.values(), timezone=settings.timezone)
        scans = frame.toArrow().to_pylist()
    failures = [Failure(_line(s["query"]), s["unparsed"]) for s in scans if s["unparsed"]]
    proofs: list[TableProof] = []
    for name, conditions in _by_table(scans, sample).items():
        try:
            source = known.get(name)
            uri, options = (name, {}) if source is None else (source.uri, source.options)
            snapshot = open_snapshot([uri], {}, options)
            proofs.append(prove(spark, snapshot, conditions, settings, name))
        except WhyscanError as error:
            failures.append(Failure(name, error.message))
    return Verification(tuple(proofs), tuple(failures))


def _by_table(
    scans: Sequence[Mapping[str, object]], sample: int | None
) -> dict[str, list[Condition]]:
    """The conditions of each table, those that ran most often first."""
    times: dict[tuple[str, Condition], int] = {}
    for scan in scans:
        if scan["unparsed"] or scan["table"] is None:
            continue
        asked = Condition(str(scan["predicate"]), str(scan["dialect"]))
        key = (str(scan["table"]), asked)
        times[key] = times.get(key, 0) + int(str(scan["times"]))
    ranked = sorted(times, key=lambda key: -times[key])
    found: dict[str, list[Condition]] = {}
    for table, condition in ranked[:sample]:
        found.setdefault(table, []).append(condition)
    return found


def _line(text: str) -> str:
    return " ".join(text.split())
