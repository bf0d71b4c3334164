"""Questions that only SQL has words for: other operators, functions, two columns."""

from __future__ import annotations

import random
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tables.iceberg.questions import literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

ANY = (
    "{c} <=> {v}",
    "NOT ({c} <=> {v})",
    "{c} NOT IN ({v}, {w})",
    "{c} BETWEEN {v} AND {w}",
    "{c} NOT BETWEEN {v} AND {w}",
    "{v} >= {c}",
    "{c} IN ({v}, NULL)",
    "coalesce({c}, {v}) = {w}",
    "nullif({c}, {v}) IS NULL",
    "CASE WHEN {c} > {v} THEN {c} < {w} ELSE {c} IS NULL END",
)
NUMBERS = ("{c} + 1 > {v}", "2 * {c} <= {v}", "-{c} < {v}", "{c} = {v} OR hash({c}) = 3")
TEXTS = (
    "{c} LIKE {p}",
    "{c} NOT LIKE {p}",
    "upper({c}) > {v}",
    "length({c}) < 9 AND {c} > {v}",
    "substring({c}, 1, 2) = substring({v}, 1, 2)",
    "concat({c}, '') = {v}",
)
TIMES = (
    "CAST({c} AS DATE) = CAST({v} AS DATE)",
    "year({c}) = year({v})",
    "date_trunc('MONTH', {c}) > {v}",
    "{c} + INTERVAL 1 DAY > {v}",
    "month({c}) IN (1, 2) AND {c} < {v}",
)
PAIRS = ("`dotted.name` < `in`.inner", "n < big", "day > CAST(at AS DATE)", "i = `dotted.name`")


def wordings(rows: pa.Table, count: int, seed: int) -> Iterator[str]:
    """Predicates over the rows' own values."""
    dice = random.Random(seed)
    usable_values = {n: [v for v in rows[n].to_pylist() if _usable(v)] for n in rows.column_names}
    names = [name for name, values in usable_values.items() if values]
    for _ in range(count - 1):
        name = dice.choice(names)
        low, high = sorted(dice.choices(usable_values[name], k=2))
        yield dice.choice(_templates(low)).format(
            c=f"`{name}`", v=literal(low), w=literal(high), p=literal(f"{str(low)[:2]}%")
        )
    yield dice.choice(PAIRS)


def _usable(value: Any) -> bool:
    return value is not None and not isinstance(value, bool | dict) and str(value) != "nan"


def _templates(value: Any) -> tuple[str, ...]:
    match value:
        case int() | float() | Decimal():
            return ANY + NUMBERS
        case str():
            return ANY + TEXTS
        case date() | datetime():
            return ANY + TIMES
        case _:
            return ANY
