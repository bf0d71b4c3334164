"""The history of audits: one row per scan, and the earlier runs that kept less of a table.

No row has the text of a query: the shape has no literals, and a digest identifies the text.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct

from whyscan.errors import UsageError, WhyscanError
from whyscan.masking import mask_credentials
from whyscan.spark import stage_output
from whyscan.spark.errors import uncarried
from whyscan.spark.jobs import described
from whyscan.spark.stages.audit.spending import EarlierRun
from whyscan.spark.tables import canonical_uri
from whyscan.spark.versions import frame_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from pyspark.sql import Column, DataFrame, SparkSession

    from whyscan.spark.stages.audit.report import Audit, AuditedScan, QueryLine

_COUNTS = (
    "manifests_total",
    "manifests_kept",
    "files_total",
    "files_kept",
    "row_groups_total",
    "row_groups_kept",
    "bytes_total",
    "bytes_kept",
    "rows_total",
    "rows_kept",
)
MOST_RUNS = 12
SCHEMA = pa.schema(
    [
        ("run", pa.string()),
        ("at", pa.timestamp("us", "UTC")),
        ("shape", pa.string()),
        ("digest", pa.string()),
        ("scan", pa.int32()),
        ("table", pa.string()),
        ("uri", pa.string()),
        ("format", pa.string()),
        # Text: some writers number snapshots beyond 2^63.
        ("snapshot", pa.string()),
        ("times", pa.int64()),
        *((name, pa.int64()) for name in _COUNTS),
        ("ratio", pa.float64()),
        ("bytes_read", pa.int64()),
        ("bytes_needed", pa.int64()),
        ("wasted", pa.int64()),
        ("layout_bytes", pa.int64()),
        ("work", pa.string()),
        ("findings", pa.list_(pa.string())),
    ]
)
"""One row per scan. `ratio` is the kept share of the table's bytes, or of its files."""


class Earlier(Struct, frozen=True):
    """An earlier run in which a scan of a shape kept less than today; `same`: the same text."""

    run: str
    at: datetime
    snapshot: int | None
    ratio: float
    same: bool


def digest(sql: str) -> str:
    """A digest that identifies a query text without its credentials and does not reveal it."""
    return sha256(mask_credentials(sql).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def summaries(audit: Audit) -> pa.Table:
    """One row for each scan of each audited query."""
    rows = [
        _row(audit, query, at, table)
        for query in audit.queries
        for at, table in enumerate(query.tables)
    ]
    return pa.Table.from_pylist(rows, SCHEMA)


def _row(audit: Audit, query: QueryLine, at: int, table: AuditedScan) -> dict[str, object]:
    report, work = table.scan.report, table.work
    wasted, layout = table.wasted_per_run, table.layout_bytes
    counts = {name: getattr(report.summary, name) for name in _COUNTS}
    return {
        "run": audit.run.id,
        "at": audit.run.at,
        "shape": mask_credentials(query.shape),
        "digest": digest(query.sql),
        "scan": at,
        "table": mask_credentials(table.name),
        "uri": canonical_uri(table.uri),  # A table at an address with credentials is never opened.
        "format": report.table.format,
        "snapshot": None if report.table.version is None else str(report.table.version),
        "times": query.times,
        **counts,
        "ratio": table.ratio,
        "bytes_read": table.bytes_read,
        "bytes_needed": table.bytes_needed,
        "wasted": None if wasted is None else wasted * query.times,
        "layout_bytes": None if layout is None else layout * query.times,
        "work": None if work is None else ", ".join(work.columns),
        "findings": [finding.code.value for finding in report.findings],
    }


def append(spark: SparkSession, audit: Audit, where: str, form: str) -> None:
    """Append the rows of this run to the history."""
    rows = summaries(audit)
    if rows.num_rows:
        with uncarried():
            # One file: if two runs write at once, each is in the history as a whole or not at all.
            frame = frame_of(spark, rows).coalesce(1)
        with described(spark, "output", f"append {mask_credentials(where)}"):
            stage_output.append(frame, where, form)


def opened(spark: SparkSession, where: str, form: str) -> DataFrame | None:
    """The rows of earlier runs, None for the first run; UsageError if it is no history."""
    stage_output.refuse_another(spark, where, stage_output.format_named(form))
    try:
        before = stage_output.read(spark, where, form)
        with uncarried():
            # Spark Connect looks for the table only when its columns are read.
            columns = before.columns
    except WhyscanError as error:
        if stage_output.is_absent(error):
            return None
        raise
    if not set(SCHEMA.names) <= set(columns):
        raise UsageError(
            f"{where} holds something else than a history of audits",
            hint="name another place for it",
        )
    return before


def trend(before: DataFrame) -> tuple[EarlierRun, ...]:
    """The sums of the last runs, the newest first."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    with uncarried():
        sums = before.groupBy("run", "at").agg(
            F.sum(F.col("bytes_read") * F.col("times")).alias("bytes_read"),
            F.sum("wasted").alias("wasted"),
            F.sum("layout_bytes").alias("layout_bytes"),
        )
        rows = sums.orderBy(F.col("at").desc()).limit(MOST_RUNS).collect()
    return tuple(EarlierRun(**{**row.asDict(), "at": _utc(row["at"])}) for row in rows)


def earlier(
    spark: SparkSession, audit: Audit, before: DataFrame
) -> dict[tuple[str, str, int], Earlier]:
    """The last run that kept less by the threshold, by digest, address and number of the scan.

    A text is compared with itself; a new text is compared with the other texts of its shape.
    """
    today = summaries(audit)
    if not today.num_rows:
        return {}
    with uncarried():
        return dict(_earlier_runs(spark, before, today, audit.run.threshold))


def _earlier_runs(
    spark: SparkSession, before: DataFrame, today: pa.Table, threshold: float
) -> Iterator[tuple[tuple[str, str, int], Earlier]]:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    columns = ["shape", "digest", "scan", "uri", "ratio"]
    now = frame_of(spark, today.select(columns)).withColumnRenamed("ratio", "now")
    of_shape = ["shape", "uri", "scan"]
    texts = before.groupBy("run", "at", "snapshot", *of_shape, "digest").agg(
        F.avg("ratio").alias("then")
    )
    shapes = texts.groupBy("run", "at", "snapshot", *of_shape).agg(F.avg("then").alias("then"))
    same_text = now.join(texts, [*of_shape, "digest"]).withColumn("same", F.lit(True))  # noqa: FBT003
    other_text = now.join(texts, [*of_shape, "digest"], "left_anti").join(shapes, of_shape)
    names = ["digest", "uri", "scan", "now", "run", "at", "snapshot", "then", "same"]
    both = same_text.select(names).union(other_text.withColumn("same", F.lit(False)).select(names))  # noqa: FBT003
    worse = both.where(F.col("now") - F.col("then") > threshold)
    last = _last(F.struct("run", "at", "snapshot", "then", "same"))
    for row in worse.groupBy("digest", "uri", "scan").agg(last).collect():
        last_run = row["last"]
        snapshot = None if last_run["snapshot"] is None else int(last_run["snapshot"])
        at = _utc(last_run["at"])
        then = Earlier(last_run["run"], at, snapshot, last_run["then"], last_run["same"])
        yield (row["digest"], row["uri"], row["scan"]), then


def _last(struct: Column) -> Column:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    return F.max_by(struct, F.col("at")).alias("last")


def _utc(at: datetime) -> datetime:
    """A timestamp of Spark, which is in the local time of this machine, in UTC."""
    from datetime import UTC

    return at.astimezone(UTC)
