"""Initial defaults: the value that a column has in files older than itself (appendix D, JSON)."""

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
    """A default as an Arrow scalar; None for one that cannot be read or has no order."""
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
            read = read_timestamp(document)
            return None if read is None else read.day
        case TimestampType(), str():
            return _steps(document, kind)
        case _:
            return None


def _single(number: float) -> float:
    """A float as its rows have it: a bound with more digits would leave them out."""
    rounded: float = struct.unpack("<f", struct.pack("<f", number))[0]
    return rounded


def _steps(text: str, kind: TimestampType) -> int | None:
    read = read_timestamp(text)
    if read is None or read.day is None or (read.zone is not None and not text.endswith("+00:00")):
        return None
    per_second = kind.unit.per_second
    within = read.nanoseconds * per_second // _NANOSECONDS
    return read.day * _SECONDS_A_DAY * per_second + within
