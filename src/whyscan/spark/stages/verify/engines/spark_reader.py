"""Run predicates with Spark's reader for Delta, Iceberg or Parquet, and read its metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whyscan.spark.jobs import spark_errors_as
from whyscan.spark.stages.verify.engines.engine import EngineAnswer, EngineRefusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from whyscan.spark.stages.verify.engines.engine import Target


class SparkReader:
    """Spark's reader of a table in the running session."""

    dialect = "spark"

    def __init__(self, rows: DataFrame, kind: str) -> None:
        self._rows = rows
        self._kind = kind

    def ask(self, sql: str) -> EngineAnswer:
        from pyspark.sql import functions as f

        with spark_errors_as(EngineRefusal):
            # sum and not count: Delta and Iceberg answer count(*) from metadata.
            frame = self._rows.where(f"({sql}\n)").agg(f.sum(f.lit(1)).alias("rows"))
            rows = frame.collect()[0]["rows"] or 0
        return self._answer(rows, scan_metrics(frame))

    def _answer(self, rows: int, scan: dict[str, int] | None) -> EngineAnswer:
        if scan is None:
            return EngineAnswer(rows)
        if self._kind == "iceberg":
            files = scan.get("resultDataFiles")
        elif self._kind == "delta":
            files = scan.get("numFiles")
        else:
            # Spark's number of files is before footers: tasks read the footers later.
            files = None
        return EngineAnswer(rows, files=files, rows_read=scan.get("numOutputRows"))


def open_reader(target: Target) -> SparkReader:
    """Spark's reader of the table; EngineRefusal if Spark cannot read the table."""
    if target.rows is None:
        raise EngineRefusal(target.why or "Spark cannot read it")
    return SparkReader(target.rows, target.snapshot.format)


def scan_metrics(frame: DataFrame) -> dict[str, int] | None:
    """The metrics of the scans of a plan that has run; None on Spark Connect.

    A plan without a scan read nothing: its filter is always false.
    """
    plan = getattr(frame, "_jdf", None)
    if plan is None:
        return None
    totals: dict[str, int] = {}
    for node in _nodes(plan.queryExecution().executedPlan()):
        if "Scan" not in node.nodeName():
            continue
        metrics = node.metrics().iterator()
        while metrics.hasNext():
            pair = metrics.next()
            totals[pair._1()] = totals.get(pair._1(), 0) + int(pair._2().value())  # noqa: SLF001 - Scala
    names = ("numFiles", "resultDataFiles", "numOutputRows")
    return totals or dict.fromkeys(names, 0)


def _nodes(plan: Any) -> Iterator[Any]:
    """The nodes of a plan, also those inside adaptive nodes."""
    name = plan.getClass().getSimpleName()
    if name == "AdaptiveSparkPlanExec":
        yield from _nodes(plan.executedPlan())
        return
    if name.endswith("QueryStageExec"):
        yield from _nodes(plan.plan())
        return
    yield plan
    children = plan.children()
    for at in range(children.size()):
        yield from _nodes(children.apply(at))
