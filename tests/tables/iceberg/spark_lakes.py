"""Tables that Spark writes with Iceberg: each a way of laying out or changing one set of rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions

from tables.iceberg.pyiceberg_lakes import rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

COLUMNS = """
    i INT, n BIGINT, f FLOAT, x DOUBLE, d DECIMAL(9,2), big DECIMAL(38,10), day DATE,
    at TIMESTAMP_NTZ, moment TIMESTAMP, s STRING, raw BINARY, yes BOOLEAN, `in` STRUCT<inner: INT>,
    `dotted.name` INT
"""
# A row group every ten rows.
SMALL_GROUPS = {
    "write.parquet.row-group-size-bytes": "1",
    "write.parquet.row-group-check-min-record-count": "10",
    "write.parquet.row-group-check-max-record-count": "10",
}
MERGE_ON_READ = {"write.delete.mode": "merge-on-read", "write.update.mode": "merge-on-read"}
ROWS = 40
FEW = 12


@dataclass(frozen=True)
class Lake:
    """A table as Spark names it; `selector` is `branch_…` or `tag_…`, empty for main."""

    spark: SparkSession
    name: str
    selector: str = ""

    @property
    def ref(self) -> str | None:
        return self.selector.partition("_")[2] or None

    @property
    def selected_name(self) -> str:
        """The name of what is asked."""
        return f"{self.name}.{self.selector}" if self.selector else self.name

    @property
    def folder(self) -> Path:
        return Path(self.java.location().removeprefix("file:"))

    @property
    def java(self) -> Any:
        """Iceberg's own table, as it is now."""
        table = self.spark._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(
            self.spark._jsparkSession, self.name
        )
        table.refresh()
        return table

    def live(self) -> DataFrame:
        """The rows that are not deleted, with the file and the position of each."""
        return self.spark.sql(f"SELECT *, _file, _pos FROM {self.selected_name}")

    def sql(self, text: str) -> None:
        """A statement about `{t}`."""
        self.spark.sql(text.format(t=self.name))

    def append(
        self, seed: int, files: int = 1, *, count: int = ROWS, branch: str = "", **changed: str
    ) -> None:
        """Rows of their own, sorted into files; `changed` are columns to compute otherwise."""
        drawn = rows(seed, count)
        drawn = drawn.append_column("dotted.name", drawn["i"])
        some = self.spark.createDataFrame(drawn)
        some = some.withColumns({name: functions.expr(text) for name, text in changed.items()})
        kept = [f"`{name}`" for name in self.spark.table(self.name).columns]
        ordered = some.repartitionByRange(files, "i").sortWithinPartitions("i")
        ordered.select(*kept).writeTo(self.name + branch).append()


@dataclass(frozen=True)
class Kind:
    """How a table is made: its partitions and properties, and what is done to it then."""

    parts: str = ""
    properties: dict[str, str] = field(default_factory=dict)
    work: Callable[[Lake], None] | None = None
    selector: str = ""

    def make(self, spark: SparkSession, name: str) -> Lake:
        """Write the table."""
        lake = Lake(spark, f"ice.lakes.{name}", self.selector)
        properties = ", ".join(
            f"'{k}' = '{v}'" for k, v in {**SMALL_GROUPS, **self.properties}.items()
        )
        parts = f"PARTITIONED BY ({self.parts})" if self.parts else ""
        lake.sql(
            f"CREATE TABLE {{t}} ({COLUMNS}) USING iceberg {parts} TBLPROPERTIES ({properties})"
        )
        (self.work or grow)(lake)
        return lake


def version(number: int, **more: str) -> dict[str, str]:
    return {"format-version": str(number), **more}


def grow(lake: Lake) -> None:
    """Two commits, a manifest each."""
    for seed in range(2):
        lake.append(seed, files=2)


def grow_little(lake: Lake) -> None:
    """The same with few rows, for partitions that have a file for nearly each."""
    for seed in range(2):
        lake.append(seed, count=FEW)


def evolve(lake: Lake) -> None:
    """Every change of a schema and of a spec that Spark has a statement for."""
    lake.append(0)
    for change in (
        "RENAME COLUMN s TO renamed",
        "ALTER COLUMN i TYPE BIGINT",
        "ALTER COLUMN f TYPE DOUBLE",
        "ALTER COLUMN d TYPE DECIMAL(18,2)",
        "ALTER COLUMN yes FIRST",
        "ALTER COLUMN day AFTER n",
        "DROP COLUMN x",
        "ADD COLUMN x BIGINT",
        "ADD COLUMN `in`.later INT",
        "ADD PARTITION FIELD days(at)",
    ):
        lake.sql(f"ALTER TABLE {{t}} {change}")
    later = {"in": "named_struct('inner', `in`.inner, 'later', i)"}
    lake.append(1, renamed="s", x="n", **later)
    lake.sql("ALTER TABLE {t} REPLACE PARTITION FIELD days(at) WITH months(at)")
    lake.sql("ALTER TABLE {t} DROP PARTITION FIELD yes")
    lake.append(2, renamed="s", x="n", **later)


def add_columns(lake: Lake) -> None:
    """What Spark reads and writes but has no statement for: uuid, fixed, and a default value."""
    lake.append(0)
    jvm = lake.spark._jvm
    types, lit = jvm.org.apache.iceberg.types.Types, jvm.org.apache.iceberg.expressions.Expressions
    change = lake.java.updateSchema()
    change = change.addColumn("u", types.UUIDType.get())
    change = change.addColumn("bytes", types.FixedType.ofLength(2))
    change.addColumn("seven", types.IntegerType.get(), "", lit.lit(7)).commit()
    lake.sql("REFRESH TABLE {t}")
    # Digits from both sides of 0x80, where Java and the specification order uuids differently.
    digits = "lower(hex(concat(raw, raw, raw, raw, raw, raw, raw, raw)))"
    cut = ", '-', ".join(f"substring({digits}, {at}, {n})" for at, n in UUID_PARTS)
    for seed in (1, 2):
        lake.append(seed, u=f"concat({cut})", bytes="raw", seven="i")


UUID_PARTS = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))


def delete_rows(lake: Lake) -> None:
    """Deletes that leave data files as they are, one file's rows all gone."""
    grow(lake)
    lake.sql("DELETE FROM {t} WHERE i % 3 = 0 OR s LIKE 'a%'")
    lake.sql("UPDATE {t} SET n = -1 WHERE i % 7 = 1")
    lake.sql("DELETE FROM {t} WHERE day < DATE '1969-06-01'")


def other_formats(lake: Lake) -> None:
    """ORC files, Avro files, and an equality delete file, which Spark reads but does not write."""
    lake.append(0, files=2)
    lake.sql("ALTER TABLE {t} SET TBLPROPERTIES ('write.format.default' = 'avro')")
    lake.append(1)
    table, column = lake.java, "i"
    number = table.schema().findField(column).fieldId()
    values = pa.array([-70, -10, 1, 5], pa.int32())
    by_id = pa.field(column, values.type, metadata={"PARQUET:field_id": str(number)})
    path = lake.folder / "data" / "equality.parquet"
    pq.write_table(pa.table([values], schema=pa.schema([by_id])), path)
    gateway = lake.spark._sc._gateway
    ids = gateway.new_array(gateway.jvm.int, 1)
    ids[0] = number
    made = gateway.jvm.org.apache.iceberg.FileMetadata.deleteFileBuilder(table.spec())
    made = made.ofEqualityDeletes(ids).withPath(str(path)).withFormat("parquet")
    made = made.withFileSizeInBytes(path.stat().st_size).withRecordCount(len(values))
    table.newRowDelta().addDeletes(made.build()).commit()
    lake.sql("REFRESH TABLE {t}")


def rewrite(lake: Lake) -> None:
    """Files and manifests written again, under another spec than before."""
    grow(lake)
    lake.sql("DELETE FROM {t} WHERE i % 5 = 0")
    lake.sql("ALTER TABLE {t} ADD PARTITION FIELD bucket(2, i)")
    for procedure in ("rewrite_data_files", "rewrite_manifests"):
        where = ", where => 'yes = true'" if procedure == "rewrite_data_files" else ""
        options = ", options => map('rewrite-all', 'true')" if where else ""
        lake.sql(f"CALL ice.system.{procedure}(table => '{{t}}'{where}{options})")


def branch(lake: Lake) -> None:
    """A branch that has rows of its own, and lacks those that main has got since."""
    lake.append(0)
    lake.sql("ALTER TABLE {t} CREATE BRANCH audit")
    lake.append(1, branch=".branch_audit")
    lake.append(2)


def tag(lake: Lake) -> None:
    """A tag of the table before a column was renamed."""
    lake.append(0, files=3)
    lake.sql("ALTER TABLE {t} CREATE TAG old")
    lake.sql("ALTER TABLE {t} RENAME COLUMN s TO renamed")
    lake.append(1, renamed="s")


MODES = {
    "write.metadata.metrics.default": "truncate(4)",
    "write.metadata.metrics.column.i": "none",
    "write.metadata.metrics.column.n": "counts",
    "write.metadata.metrics.column.s": "full",
    "write.metadata.metrics.column.f": "counts",
}
KINDS = {
    "plain": Kind(properties=version(1)),
    "identity": Kind("yes, years(day)", version(1)),
    "days": Kind("days(at), years(moment)", version(2), grow_little),
    "hours": Kind("hours(at), truncate(1, raw)", version(3), grow_little),
    "buckets": Kind("bucket(3, n), bucket(2, s)", version(2)),
    "prefixes": Kind("truncate(30, i), truncate(1, s)", version(2), grow_little),
    "decimals": Kind("truncate(1000, d), bucket(2, big)", version(2)),
    "evolved": Kind("yes", version(2), evolve),
    "added": Kind("", version(3), add_columns),
    "position_deletes": Kind("months(day)", version(2, **MERGE_ON_READ), delete_rows),
    "vectors": Kind("yes", version(3, **MERGE_ON_READ), delete_rows),
    "rewritten": Kind("yes", version(2), rewrite),
    "branch": Kind("yes", version(2), branch, "branch_audit"),
    "tag": Kind("", version(2), tag, "tag_old"),
    "modes": Kind("", version(2, **MODES)),
    "other_formats": Kind("", version(2, **{"write.format.default": "orc"}), other_formats),
}
