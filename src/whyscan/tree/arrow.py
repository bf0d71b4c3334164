"""The Arrow representation of SQL values: one for each type, for all sources of values.

| type | Arrow | why |
|---|---|---|
| integers of every width | int64 | a literal widens, it never narrows |
| float, double | float64 | Spark compares them as doubles |
| decimal(p,s) | decimal128(38,s) | room above the declared precision |
| string, uuid | binary | ordered by unsigned bytes; a cut-off bound need not be UTF-8 |
| timestamps | timestamp[us or ns] | without a zone: an instant is in UTC |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from whyscan.tree.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    IntervalType,
    NullType,
    OtherType,
    StringType,
    StructType,
    TimestampType,
    Type,
    UuidType,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from whyscan.tree.nodes import Value

MAX_DECIMAL_DIGITS = 38


def arrow_type(kind: Type) -> pa.DataType:
    """The Arrow type for values of `kind`; `pa.null()` for types that are not compared."""
    match kind:
        case BooleanType():
            return pa.bool_()
        case IntegerType() | IntervalType():
            return pa.int64()
        case FloatType():
            return pa.float64()
        case DecimalType():
            return pa.decimal128(MAX_DECIMAL_DIGITS, kind.scale)
        case StringType() | BinaryType() | UuidType():
            return pa.binary()
        case DateType():
            return pa.date32()
        case TimestampType():
            return pa.timestamp(kind.unit.value)
        case NullType() | StructType() | OtherType():
            return pa.null()


def of_integers(values: npt.NDArray[np.int64]) -> pa.Array:
    """The numbers of a NumPy array, whose memory the Arrow array shares if it is contiguous.

    `pa.array` would import numpy.ma to see whether they are masked, which every start would pay.
    """
    memory = np.ascontiguousarray(values, np.int64)
    return pa.Array.from_buffers(pa.int64(), len(memory), [None, pa.py_buffer(memory)])


def scalar(value: Value, kind: Type) -> pa.Scalar:
    """A literal's value as an Arrow scalar; SQL NULL is a null scalar."""
    return array([value], kind)[0]


def value(scalar: pa.Scalar, kind: Type) -> Value:
    """The value of an Arrow scalar of type `kind`, in the form that literals use."""
    match kind:
        case DateType():
            return int(scalar.cast(pa.int32()).as_py())
        case TimestampType():
            return int(scalar.cast(pa.int64()).as_py())
        case StringType():
            return str(scalar.as_py().decode())
        case _:
            python_value: Value = scalar.as_py()
            return python_value


def array(values: Sequence[Value], kind: Type) -> pa.Array:
    """Literal values as an Arrow array. The integers of dates and timestamps are reinterpreted."""
    target = arrow_type(kind)
    match kind:
        case DateType():
            return pa.array(values, pa.int32()).view(target)
        case TimestampType():
            return pa.array(values, pa.int64()).view(target)
        case StringType():
            encoded = [v.encode() if isinstance(v, str) else v for v in values]
            return pa.array(encoded, target)
        case _:
            return pa.array(values, target)


def tuple_numbers(
    columns: Iterable[pa.Array | pa.ChunkedArray], count: int
) -> npt.NDArray[np.int64]:
    """One number per row, from 0: equal where all columns have equal values. NULL equals NULL."""
    numbers = np.zeros(count, np.int64)
    for column in columns:
        values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        encoded = values.dictionary_encode(null_encoding="encode")
        pairs = numbers * (len(encoded.dictionary) + 1) + encoded.indices.to_numpy()
        _, numbers = np.unique(pairs, return_inverse=True)
    return numbers
