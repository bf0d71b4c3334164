"""The rows of one table, the predicates over it, and Spark's recorded answer for each row.

A line of `predicates.sql` is a predicate. `answers.json` holds one letter a row for each: T, F, N
for TRUE, FALSE, NULL, and E for an error. `WHYSCAN_GOLDEN=write` lets Spark write it again
(`test_against_spark.py`), which a new predicate needs.
"""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

from whyscan.tree.types import (
    BIGINT,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    Field,
    Schema,
    Type,
)

FOLDER = Path(__file__).parent
ANSWERS = FOLDER / "answers.json"
ROWS = 150
DAY_MICROS = 86_400_000_000

COLUMNS: dict[str, Type] = {
    "s": STRING,
    "t": STRING,
    "b": TINYINT,
    "i": INT,
    "j": INT,
    "l": BIGINT,
    "x": DOUBLE,
    "z": DOUBLE,
    "d": DATE,
    "ts": TIMESTAMP,
    "n": TIMESTAMP_NTZ,
    "year": INT,
    "month": INT,
    "day": INT,
    "ys": STRING,
    "ms": STRING,
    "ds": STRING,
}
SCHEMA = Schema(tuple(Field(name, kind) for name, kind in COLUMNS.items()))

WORDS = (
    "", " ", "a", "ab", "abc", "abd", "abc-1", "abc-2", "abc-10", "ABC-1", "Abc", "aBC", "b", "k",
    "K", "\u212a", "kelvin", "Kelvin", "\u212aelvin", "\u017fharp", "sharp", "SHARP", "straße",
    "İx", "ix", "IX", "\u0131x", "i", "é", "É", "éa", "日本", "日本語", "😀", "😀a", "a\nb",
    "abc\nabd", "abc\n", "\nabc",
    "  abc", "abc  ", " abc-1", "\tabc", "x-y-z", "x-y", "x--y", "-x", "x-", "eu-west-1",
    "eu-west-2", "eu-north-1", "us-east-1", "a.b", "a.c", "a_b", "a%b", "a\\b", "[ab]", "^abc",
    "2024", "2024-03", "2024-03-01", "2024-03-15", "2024-13-01", "2023-02-29", "2024-02-29",
    "2024-3-1", "2024-03-01 12:00:00", "2024-03-01T12", "12:00", "20240301", "xabc", "xxabc",
    "ab" * 20, "ab" * 20 + "c", "abc" * 11 + "-1",
)  # fmt: skip


def _text(dice: random.Random) -> str:
    if dice.random() < 0.8:
        return dice.choice(WORDS)
    return "".join(dice.choices("abcABCkK-. é", k=dice.randint(0, 5)))


def _integer(dice: random.Random, bits: int) -> int:
    least, greatest = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    if dice.random() < 0.7:
        return dice.randint(-20, 40)
    return dice.choice((least, least + 1, -1, 0, 1, 7, 8, 12, 64, greatest - 1, greatest))


def _double(dice: random.Random) -> float:
    return dice.choice((math.nan, 0.0, -0.0, 1.5, -2.0, 40.0, math.inf, -math.inf, 3.0, 7.25))


def _moment(dice: random.Random) -> int:
    day = dice.randint(19_700, 19_850)
    clock = dice.choice((0, DAY_MICROS - 1, dice.randrange(DAY_MICROS)))
    return dice.choice((day * DAY_MICROS + clock, dice.randint(-3, 3) * DAY_MICROS + clock))


def _value(dice: random.Random, name: str, kind: Type) -> Any:
    if dice.random() < 0.08:
        return None
    match name:
        case "year":
            return dice.choice((2023, 2024, 2024, 2024, 2025, 0, -1, 9999, 10_000, 1969))
        case "month":
            return dice.choice((*range(1, 13), 2, 3, 0, 13))
        case "day":
            return dice.choice((*range(1, 32), 1, 15, 0, 32))
        case "ys":
            return dice.choice(("2023", "2024", "2024", "24", "x", ""))
        case "ms":
            return dice.choice(("01", "02", "03", "3", "12", "13", "x"))
        case "ds":
            return dice.choice(("01", "1", "15", "28", "29", "31", "32", ""))
        case "b":
            return _integer(dice, 8)
        case "i" | "j":
            return _integer(dice, 32)
        case "l":
            return _integer(dice, 64)
        case "d":
            return _moment(dice) // DAY_MICROS
        case "ts" | "n":
            return _moment(dice)
        case "x" | "z":
            return _double(dice)
    return _text(dice)


def _rows() -> list[dict[str, Any]]:
    dice = random.Random(20)
    return [{name: _value(dice, name, kind) for name, kind in COLUMNS.items()} for _ in range(ROWS)]


TABLE = _rows()


def predicates() -> list[str]:
    lines = (FOLDER / "predicates.sql").read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("--")]


def recorded() -> dict[str, str]:
    return json.loads(ANSWERS.read_text("utf-8")) if ANSWERS.exists() else {}
