"""The bytes that a file has for values of a table, of which filters and dictionaries consist.

An INT of a table may be four or eight bytes in a file, a decimal a number or a text. A value whose
bytes in the file are not certain may be in every filter and in every dictionary.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec import Struct, field

from whyscan.pruning.unscaled import unscaled_of
from whyscan.tables.parquet.schemas import Encoding, Physical
from whyscan.tree.types import (
    BinaryType,
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
    from collections.abc import Callable, Iterator, Mapping
    from decimal import Decimal

    from whyscan.tables.parquet.metadata import FooterMetadata
    from whyscan.tables.parquet.schemas import ParquetColumn
    from whyscan.tree.nodes import Column

    Forms = list[tuple[bytes, ...]]

_WIDTHS: dict[int, int] = {int(Physical.INT32): 4, int(Physical.INT64): 8}
_LONGEST_DECIMAL = 32


class FormsInFiles(Struct):
    """The bytes of the values of some columns in files, computed once for each kind of column."""

    values: Mapping[Column, pa.Array]
    computed: dict[Any, Forms | None] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(self.values)

    def forms(self, column: Column, leaf: ParquetColumn, metadata: FooterMetadata) -> Forms | None:
        """The bytes of a column's values in a file; `leaf` is the column in the file's schema."""
        form = (leaf.type, leaf.encoding, leaf.physical, leaf.length)
        key = (column.path, form, metadata.hybrid_calendar)
        if key not in self.computed:
            values = self.values[column]
            self.computed[key] = forms_in_file(values, column.type, leaf, metadata)
        return self.computed[key]


def forms_in_file(
    values: pa.Array, kind: Type, leaf: ParquetColumn, metadata: FooterMetadata
) -> Forms | None:
    """For each value of the type `kind` the bytes that a file may have for it; zero has two forms.

    Nothing for a value whose bytes are not certain; None if that holds for all.
    """
    if isinstance(kind, DateType | TimestampType) and metadata.hybrid_calendar:
        return None
    encode = encoder(kind, leaf)
    if encode is None:
        return None
    forms = [() if v is None else tuple(encode(v)) for v in _plain_values(values, kind)]
    return forms if any(forms) else None


def _plain_values(values: pa.Array, kind: Type) -> list[object]:
    """Values as Python's; dates and timestamps as their integers."""
    match kind:
        case DateType():
            return values.cast(pa.int32()).to_pylist()  # type: ignore[no-any-return]
        case TimestampType():
            return values.cast(pa.int64()).to_pylist()  # type: ignore[no-any-return]
        case _:
            return values.to_pylist()  # type: ignore[no-any-return]


def encoder(kind: Type, leaf: ParquetColumn) -> Callable[..., Iterator[bytes]] | None:
    """What gives the bytes that a file has for a value of the table's type `kind`.

    It gives nothing for a value that the file cannot have; None where bytes are never certain:
    INT96 is not hashed, a boolean has no filter, and half floats and other units are left out.
    """
    match kind, leaf.type:
        case IntegerType(), IntegerType():
            return _integers(leaf)
        case DateType(), DateType():
            return _integers(leaf)
        case TimestampType(), TimestampType():
            return _moments(kind, leaf.type, leaf)
        case FloatType(), FloatType() if leaf.encoding in (Encoding.FLOAT, Encoding.DOUBLE):
            return _floats("<f" if leaf.encoding is Encoding.FLOAT else "<d")
        case DecimalType(), DecimalType():
            return _decimals(leaf.type, leaf)
        case (StringType(), StringType()) | (BinaryType(), BinaryType()) | (UuidType(), UuidType()):
            return _texts(leaf)
        case _:
            return None


def _integers(leaf: ParquetColumn) -> Callable[[int], Iterator[bytes]] | None:
    size = _WIDTHS.get(leaf.physical)
    if size is None:
        return None
    signed = leaf.encoding not in (Encoding.UINT32, Encoding.UINT64)

    def encode(value: int) -> Iterator[bytes]:
        bits = 8 * size
        least = -(1 << bits - 1) if signed else 0
        if least <= value < least + (1 << bits):
            yield value.to_bytes(size, "little", signed=signed)

    return encode


def _moments(
    kind: TimestampType, in_file: TimestampType, leaf: ParquetColumn
) -> Callable[[int], Iterator[bytes]] | None:
    """Milliseconds of a file are microseconds of a table; other units are read with a loss."""
    if (
        leaf.physical != Physical.INT64
        or kind.instant != in_file.instant
        or kind.unit != in_file.unit
    ):
        return None
    factor = 1000 if leaf.encoding is Encoding.MILLISECONDS else 1

    def encode(value: int) -> Iterator[bytes]:
        if value % factor == 0:
            yield struct.pack("<q", value // factor)

    return encode


def _floats(form: str) -> Callable[[float], Iterator[bytes]]:
    """Zero has two forms, and both are equal to it. No filter is probed for NaN."""

    def encode(value: float) -> Iterator[bytes]:
        if math.isnan(value):
            return
        try:
            encoded = struct.pack(form, value)
        except OverflowError:
            return
        if struct.unpack(form, encoded)[0] != value:
            return
        yield encoded
        if value == 0:
            yield struct.pack(form, -value)

    return encode


def _decimals(in_file: DecimalType, leaf: ParquetColumn) -> Callable[..., Iterator[bytes]] | None:
    """The unscaled number as the file has it: 32 or 64 bits, or big-endian bytes of one length.

    Unsigned 64 bits are decimals of a table. Bytes of any length have no one form.
    """
    unsigned = leaf.encoding is Encoding.UINT64
    size = leaf.length if leaf.physical == Physical.FIXED else _WIDTHS.get(leaf.physical, 0)
    if not 0 < size <= _LONGEST_DECIMAL:
        return None
    order: Any = "big" if leaf.physical == Physical.FIXED else "little"

    def encode(value: Decimal) -> Iterator[bytes]:
        unscaled = unscaled_of(value, in_file.scale)
        if unscaled is None:
            return
        least = 0 if unsigned else -(1 << 8 * size - 1)
        if least <= unscaled < least + (1 << 8 * size):
            yield unscaled.to_bytes(size, order, signed=not unsigned)

    return encode


def _texts(leaf: ParquetColumn) -> Callable[[bytes], Iterator[bytes]]:
    def encode(value: bytes) -> Iterator[bytes]:
        if leaf.physical != Physical.FIXED or len(value) == leaf.length:
            yield value

    return encode
