"""Delta tables as delta-rs writes them: rows around a place of their own, a file a write."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from deltalake import DeltaTable, Field, write_deltalake
from deltalake.schema import PrimitiveType

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - a clock's reading has no zone
WORDS = ("", "a", "é", "\U0001f33c", "a prefix that is longer than thirty-two characters ", "zz")
PLACES = ("a", "B c", "ü/=%", None, "100%", "x:y?#")


def rows(seed: int, count: int = 30) -> pa.Table:
    """Of every type, with NULLs, NaN and infinities among them."""
    dice = random.Random(seed)
    base = (seed - 1) * 25

    def column(kind: pa.DataType, make: Callable[[], Any]) -> pa.Array:
        return pa.array([None if dice.random() < 0.1 else make() for _ in range(count)], kind)

    def step() -> int:
        return base + dice.randrange(40)

    def moment() -> datetime:
        return EPOCH + timedelta(hours=step() * 7, microseconds=dice.choice([0, 1, 999_999]))

    odd = [float("nan"), float("inf")] if seed == 2 else [0.0]
    return pa.table(
        {
            "b": column(pa.int8(), lambda: step() % 100),
            "h": column(pa.int16(), step),
            "i": column(pa.int32(), step),
            "n": column(pa.int64(), lambda: step() * 10**12),
            "f": column(pa.float32(), lambda: step() / 4),
            "x": column(pa.float64(), lambda: dice.choice([step() / 8, *odd])),
            "m": column(pa.decimal128(9, 2), lambda: Decimal(step()) / 4),
            "w": column(pa.decimal128(38, 10), lambda: Decimal(step()) * 10**20),
            "d": column(pa.date32(), lambda: date(1970, 1, 1) + timedelta(days=step() * 5)),
            "wall": column(pa.timestamp("us"), moment),
            "t": column(pa.timestamp("us", "UTC"), lambda: moment().replace(tzinfo=UTC)),
            "s": column(pa.string(), lambda: f"{dice.choice(WORDS)}{step():+04}"),
            "raw": column(pa.binary(), lambda: bytes([step() % 256, dice.randrange(256)])),
            "y": column(pa.bool_(), lambda: seed == 0 or dice.random() < 0.5),
            "st": column(
                pa.struct([("a", pa.int32()), ("b", pa.string())]),
                lambda: {"a": step(), "b": f"in{step()}"},
            ),
            "p": pa.array([dice.choice(PLACES[seed : seed + 3]) for _ in range(count)]),
            "q": pa.array([date(1969, 12, 31) + timedelta(days=seed)] * count),
        }
    )


def plain(folder: Path) -> None:
    """Written, checkpointed half-way, deleted from."""
    _append(folder, range(3))
    DeltaTable(folder).create_checkpoint()
    _append(folder, [3])
    DeltaTable(folder).delete("i > 30 AND i < 40")


def partitioned(folder: Path) -> None:
    _append(folder, range(4), partition_by=["p", "q"])
    DeltaTable(folder).optimize.compact()


def ordered(folder: Path) -> None:
    """Z-ordered, a file a partition."""
    _append(folder, range(4), partition_by=["q"])
    DeltaTable(folder).optimize.z_order(["n", "s"])


def evolved(folder: Path) -> None:
    """Older files lack a column; updates and merges rewrite some."""
    for seed in (0, 1, 3):
        write_deltalake(folder, rows(seed).drop_columns(["w", "st"]), mode="append")
    DeltaTable(folder).alter.add_columns([Field("later", PrimitiveType("date"))])
    new = rows(2).drop_columns(["w", "st"])
    new = new.append_column("later", new["d"])
    write_deltalake(folder, new, mode="append")
    table = DeltaTable(folder)
    table.update(predicate="i < -20", updates={"s": "'updated'"})
    (
        table.merge(new.slice(0, 5), "t.n = u.n", source_alias="u", target_alias="t")
        .when_matched_update({"h": "u.h + 300"})
        .execute()
    )
    write_deltalake(folder, rows(4).drop_columns(["w", "st"]), mode="append", schema_mode="merge")


def budgeted(folder: Path) -> None:
    """Statistics of four columns alone, in a checkpoint."""
    properties = {"delta.dataSkippingStatsColumns": "i,n,s,d"}
    _append(folder, range(4), configuration=properties)
    DeltaTable(folder).create_checkpoint()


def _append(folder: Path, seeds: Any, **options: Any) -> None:
    for seed in seeds:
        write_deltalake(folder, rows(seed), mode="append", **options)


LAKES: dict[str, Callable[[Path], None]] = {
    made.__name__: made for made in (plain, partitioned, ordered, evolved, budgeted)
}
