"""A plan that reads itself: what the facade hands out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from whyscan.planning.plan.scan_plan import ScanPlan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


class Plan(ScanPlan, frozen=True):
    """What a predicate reads of a table, and the rows themselves."""

    @classmethod
    def of(cls, plan: ScanPlan) -> Self:
        return cls(*(getattr(plan, name) for name in ScanPlan.__struct_fields__))

    def to_batches(self, limit_rows: int | None = None) -> Iterator[pa.RecordBatch]:
        """The matching rows as they are read, in no order that is promised.

        Memory follows a batch, not the table. After `limit_rows` rows nothing more is read.
        """
        from whyscan.scan import read

        return read(self, limit_rows=limit_rows)

    def to_reader(self) -> pa.RecordBatchReader:
        """The matching rows as a stream that knows its schema."""
        from whyscan.scan.reader import to_reader

        return to_reader(self)

    def to_arrow(self) -> pa.Table:
        """The matching rows as one table."""
        return self.to_reader().read_all()

    def to_spark(self, spark: SparkSession, columns: Sequence[str] | None = None) -> DataFrame:
        """The matching rows as a DataFrame; `columns` None are those that were planned, or all.

        Spark's own Parquet reader gets the list of files where that is sure to give the same
        rows, else the data source `whyscan` reads them: `whyscan.spark.reader_of` says which.
        """
        from whyscan.spark.reading.frames import to_spark

        return to_spark(self, spark, columns)
