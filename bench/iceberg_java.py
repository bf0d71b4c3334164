"""100,000 Iceberg files planned in a process that is warm, against Iceberg's Java library.

A table that stays open keeps its decoded columns with us, and with Java, whose manifest cache is
switched on, the bytes of its manifests. A table that is opened anew keeps nothing with either.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any

from iceberg_tables import wide
from measure import Ratio, compare
from spark_session import session

import whyscan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

PEER = "Iceberg-Java"
COLUMN = "c3"
LEAST = (998_000, 997_000)
WARM_UP = 20
"""So many plans it takes until the JVM has compiled what it runs."""


def measurements(folder: Path) -> Iterator[Ratio]:
    """The next question to an open table, and a table opened for one question."""
    place = wide(folder / "wide").folder
    open_table = whyscan.open(place)
    with session() as spark:
        java = _Java(spark, place)
        peer_table = java.table(cached=True)
        yield _warm(
            "Iceberg, 100,000 files, open and warm",
            lambda least: _kept(open_table, least),
            lambda least: java.kept(peer_table, least),
        )
        yield _warm(
            "Iceberg, 100,000 files, opened anew, warm",
            lambda least: _kept(whyscan.open(place), least),
            lambda least: java.kept(java.table(cached=False), least),
        )


def _warm(work: str, ours: Callable[[int], int], theirs: Callable[[int], int]) -> Ratio:
    for least in LEAST * (WARM_UP // len(LEAST)):
        assert ours(least) == theirs(least)
    our_turn, their_turn = cycle(LEAST), cycle(LEAST)
    return compare(work, PEER, 1, lambda: ours(next(our_turn)), lambda: theirs(next(their_turn)))


def _kept(table: whyscan.Table, least: int) -> int:
    return table.plan(f"{COLUMN} > {least}", depth="files").summary.files_kept


@dataclass(frozen=True, slots=True)
class _Java:
    """Iceberg's own library in Spark's JVM. Files are counted there: only a number comes back."""

    spark: SparkSession
    place: Path

    @property
    def jvm(self) -> Any:
        return self.spark.sparkContext._jvm  # noqa: SLF001 - the way to Java from PySpark

    def table(self, *, cached: bool) -> Any:
        """The table by its metadata file, with the library's manifest cache on or off."""
        iceberg = self.jvm.org.apache.iceberg
        context = self.spark.sparkContext._jsc  # noqa: SLF001
        files = iceberg.hadoop.HadoopFileIO(context.hadoopConfiguration())
        files.initialize({"io.manifest.cache-enabled": str(cached).lower()})
        metadata = str(self.place / "metadata" / "v1.metadata.json")
        return iceberg.BaseTable(iceberg.StaticTableOperations(metadata, files), "wide")

    def kept(self, table: Any, least: int) -> int:
        iceberg = self.jvm.org.apache.iceberg
        value = self.jvm.java.lang.Long.valueOf(least)
        bound = iceberg.expressions.Expressions.greaterThan(COLUMN, value)
        files = table.newScan().filter(bound).planFiles()
        count: int = iceberg.relocated.com.google.common.collect.Iterables.size(files)
        files.close()
        return count
