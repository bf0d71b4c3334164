"""Initial defaults: a column's value in files that are older than it (appendix D, JSON)."""

from __future__ import annotations

import struct
import uuid
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from whyscan.tree import arrow
from whyscan.tree.time_text import read_timestamp
from whyscan.tree.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
    TimestampType,
    Type,
    UuidType,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from whyscan.tree.nodes import Value

_SECONDS_A_DAY = 86_400
_NANOSECONDS = 1_000_000_000
_LONGEST = 1_000
SINGLE = 32


def default_value(document: Any, kind: Type) -> pa.Scalar | None:
    """A default as an Arrow scalar; None if it cannot be read or its type has no order."""
    try:
        value = _value(document, kind)
        return None if value is None else arrow.scalar(value, kind)
    except (ValueError, TypeError, ArithmeticError, InvalidOperation):
        return None


def _value(document: Any, kind: Type) -> Value | None:
    match kind, document:
        case BooleanType(), bool():
            return document
        case IntegerType(), int() if not isinstance(document, bool):
            return document
        case FloatType(), int() | float() if not isinstance(document, bool):
            return _single(document) if kind.bits == SINGLE else float(document)
        case DecimalType(), str() if len(document) < _LONGEST:
            return Decimal(document)
        case StringType(), str():
            return document
        case UuidType(), str():
            return uuid.UUID(document).bytes
        case BinaryType(), str():
            return bytes.fromhex(document)
        case DateType(), str():
            timestamp = read_timestamp(document)
            return None if timestamp is None else timestamp.day
        case TimestampType(), str():
            return _steps(document, kind)
        case _:
            return None


def _single(number: float) -> float:
    """A number rounded to a float: a bound with more digits would exclude the float rows."""
    rounded: float = struct.unpack("<f", struct.pack("<f", number))[0]
    return rounded


def _steps(text: str, kind: TimestampType) -> int | None:
    timestamp = read_timestamp(text)
    if (
        timestamp is None
        or timestamp.day is None
        or (timestamp.zone is not None and not text.endswith("+00:00"))
    ):
        return None
    per_second = kind.unit.per_second
    within = timestamp.nanoseconds * per_second // _NANOSECONDS
    return timestamp.day * _SECONDS_A_DAY * per_second + within
