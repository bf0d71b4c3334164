"""Tables that PyIceberg writes, with a catalog that is a dictionary."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyiceberg.catalog import MetastoreCatalog
from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import CommitTableResponse, Table
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.transforms import parse_transform
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

IDENTIFIER = ("ns", "t")
COLUMNS: dict[str, Any] = {
    "i": IntegerType(),
    "n": LongType(),
    "f": FloatType(),
    "x": DoubleType(),
    "d": DecimalType(9, 2),
    "big": DecimalType(38, 10),
    "day": DateType(),
    "at": TimestampType(),
    "moment": TimestamptzType(),
    "s": StringType(),
    "raw": BinaryType(),
    "yes": BooleanType(),
    "in": StructType(NestedField(101, "inner", IntegerType(), required=False)),
}
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - a clock's reading has no zone


class Memory(NoopCatalog, MetastoreCatalog):
    """A catalog of one process and one table at a time."""

    def __init__(self, folder: Path) -> None:
        MetastoreCatalog.__init__(self, "memory", warehouse=str(folder))
        self.staged: Any = None

    def create(self, schema: Schema, spec: PartitionSpec, location: str, version: int) -> Table:
        self.staged = self._create_staged_table(
            identifier=IDENTIFIER,
            schema=schema,
            location=location,
            partition_spec=spec,
            sort_order=UNSORTED_SORT_ORDER,
            properties={"format-version": str(version)},
        )
        self._write_metadata(self.staged.metadata, self.staged.io, self.staged.metadata_location)
        return self.load_table(IDENTIFIER)

    def load_table(self, identifier: Any) -> Table:
        staged = self.staged
        return Table(identifier, staged.metadata, staged.metadata_location, staged.io, self)

    def commit_table(self, table: Table, requirements: Any, updates: Any) -> CommitTableResponse:
        self.staged = self._update_and_stage_table(self.staged, table.name(), requirements, updates)
        self._write_metadata(self.staged.metadata, self.staged.io, self.staged.metadata_location)
        return CommitTableResponse(
            metadata=self.staged.metadata, metadata_location=self.staged.metadata_location
        )


def create(folder: Path, parts: dict[str, str], version: int = 2) -> Table:
    """An empty table of all columns, partitioned by `{column: transform}`."""
    schema = Schema(
        *(
            NestedField(number, name, kind, required=False)
            for number, (name, kind) in enumerate(COLUMNS.items(), start=1)
        )
    )
    fields = [
        PartitionField(list(COLUMNS).index(name) + 1, 1000 + at, parse_transform(how), f"part{at}")
        for at, (name, how) in enumerate(parts.items())
    ]
    return Memory(folder).create(schema, PartitionSpec(*fields), str(folder), version)


def rows(seed: int, count: int = 40) -> pa.Table:
    """Rows around a place of their own, with NULLs, NaN and values at edges among them."""
    dice = random.Random(seed)
    base = (seed - 2) * 37

    def column(kind: pa.DataType, make: Callable[[], Any]) -> pa.Array:
        return pa.array([None if dice.random() < 0.1 else make() for _ in range(count)], kind)

    def step() -> int:
        return base + dice.randrange(60)

    def moment() -> datetime:
        return EPOCH + timedelta(hours=step() * 7, microseconds=dice.choice([0, 1, 999_999]))

    words = ["", "a", "é", "\U00010000", "prefix that is longer than sixteen ", "zz"]
    return pa.table(
        {
            "i": column(pa.int32(), step),
            "n": column(pa.int64(), lambda: step() * 10**12),
            "f": column(pa.float32(), lambda: dice.choice([step() / 4, step() / 4, float("nan")])),
            "x": column(pa.float64(), lambda: step() / 8),
            "d": column(pa.decimal128(9, 2), lambda: Decimal(step()) / 4),
            "big": column(pa.decimal128(38, 10), lambda: Decimal(step()) * 10**20),
            "day": column(pa.date32(), lambda: date(1970, 1, 1) + timedelta(days=step() * 5)),
            "at": column(pa.timestamp("us"), moment),
            "moment": column(pa.timestamp("us", "UTC"), lambda: moment().replace(tzinfo=UTC)),
            "s": column(pa.string(), lambda: f"{dice.choice(words)}{step():+04}"),
            "raw": column(pa.binary(), lambda: bytes([step() % 256, dice.randrange(256)])),
            "yes": column(pa.bool_(), lambda: seed % 3 == 0 or dice.random() < 0.5),
            "in": column(pa.struct([("inner", pa.int32())]), lambda: {"inner": step()}),
        }
    )
