"""Typed columns and the literals that stand at, or one step beside, the values of the data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.dice import Dice


class Kind(StrEnum):
    INT = "INTEGER"
    TEXT = "VARCHAR"
    DATE = "DATE"
    DOUBLE = "DOUBLE"


STEPS = 10
"""Values of every type are numbered from 0 to this: a file holds a few neighbours."""
FIRST_DAY = date(2024, 2, 24)
NAMES = ("k", "v", "s", "d", "x")
KINDS = dict(zip(NAMES, (Kind.INT, Kind.INT, Kind.TEXT, Kind.DATE, Kind.DOUBLE), strict=True))


@dataclass(frozen=True)
class Column:
    """A column that can be named in a scope; `text` is how."""

    text: str
    name: str
    kind: Kind


def value(kind: Kind, step: int) -> Any:
    """Sums of the doubles are exact in whatever order they are made."""
    match kind:
        case Kind.INT:
            return step
        case Kind.TEXT:
            return "abcdefghijklmnopqrst"[step] + "xyz"[: step % 3]
        case Kind.DATE:
            return FIRST_DAY + timedelta(days=step)
        case Kind.DOUBLE:
            return step / 2


def literal(kind: Kind, step: int) -> str:
    literal_value = value(kind, step)
    match kind:
        case Kind.TEXT:
            return f"'{literal_value}'"
        case Kind.DATE:
            return f"DATE '{literal_value}'"
    return str(literal_value)


def any_literal(dice: Dice, kind: Kind) -> str:
    if dice.one_in(25):
        return f"CAST(NULL AS {kind})"
    return literal(kind, dice.number(0, STEPS))


def of_kind(columns: Sequence[Column], kind: Kind) -> list[Column]:
    return [column for column in columns if column.kind == kind]
