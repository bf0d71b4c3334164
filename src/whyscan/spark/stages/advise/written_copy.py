"""Writes a copy of a table in another layout, by the statements that advice prints.

Only the folder of the copy is written. The table is read as `whyscan.spark.read` reads it.
"""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import UsageError
from whyscan.layouts.engine_statements import rewrite_of, spark_term
from whyscan.planning.plan.planner import make_plan
from whyscan.planning.plan.request import bind_request
from whyscan.spark.errors import uncarried
from whyscan.spark.reading.frames import to_spark
from whyscan.tables import open_snapshot
from whyscan.terms import PlanTerms
from whyscan.tree import zones

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import SparkSession

    from whyscan.layouts.engine_statements import LayoutRewrite
    from whyscan.layouts.snapshot import HypotheticalSnapshot
    from whyscan.tables.snapshot import Snapshot

_ICEBERG_CATALOG = "org.apache.iceberg.spark.SparkCatalog"
_SEED = 7


class WrittenCopy(Struct, frozen=True):
    """A copy of a table in a layout, and the statements that gave it the layout."""

    snapshot: Snapshot
    statements: tuple[str, ...]


def empty_folder(folder: str, table: str) -> Path:
    """The folder for a copy; an error if it has files, or if it is inside the table."""
    if "://" in folder:
        raise UsageError(f"{folder} is no folder of this machine", hint="--to /tmp/copy")
    path = Path(folder).resolve()
    if "://" not in table and path.is_relative_to(Path(table).resolve()):
        raise UsageError(f"{folder} is inside the table", hint="name a folder of its own")
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UsageError(f"{folder} is not empty", hint="name a folder that does not exist")
    return path


def written_copy(
    spark: SparkSession, layout: HypotheticalSnapshot, folder: Path, fraction: float
) -> WrittenCopy:
    """Write `fraction` of the rows of a table to a folder, and give them the layout there."""
    view = f"whyscan_rows_{secrets.token_hex(4)}"
    zone = spark.conf.get("spark.sql.session.timeZone") or "UTC"
    plan = make_plan(
        layout.base, *bind_request(layout.base, "true", None, PlanTerms(timezone=zone))
    )
    frame = to_spark(plan, spark)
    rows = frame if fraction == 1 else frame.sample(fraction, seed=_SEED)
    folder.mkdir(parents=True, exist_ok=True)
    with uncarried(), _settings_restored(spark):
        rows.createOrReplaceTempView(view)
        try:
            match layout.base.format:
                case "delta":
                    return _delta(spark, layout, folder, view, fraction)
                case "iceberg":
                    return _iceberg(spark, layout, folder, view, fraction)
                case _:
                    return _files(spark, layout, folder, view, fraction)
        finally:
            spark.catalog.dropTempView(view)


def _delta(
    spark: SparkSession, layout: HypotheticalSnapshot, folder: Path, view: str, fraction: float
) -> WrittenCopy:
    copy = folder / "copy"
    partitions = [term.path[0] for term in layout.layout.today]
    spark.table(view).write.format("delta").partitionBy(*partitions).save(str(copy))
    rewrite = _scaled(rewrite_of(layout, ("delta", str(copy))), _opened(copy), fraction)
    statements = rewrite.statements().spark
    _run(spark, statements)
    copied = any(statement.startswith("CREATE TABLE") for statement in statements)
    place = Path(rewrite.new_name[-1]) if copied else copy
    return WrittenCopy(_opened(place), statements)


def _iceberg(
    spark: SparkSession, layout: HypotheticalSnapshot, folder: Path, view: str, fraction: float
) -> WrittenCopy:
    """Spark has a catalog for the folder, of a name that no other run has."""
    catalog = f"whyscan_{secrets.token_hex(4)}"
    spark.conf.set(f"spark.sql.catalog.{catalog}", _ICEBERG_CATALOG)
    spark.conf.set(f"spark.sql.catalog.{catalog}.type", "hadoop")
    spark.conf.set(f"spark.sql.catalog.{catalog}.warehouse", str(folder))
    name = (catalog, "layout", "copy")
    terms = ", ".join(spark_term(term) for term in layout.layout.today)
    partitioned = f" PARTITIONED BY ({terms})" if terms else ""
    rows = f"SELECT * FROM {view}"  # noqa: S608 - a view of our own
    spark.sql(f"CREATE TABLE {'.'.join(name)} USING iceberg{partitioned} AS {rows}")
    place = folder / "layout" / "copy"
    rewrite = _scaled(rewrite_of(layout, name), _opened(place), fraction)
    statements = rewrite.statements().spark
    _run(spark, statements)
    return WrittenCopy(_opened(place), statements)


def _files(
    spark: SparkSession, layout: HypotheticalSnapshot, folder: Path, view: str, fraction: float
) -> WrittenCopy:
    """A folder of Parquet files: what CREATE TABLE … AS SELECT writes, without a catalog."""
    copy = folder / "copy"
    rewrite = rewrite_of(layout, (view,))
    rewrite = replace(rewrite, file_rows=max(1, round(rewrite.file_rows * fraction)))
    statements = rewrite.statements().spark
    if not statements:
        raise UsageError("Spark does not write this layout", hint="sort by the columns")
    *settings, create = statements
    _run(spark, settings)
    partitions = [term.path[0] for term in rewrite.partitions]
    spark.sql(rewrite.rows()).write.partitionBy(*partitions).parquet(str(copy))
    return WrittenCopy(_opened(copy), (*settings, create))


def _scaled(rewrite: LayoutRewrite, copy: Snapshot, fraction: float) -> LayoutRewrite:
    """The rewrite of the copy: as many files as in the layout, whatever the copy's bytes are."""
    sizes = copy.files((), zones.zone("UTC")).bytes.to_pylist()
    total = sum(size or 0 for size in sizes)
    return replace(
        rewrite,
        file_bytes=max(1, total // max(1, rewrite.files)),
        file_rows=max(1, round(rewrite.file_rows * fraction)),
    )


def _opened(folder: Path) -> Snapshot:
    return open_snapshot([str(folder)], {}, {})


def _run(spark: SparkSession, statements: Sequence[str]) -> None:
    for statement in statements:
        spark.sql(statement).collect()


@contextmanager
def _settings_restored(spark: SparkSession) -> Iterator[None]:
    """Leave the session with the settings that it had."""
    before = {row["key"]: row["value"] for row in spark.sql("SET").collect()}
    try:
        yield
    finally:
        for row in spark.sql("SET").collect():
            key = row["key"]
            if key not in before:
                spark.conf.unset(key)
            elif before[key] != row["value"]:
                spark.conf.set(key, before[key])
