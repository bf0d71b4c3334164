"""Write and read the output table of a stage, as Parquet, Delta or Iceberg.

Parquet and Delta are a folder. Iceberg is a table in a catalog of the session, `lake.db.name`. Each
table has the column `format_version`. A write that fails leaves the table as it was.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from whyscan.errors import UsageError, WhyscanError
from whyscan.masking import mask_credentials
from whyscan.spark.errors import uncarried
from whyscan.spark.jobs import described
from whyscan.spark.versions import condition_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.readwriter import DataFrameWriterV2


FORMAT_VERSION = 1
"""The version of the columns that docs/tables.md describes; a changed meaning gets a new one."""
VERSION_COLUMN = "format_version"
_MODES = ("append", "replace")


class TableFormat(StrEnum):
    """The formats that a stage can write."""

    PARQUET = "parquet"
    DELTA = "delta"
    ICEBERG = "iceberg"


def format_named(name: str) -> TableFormat:
    """The format of a name; UsageError for an unknown name."""
    try:
        return TableFormat(name.lower())
    except ValueError:
        formats = ", ".join(TableFormat)
        raise UsageError(
            f"a stage cannot be written as {name!r}", hint=f"one of {formats}"
        ) from None


def write_table(
    frame: DataFrame, place: str, form: str = "parquet", *, mode: str = "append"
) -> None:
    """Append the rows of a stage to a table, or replace the table by them; make it if it is new.

    `mode` is `append` or `replace`. `form` is `parquet`, `delta` or `iceberg`.
    """
    chosen = format_named(form)
    if mode not in _MODES:
        raise UsageError(f"a table cannot be written by {mode!r}", hint="append or replace")
    with described(frame.sparkSession, "output", f"{mode} {mask_credentials(place)}"):
        _write(frame, place, chosen, mode)


def _write(frame: DataFrame, place: str, chosen: TableFormat, mode: str) -> None:
    refuse_another(frame.sparkSession, place, chosen)
    is_new = not _is_of_this_version(frame.sparkSession, place, chosen)
    if chosen is TableFormat.PARQUET and (is_new or mode == "replace") and frame.isEmpty():
        # No rows make no partition, and so no file with the columns.
        with uncarried():
            folder = f"{place.rstrip('/')}/{VERSION_COLUMN}={FORMAT_VERSION}"
            frame.write.mode("overwrite").parquet(folder)
    elif mode == "append":
        append(frame, place, chosen)
    else:
        _replace(_with_version(frame), place, chosen)


def append(
    frame: DataFrame, place: str, form: str = "parquet", *, partitioned_by: Sequence[str] = ()
) -> None:
    """Add the rows to a table; make the table if there is none."""
    chosen = format_named(form)
    with uncarried():
        if not partitioned_by:
            frame = _with_version(frame)
        if chosen is not TableFormat.ICEBERG:
            writer = frame.write.format(chosen).mode("append")
            writer.partitionBy(*partitioned_by or _partitions(chosen)).save(place)
            return
        new_table = _iceberg(frame, place, partitioned_by)
        if frame.sparkSession.catalog.tableExists(place):
            frame.writeTo(place).append()
        else:
            new_table.create()


def _replace(frame: DataFrame, place: str, form: TableFormat) -> None:
    with uncarried():
        if form is TableFormat.ICEBERG:
            _iceberg(frame, place, ()).createOrReplace()
            return
        writer = frame.write.format(form).mode("overwrite")
        if form is TableFormat.DELTA:
            writer.option("overwriteSchema", "true").save(place)
            return
        # Spark writes the new files of a partition elsewhere, and then exchanges its folder. It
        # empties the folder of a whole table before it writes.
        writer = writer.option("partitionOverwriteMode", "dynamic")
        writer.partitionBy(*_partitions(form)).save(place)


def _with_version(frame: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    return frame.withColumn(VERSION_COLUMN, F.lit(FORMAT_VERSION))


def _partitions(form: TableFormat) -> tuple[str, ...]:
    """Parquet has one partition, which a replacement exchanges as a whole."""
    return (VERSION_COLUMN,) if form is TableFormat.PARQUET else ()


def _is_of_this_version(spark: SparkSession, place: str, form: TableFormat) -> bool:
    """Whether a stage wrote the table; False if there is none, UsageError if it is another one."""
    try:
        before = read(spark, place, form)
        with uncarried():
            ours = VERSION_COLUMN in before.columns
            versions = before.select(VERSION_COLUMN).distinct().collect() if ours else ()
    except WhyscanError as error:
        if is_absent(error):
            return False
        raise
    hint = "name another place"
    if not ours:
        raise UsageError(f"{place} holds a table that whyscan did not write", hint=hint)
    if other := {row[0] for row in versions} - {FORMAT_VERSION}:
        written = ", ".join(map(str, sorted(other)))
        raise UsageError(
            f"{place} has format version {written}; this whyscan writes {FORMAT_VERSION}", hint=hint
        )
    return True


def read(spark: SparkSession, place: str, form: str = "parquet") -> DataFrame:
    """The table that a stage wrote, as a DataFrame."""
    chosen = format_named(form)
    with uncarried():
        if chosen is TableFormat.ICEBERG:
            return spark.table(place)
        return spark.read.format(chosen).load(place)


def refuse_another(spark: SparkSession, place: str, form: TableFormat) -> None:
    """Raise UsageError if a folder has a table of the other format, Parquet or Delta.

    Parquet files that Spark adds to the folder of a Delta table are in no version of it, and a new
    Delta log in the folder of a Parquet table does not list the files that are there.
    """
    if form is TableFormat.ICEBERG:
        return
    is_delta = _is_there(spark, f"{place.rstrip('/')}/_delta_log", "binaryFile")
    if form is TableFormat.PARQUET and is_delta:
        raise UsageError(f"{place} is a Delta table", hint="say that its format is delta")
    if form is TableFormat.DELTA and not is_delta and _is_there(spark, place, "parquet"):
        raise UsageError(f"{place} is no Delta table", hint="say that its format is parquet")


def _is_there(spark: SparkSession, place: str, form: str) -> bool:
    try:
        with uncarried():
            # Spark Connect looks for the folder only when the columns are needed.
            return bool(spark.read.format(form).load(place).columns)
    except WhyscanError as error:
        if is_absent(error):
            return False
        raise


def is_absent(error: BaseException) -> bool:
    """Whether an error, or its cause, is Spark's condition for a table that is not there."""
    from pyspark.errors import PySparkException

    return any(
        isinstance(each, PySparkException) and condition_of(each) in _ABSENT
        for each in (error, error.__cause__)
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


def _iceberg(frame: DataFrame, place: str, partitioned_by: Sequence[str]) -> DataFrameWriterV2:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    if "/" in place or "." not in place:
        raise UsageError(
            f"{place!r} names no table of a catalog",
            hint="an Iceberg table is named by the session's catalog: lake.db.name",
        )
    writer = frame.writeTo(place).using("iceberg")
    return writer.partitionedBy(*map(F.col, partitioned_by)) if partitioned_by else writer
