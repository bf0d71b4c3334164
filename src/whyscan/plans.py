"""The plan that `Table.plan` returns: a scan plan that can also read its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from whyscan.planning.plan.scan_plan import ScanPlan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


class Plan(ScanPlan, frozen=True):
    """The files and row groups that a predicate reads, with methods that read the matching rows."""

    @classmethod
    def of(cls, plan: ScanPlan) -> Self:
        return cls(*(getattr(plan, name) for name in ScanPlan.__struct_fields__))

    def to_batches(self, limit_rows: int | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the matching rows in batches, in no particular order.

        The memory needed depends on one batch, not on the table. Reading stops after `limit_rows`
        rows.
        """
        from whyscan.scan import read

        return read(self, limit_rows=limit_rows)

    def to_reader(self) -> pa.RecordBatchReader:
        """Return the matching rows as a stream with a schema."""
        from whyscan.scan.reader import to_reader

        return to_reader(self)

    def to_arrow(self) -> pa.Table:
        """Read all matching rows into one Arrow table."""
        return self.to_reader().read_all()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the matching rows as an Arrow stream, which DuckDB, Polars and others read."""
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def to_spark(self, spark: SparkSession, *, select: Sequence[str] | None = None) -> DataFrame:
        """Return the matching rows as a DataFrame.

        `select` None means the planned columns, or all columns if none were planned. Spark's own
        Parquet reader gets the list of files if it is proved to return the same rows. Otherwise
        whyscan reads them in Spark's tasks. `whyscan.spark.reader_of` returns which of the two
        readers is used.
        """
        from whyscan.spark.reading.frames import to_spark

        rows = to_spark(self, spark, select=select)
        return rows if self.options.limit is None else rows.limit(self.options.limit)
