"""The schema of a Parquet file in whyscan's types, and the encoding of each column's bounds.

It is read from the footer's own schema, as a name may contain dots. A second schema in a writer's
key-value metadata is ignored: it changes neither the order of the bounds nor how Spark reads.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from whyscan.tables.column_finder import Naming, finder
from whyscan.tables.counts import is_number
from whyscan.tables.parquet.thrift import Fields, MalformedThrift, ThriftReader
from whyscan.tree.names import AmbiguousName
from whyscan.tree.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    NULL,
    STRING,
    UUID,
    DecimalType,
    Field,
    IntegerType,
    OtherType,
    Schema,
    StructType,
    TimestampType,
    TimeUnit,
    Type,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.tables.column_finder import Key
    from whyscan.tree.nodes import Path

DEEPEST = 64
_SCHEMA = 2
MAX_DIGITS = 38


class Physical(IntEnum):
    """The physical type of a column (parquet.thrift, Type)."""

    BOOLEAN = 0
    INT32 = 1
    INT64 = 2
    INT96 = 3
    FLOAT = 4
    DOUBLE = 5
    BYTE_ARRAY = 6
    FIXED = 7


class Logical(IntEnum):
    """The logical type of a column (parquet.thrift, LogicalType)."""

    STRING = 1
    MAP = 2
    LIST = 3
    ENUM = 4
    DECIMAL = 5
    DATE = 6
    TIME = 7
    TIMESTAMP = 8
    INTEGER = 10
    NULL = 11
    JSON = 12
    BSON = 13
    UUID = 14
    FLOAT16 = 15
    VARIANT = 16
    GEOMETRY = 17
    GEOGRAPHY = 18


class Encoding(Enum):
    """How a bound is encoded: NumPy's name of the type if it is a number."""

    BOOLEAN = "?"
    INT32 = "<i4"
    INT64 = "<i8"
    UINT32 = "<u4"
    UINT64 = "<u8"
    HALF = "<f2"
    FLOAT = "<f4"
    DOUBLE = "<f8"
    MILLISECONDS = "<i8 of milliseconds"
    BYTES = "bytes"
    NONE = "without an order that we use"

    @property
    def dtype(self) -> str:
        return self.value[:3]


SIGNED = frozenset(
    {
        Encoding.BOOLEAN,
        Encoding.INT32,
        Encoding.INT64,
        Encoding.MILLISECONDS,
        Encoding.FLOAT,
        Encoding.DOUBLE,
    }
)
"""Encodings whose order is the same for every writer, old or new."""


class ParquetColumn(Struct, frozen=True):
    """A leaf column of a file: its position in a row group, its type, its bounds' encoding.

    `fixed` says that all values have the same length in bytes. `physical` is the physical type,
    `length` the bytes of a value if it is `FIXED`.
    """

    index: int
    type: Type
    encoding: Encoding
    fixed: bool
    physical: int = Physical.BYTE_ARRAY
    length: int = 0


class Node(Struct, frozen=True):
    """A named part of the schema. A column has a `leaf`, a struct has `members`.

    Lists and maps have neither. `id` is the field id, None if none is written.
    """

    name: str
    type: Type
    leaf: ParquetColumn | None = None
    members: tuple[Node, ...] = ()
    id: int | None = None


class FileSchema(Struct, frozen=True):
    """The schema of one file: `leaves` are its columns in the order of a row group."""

    nodes: tuple[Node, ...]
    leaves: tuple[ParquetColumn, ...]

    def schema(self) -> Schema:
        return Schema(tuple(Field(node.name, node.type) for node in self.nodes))


UNKNOWN = Node("", OtherType("unknown"))
"""The node of a column whose statistics in the footer are not used."""


def find(schema: FileSchema, keys: Sequence[Key], naming: Naming) -> Node | None:
    """The node of a column; None if the file lacks it, `UNKNOWN` if that is not certain.

    A name that matches twice raises AmbiguousName: the query is unclear. A field id that is there
    twice is `UNKNOWN`: the file is unclear, and rows of it cannot be read.
    """
    in_file = finder(schema.nodes, naming)
    if in_file.guessed:
        return UNKNOWN
    try:
        node = in_file.find(keys)
    except AmbiguousName:
        if in_file.by_id:
            return UNKNOWN
        raise
    return UNKNOWN if node is None and not in_file.certain else node


def find_by_name(schema: FileSchema, path: Path) -> Node | None:
    """The node of a path of names; None if the file lacks it."""
    return finder(schema.nodes, Naming()).find([(name, None) for name in path])


def read_schema(footer: bytes) -> tuple[FileSchema, int]:
    """The schema of a footer, and the offset of its end."""
    reader = ThriftReader(footer)
    elements: list[Fields] = []
    for number, kind in reader.fields():
        value = reader.value(kind, 0)
        if number == _SCHEMA:
            elements = value if isinstance(value, list) else []
            break
    if not all(_is_element(element) for element in elements) or not elements:
        raise MalformedThrift("no schema")
    pending = iter(elements)
    root = next(pending)
    builder = _Builder(pending)
    nodes = tuple(builder.node(1) for _ in range(_children(root)))
    if next(pending, None) is not None:
        raise MalformedThrift("a schema with loose ends")
    return FileSchema(nodes, tuple(builder.leaves)), reader.at


_ELEMENT = {**dict.fromkeys((1, 2, 3, 5, 6, 7, 8, 9), int), 4: bytes, 10: dict}
"""The fields of a SchemaElement (parquet.thrift) that are read, with the type of each."""


def _is_element(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(member, _ELEMENT.get(number, object)) for number, member in value.items()
    )


def _children(element: Fields) -> int:
    return int(element.get(5, 0))


class _Builder(Struct):
    """Turns the flat list of elements, parents first, into nodes."""

    pending: Iterator[Fields]
    leaves: list[ParquetColumn] = field(default_factory=list)

    def node(self, depth: int) -> Node:
        element = next(self.pending, None)
        if not isinstance(element, dict) or depth > DEEPEST:
            raise MalformedThrift(
                "a schema that is cut off" if depth <= DEEPEST else "nested too deep"
            )
        name = element.get(4, b"").decode("utf-8")
        if not _children(element):
            return self._leaf(name, element)
        members = tuple(self.node(depth + 1) for _ in range(_children(element)))
        special = _collection(element)
        if special is not None:
            return Node(name, OtherType(special), id=_id(element))
        fields = tuple(Field(member.name, member.type) for member in members)
        return Node(name, StructType(fields), members=members, id=_id(element))

    def _leaf(self, name: str, element: Fields) -> Node:
        kind, encoding = _kind(element)
        fixed = element.get(1) != Physical.BYTE_ARRAY
        physical, length = element.get(1, Physical.BYTE_ARRAY), element.get(2, 0)
        leaf = ParquetColumn(len(self.leaves), kind, encoding, fixed, physical, length)
        self.leaves.append(leaf)
        if element.get(3) == _REPEATED:
            return Node(name, OtherType("array"), id=_id(element))
        return Node(name, kind, leaf, id=_id(element))


def _id(element: Fields) -> int | None:
    written = element.get(9)
    return written if is_number(written) else None


_REPEATED = 2
_COLLECTIONS = {Logical.MAP: "map", Logical.LIST: "array", Logical.VARIANT: "variant"}
_CONVERTED_COLLECTIONS = {1: "map", 2: "map", 3: "array"}


def _collection(element: Fields) -> str | None:
    """The kind of collection of a group, None for a struct."""
    if element.get(3) == _REPEATED:
        return "array"
    logical = _COLLECTIONS.get(_logical(element)[0])  # type: ignore[call-overload]
    return logical or _CONVERTED_COLLECTIONS.get(element.get(6, -1))


def _logical(element: Fields) -> tuple[int | None, Fields]:
    annotation = element.get(10) or {}
    for number, parameters in annotation.items():
        return number, parameters if isinstance(parameters, dict) else {}
    return None, {}


_CONVERTED: dict[int, tuple[Logical, Fields]] = {
    0: (Logical.STRING, {}),
    4: (Logical.ENUM, {}),
    5: (Logical.DECIMAL, {}),
    6: (Logical.DATE, {}),
    7: (Logical.TIME, {}),
    8: (Logical.TIME, {}),
    9: (Logical.TIMESTAMP, {1: True, 2: {1: {}}}),
    10: (Logical.TIMESTAMP, {1: True, 2: {2: {}}}),
    **{11 + i: (Logical.INTEGER, {1: 8 << i, 2: False}) for i in range(4)},
    **{15 + i: (Logical.INTEGER, {1: 8 << i, 2: True}) for i in range(4)},
    19: (Logical.JSON, {}),
    20: (Logical.BSON, {}),
}
_INTERVAL = 21


def _kind(element: Fields) -> tuple[Type, Encoding]:
    """The type of a primitive column and the encoding of its bounds."""
    logical, parameters = _logical(element)
    if logical is None:
        logical, parameters = _CONVERTED.get(element.get(6, -1), (None, {}))
    match element.get(1), logical:
        case _, Logical.NULL:
            return NULL, Encoding.NONE
        case _, Logical.DECIMAL:
            return _decimal(element, parameters)
        case (Physical.INT32 | Physical.INT64) as physical, Logical.INTEGER:
            return _integer(physical, parameters)
        case Physical.INT64, Logical.TIMESTAMP:
            return _timestamp(parameters)
        case Physical.INT32, Logical.DATE:
            return DATE, Encoding.INT32
        case _, Logical.TIME:
            return OtherType("time"), Encoding.NONE
        case Physical.FIXED, Logical.FLOAT16:
            return FLOAT, Encoding.HALF
        case Physical.FIXED, Logical.UUID:
            return UUID, Encoding.BYTES
        case Physical.BYTE_ARRAY, Logical.STRING | Logical.ENUM | Logical.JSON:
            return STRING, Encoding.BYTES
        case _, Logical.GEOMETRY | Logical.GEOGRAPHY:
            return OtherType("geometry"), Encoding.NONE
        case physical, _:
            return _plain(physical, element.get(6))


def _plain(physical: int | None, converted: int | None) -> tuple[Type, Encoding]:
    """The type of a column without a supported annotation."""
    if physical == Physical.INT96:
        # Its order was never defined: Spark writes no bounds, and those of others are not believed.
        return TimestampType(instant=True), Encoding.NONE
    if converted == _INTERVAL:
        return OtherType("interval"), Encoding.NONE
    if physical not in _PLAIN:
        raise MalformedThrift(f"physical type {physical}")
    return _PLAIN[physical]


_PLAIN: dict[int | None, tuple[Type, Encoding]] = {
    Physical.BOOLEAN: (BOOLEAN, Encoding.BOOLEAN),
    Physical.INT32: (INT, Encoding.INT32),
    Physical.INT64: (BIGINT, Encoding.INT64),
    Physical.FLOAT: (FLOAT, Encoding.FLOAT),
    Physical.DOUBLE: (DOUBLE, Encoding.DOUBLE),
    Physical.BYTE_ARRAY: (BINARY, Encoding.BYTES),
    Physical.FIXED: (BINARY, Encoding.BYTES),
}


def _decimal(element: Fields, parameters: Fields) -> tuple[Type, Encoding]:
    scale = parameters.get(1) or element.get(7) or 0
    precision = parameters.get(2) or element.get(8) or 0
    if not is_number(scale) or not is_number(precision):
        raise MalformedThrift("a decimal whose digits are no number")
    if not 0 <= scale <= precision or not 0 < precision <= MAX_DIGITS:
        return OtherType(f"decimal({precision},{scale})"), Encoding.NONE
    match element.get(1):
        case Physical.INT32:
            encoding = Encoding.INT32
        case Physical.INT64:
            encoding = Encoding.INT64
        case _:
            encoding = Encoding.BYTES
    return DecimalType(precision, scale), encoding


def _integer(physical: int, parameters: Fields) -> tuple[Type, Encoding]:
    """The type of an integer; unsigned integers get the next wider type, as in Spark."""
    wide = physical == Physical.INT64
    signed = Encoding.INT64 if wide else Encoding.INT32
    unsigned = Encoding.UINT64 if wide else Encoding.UINT32
    match parameters.get(1), parameters.get(2, True):
        case (8 | 16 | 32 | 64) as bits, True:
            return IntegerType(bits), signed
        case (8 | 16 | 32) as bits, False:
            return IntegerType(2 * bits), unsigned
        case 64, False:
            return DecimalType(20, 0), unsigned
        case _:
            return OtherType("integer"), Encoding.NONE


def _timestamp(parameters: Fields) -> tuple[Type, Encoding]:
    instant = bool(parameters.get(1, False))
    unit = parameters.get(2)
    match list(unit) if isinstance(unit, dict) else None:
        case [1]:
            return TimestampType(instant), Encoding.MILLISECONDS
        case [2]:
            return TimestampType(instant), Encoding.INT64
        case [3]:
            return TimestampType(instant, TimeUnit.NANOSECOND), Encoding.INT64
        case _:
            return OtherType("timestamp"), Encoding.NONE
