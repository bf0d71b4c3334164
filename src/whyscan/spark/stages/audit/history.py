"""The history of audits: one row a query and table, and who kept less of a table before.

No row holds a query's text: its shape has no values, and a digest tells two texts apart.
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
from whyscan.spark.stages.audit.totals import place

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
_ABSENT = frozenset(
    {
        "DELTA_PATH_DOES_NOT_EXIST",
        "DELTA_TABLE_NOT_FOUND",
        "PATH_NOT_FOUND",
        "TABLE_OR_VIEW_NOT_FOUND",
        "UNABLE_TO_INFER_SCHEMA",
    }
)
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
        ("work", pa.string()),
        ("findings", pa.list_(pa.string())),
    ]
)
"""One row a scan. `ratio` is the share of the table's bytes that is kept, else of its files."""


class Earlier(Struct, frozen=True):
    """A run in which a scan of a shape kept less than today; `same`: of the same text."""

    run: str
    at: datetime
    snapshot: int | None
    ratio: float
    same: bool


def digest(sql: str) -> str:
    """What tells two texts apart, and tells nothing of them; a signature may differ."""
    return sha256(mask_credentials(sql).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def summaries(audit: Audit) -> pa.Table:
    """One row for each scan of each query that was audited."""
    rows = [
        _row(audit, query, at, table)
        for query in audit.queries
        for at, table in enumerate(query.tables)
        if table.summary is not None
    ]
    return pa.Table.from_pylist(rows, SCHEMA)


def _row(audit: Audit, query: QueryLine, at: int, table: AuditedScan) -> dict[str, object]:
    counts = {name: getattr(table.summary, name) for name in _COUNTS}
    vain, work = table.in_vain, table.work
    return {
        "run": audit.run.id,
        "at": audit.run.at,
        "shape": mask_credentials(query.shape),
        "digest": digest(query.sql),
        "scan": at,
        "table": mask_credentials(table.name),
        "uri": place(table.uri),  # Of a table that was opened: an address with credentials is not.
        "format": table.format,
        "snapshot": None if table.version is None else str(table.version),
        "times": query.times,
        **counts,
        "ratio": table.ratio,
        "bytes_read": table.bytes_read,
        "bytes_needed": table.bytes_needed,
        "wasted": None if vain is None else vain * query.times,
        "work": None if work is None else ", ".join(work.columns),
        "findings": [finding.code.value for finding in table.findings],
    }


def append(spark: SparkSession, audit: Audit, where: str, form: str) -> None:
    """This run's rows behind those of the runs before."""
    rows = summaries(audit)
    if rows.num_rows:
        with uncarried():
            frame = spark.createDataFrame(rows)
        stage_output.append(frame, where, form)


def opened(spark: SparkSession, where: str, form: str) -> DataFrame | None:
    """The rows of the runs before, None for the first run; UsageError for what is no history."""
    stage_output.refuse_another(spark, where, stage_output.form_named(form))
    try:
        before = stage_output.read(spark, where, form)
        with uncarried():
            # Over Spark Connect nobody has looked for it before this.
            known = before.columns
    except WhyscanError as error:
        if _is_first(error):
            return None
        raise
    if not set(SCHEMA.names) <= set(known):
        raise UsageError(
            f"{where} holds something else than a history of audits",
            hint="name another place for it",
        )
    return before


def earlier(
    spark: SparkSession, audit: Audit, before: DataFrame
) -> dict[tuple[str, str, int], Earlier]:
    """By digest, address and scan: the last run in which as much less was kept, if there is one.

    The same text is compared with itself; a text that is new, with the other texts of its shape.
    """
    today = summaries(audit)
    if not today.num_rows:
        return {}
    with uncarried():
        return dict(_found(spark, before, today, audit.run.threshold))


def _is_first(error: WhyscanError) -> bool:
    """Whether there is no history yet: Spark has a word for it in each format."""
    condition = getattr(error.__cause__, "getCondition", None)
    return condition is not None and condition() in _ABSENT


def _found(
    spark: SparkSession, before: DataFrame, today: pa.Table, threshold: float
) -> Iterator[tuple[tuple[str, str, int], Earlier]]:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    columns = ["shape", "digest", "scan", "uri", "ratio"]
    now = spark.createDataFrame(today.select(columns)).withColumnRenamed("ratio", "now")
    of_shape = ["shape", "uri", "scan"]
    texts = before.groupBy("run", "at", "snapshot", *of_shape, "digest").agg(
        F.avg("ratio").alias("then")
    )
    shapes = texts.groupBy("run", "at", "snapshot", *of_shape).agg(F.avg("then").alias("then"))
    known = now.join(texts, [*of_shape, "digest"]).withColumn("same", F.lit(True))  # noqa: FBT003
    new = now.join(texts, [*of_shape, "digest"], "left_anti").join(shapes, of_shape)
    names = ["digest", "uri", "scan", "now", "run", "at", "snapshot", "then", "same"]
    both = known.select(names).union(new.withColumn("same", F.lit(False)).select(names))  # noqa: FBT003
    worse = both.where(F.col("now") - F.col("then") > threshold)
    last = _last(F.struct("run", "at", "snapshot", "then", "same"))
    for row in worse.groupBy("digest", "uri", "scan").agg(last).collect():
        found = row["last"]
        snapshot = None if found["snapshot"] is None else int(found["snapshot"])
        at = _utc(found["at"])
        then = Earlier(found["run"], at, snapshot, found["then"], found["same"])
        yield (row["digest"], row["uri"], row["scan"]), then


def _last(struct: Column) -> Column:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    return F.max_by(struct, F.col("at")).alias("last")


def _utc(at: datetime) -> datetime:
    """Spark gives a moment as the wall clock of this machine."""
    from datetime import UTC

    return at.astimezone(UTC)
