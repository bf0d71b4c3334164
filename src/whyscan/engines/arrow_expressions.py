"""Reads an Arrow expression as a typed predicate.

Arrow writes an expression as the metadata of a record batch, which holds its literals and options:
a list of (kind, text) in which calls nest. No text of an expression is parsed.
"""

from __future__ import annotations

import ctypes
from enum import Enum
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.engines.pushed_filters import (
    FilteredSchema,
    NotInterpreted,
    all_of,
    any_of,
    as_condition,
    cast,
    is_nan,
    literal_of,
    literal_type,
    opaque,
)
from whyscan.tree.nodes import (
    Call,
    Cast,
    Column,
    Comparator,
    Expression,
    IsNull,
    NanOrder,
    Not,
    type_of,
)
from whyscan.tree.types import (
    BOOLEAN,
    DATE,
    DateType,
    FloatType,
    IntegerType,
    StringType,
    TimestampType,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.tree.types import Schema, Type

COMPARATORS = {
    "equal": Comparator.EQUAL,
    "not_equal": Comparator.NOT_EQUAL,
    "less": Comparator.LESS,
    "less_equal": Comparator.LESS_EQUAL,
    "greater": Comparator.GREATER,
    "greater_equal": Comparator.GREATER_EQUAL,
}
_MATCHES = 0
"""`null_matching_behavior` of `is_in`: NULL is in the list if the list has NULL, and else not."""


class FieldReference(Struct, frozen=True):
    """A column or a member of a struct, by the names of its path."""

    names: tuple[str, ...]


class ArrowLiteral(Struct, frozen=True):
    """A literal."""

    value: pa.Scalar


class FunctionCall(Struct, frozen=True):
    """The call of an Arrow function; `options` is None for a function without options."""

    function: str
    arguments: tuple[ArrowNode, ...]
    options: pa.StructScalar | None


ArrowNode = FieldReference | ArrowLiteral | FunctionCall


def arrow_nodes(expression: pc.Expression) -> ArrowNode:
    """The tree of an expression."""
    _, (content,) = expression.__reduce__()
    with pa.ipc.open_file(content) as file:
        batch = file.get_batch(0)
    return _node(_Words(_metadata(batch.schema), batch))


def references_of(node: ArrowNode) -> Iterator[tuple[str, ...]]:
    """The names of every column that a tree refers to."""
    match node:
        case FieldReference():
            yield node.names
        case FunctionCall():
            for argument in node.arguments:
                yield from references_of(argument)
        case ArrowLiteral():
            pass


class _Words:
    """The (kind, text) pairs of an expression, which are read one after the other."""

    def __init__(self, pairs: Sequence[tuple[str, str]], batch: pa.RecordBatch) -> None:
        self._pairs = list(reversed(pairs))
        self._batch = batch

    def next(self) -> tuple[str, str]:
        return self._pairs.pop()

    def peek(self) -> str:
        return self._pairs[-1][0]

    def value(self, position: str) -> pa.Scalar:
        return self._batch.column(int(position))[0]


def _node(words: _Words) -> ArrowNode:
    kind, text = words.next()
    match kind:
        case "field_ref":
            return FieldReference((text,))
        case "nested_field_ref":
            return FieldReference(tuple(words.next()[1] for _ in range(int(text))))
        case "literal":
            return ArrowLiteral(words.value(text))
        case "call":
            arguments: list[ArrowNode] = []
            options = None
            while words.peek() != "end":
                if words.peek() == "options":
                    options = words.value(words.next()[1])
                else:
                    arguments.append(_node(words))
            words.next()
            return FunctionCall(text, tuple(arguments), options)
        case _:
            raise NotInterpreted(f"an expression has a part of the kind {kind}")


class _SchemaStruct(ctypes.Structure):
    """The beginning of `struct ArrowSchema` (Arrow's C data interface)."""

    _fields_ = (
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", ctypes.c_void_p),
    )


def _metadata(schema: pa.Schema) -> list[tuple[str, str]]:
    """The metadata of a schema in its order, with keys that are there several times.

    PyArrow gives metadata as a dictionary, which has each key once. The C data interface has a
    count, and then each key and each value after its length.
    """
    capsule = schema.__arrow_c_schema__()
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    described = _SchemaStruct.from_address(pointer_of(capsule, b"arrow_schema"))
    if not described.metadata:
        return []
    at: int = described.metadata

    def number() -> int:
        nonlocal at
        at += 4
        return ctypes.c_int32.from_address(at - 4).value

    def text() -> str:
        nonlocal at
        length = number()
        at += length
        return ctypes.string_at(at - length, length).decode()

    return [(text(), text()) for _ in range(number())]


class Meaning(Enum):
    """What an engine means by the Arrow expressions that it hands over."""

    PYARROW = "NaN is not ordered, and `is_in` is FALSE for NULL"
    SQL = "NaN is the greatest value, and `is_in` is NULL for NULL"
    SIGNED_NAN = "as in SQL, but a NaN whose sign is negative is the least value"


_NAN_ORDER = {
    Meaning.PYARROW: NanOrder.UNORDERED,
    Meaning.SQL: NanOrder.GREATEST,
    Meaning.SIGNED_NAN: NanOrder.SIGNED,
}


def read_arrow_filter(expression: pc.Expression, schema: Schema, meaning: Meaning) -> Expression:
    """The condition of an Arrow expression; a part that cannot be interpreted is `Opaque`."""
    try:
        node = arrow_nodes(expression)
    except (NotInterpreted, pa.ArrowException, ValueError, IndexError) as error:
        return opaque(str(expression), str(error), ())
    return _ArrowFilter(FilteredSchema(schema, _NAN_ORDER[meaning]), meaning).condition(node)


class _ArrowFilter(Struct, frozen=True):
    """Reads the nodes of one expression."""

    columns: FilteredSchema
    meaning: Meaning

    def condition(self, node: ArrowNode) -> Expression:
        """The condition of a boolean node: `Opaque` where it cannot be interpreted."""
        match node:
            case FunctionCall("and_kleene"):
                return all_of(self.condition(argument) for argument in node.arguments)
            case FunctionCall("or_kleene"):
                return any_of(self.condition(argument) for argument in node.arguments)
            case FunctionCall("invert"):
                return Not(self.condition(node.arguments[0]))
            case _:
                pass
        try:
            return as_condition(self.value(node))
        except NotInterpreted as reason:
            return opaque(text_of(node), str(reason), self.named(node))

    def named(self, node: ArrowNode) -> Iterator[Column]:
        for names in references_of(node):
            try:
                yield self.columns.column(*names)
            except NotInterpreted:
                continue

    def value(self, node: ArrowNode) -> Expression:
        match node:
            case FieldReference():
                return self.columns.column(*node.names)
            case ArrowLiteral():
                return literal_of(node.value)
            case FunctionCall(name, (left, right)) if name in COMPARATORS:
                return self.columns.compared(COMPARATORS[name], self.value(left), self.value(right))
            case FunctionCall("is_valid", (operand,)):
                return Not(IsNull(self.value(operand)))
            case FunctionCall("is_null", (operand,)):
                return self.is_null(self.value(operand), node.options)
            case FunctionCall("is_nan", (operand,)):
                # Arrow gives NULL for NULL.
                subject = self.value(operand)
                return all_of((is_nan(subject), self.columns.compared(*_reflexive(subject))))
            case FunctionCall("is_in", (operand,)):
                return self.is_in(self.value(operand), node.options)
            case FunctionCall("if_else", (condition, value, ArrowLiteral() as rest)):
                return self.if_else(condition, value, rest)
            case FunctionCall("starts_with", (operand,)):
                return self.starts_with(self.value(operand), node.options)
            case FunctionCall("cast", (operand,)):
                return _cast(self.value(operand), node.options)
            case FunctionCall(name):
                raise NotInterpreted(f"the function {name} is not interpreted")

    def is_null(self, operand: Expression, options: pa.StructScalar) -> Expression:
        if options["nan_is_null"].as_py() and isinstance(type_of(operand), FloatType):
            return any_of((IsNull(operand), is_nan(operand)))
        return IsNull(operand)

    def is_in(self, operand: Expression, options: pa.StructScalar) -> Expression:
        """In PyArrow `is_in` is never NULL: NULL is in the list only if the list has NULL."""
        if options["null_matching_behavior"].as_py() != _MATCHES:
            raise NotInterpreted("NULL in a list has another meaning")
        values = options["value_set"].values
        present = [literal_of(value) for value in values if value.is_valid]
        if self.meaning is not Meaning.PYARROW:
            if values.null_count:
                raise NotInterpreted("engines disagree about NULL in a list")
            return self.columns.is_in(operand, present)
        among = all_of((Not(IsNull(operand)), self.columns.is_in(operand, present)))
        return any_of((IsNull(operand), among)) if len(present) < len(values) else among

    def if_else(self, condition: ArrowNode, value: ArrowNode, rest: ArrowLiteral) -> Expression:
        """`if_else(is_valid(x), is_in(x, list), null)`: how DuckDB writes `x IN (list)`."""
        match condition, value:
            case FunctionCall("is_valid", (subject,)), FunctionCall("is_in", (operand,)) if (
                operand == subject and not rest.value.is_valid
            ):
                values = (
                    pa.array([]) if value.options is None else value.options["value_set"].values
                )
                if not values.null_count:
                    present = [literal_of(each) for each in values]
                    return self.columns.is_in(self.value(operand), present)
        raise NotInterpreted("the function if_else is not interpreted")

    def starts_with(self, operand: Expression, options: pa.StructScalar) -> Expression:
        if not isinstance(type_of(operand), StringType) or options["ignore_case"].as_py():
            raise NotInterpreted("only the beginning of a text is interpreted, in its case")
        return Call("startswith", (operand, literal_of(options["pattern"])), BOOLEAN)


def _reflexive(subject: Expression) -> tuple[Comparator, Expression, Expression]:
    """`x = x`, which is NULL for NULL."""
    return Comparator.EQUAL, subject, subject


def _cast(operand: Expression, options: pa.StructScalar) -> Expression:
    """A cast that keeps every value, or one from a timestamp without a zone to its date."""
    target: Type = literal_type(options["to_type"].type)
    match type_of(operand), target:
        case IntegerType() as kind, IntegerType() as wider if kind.bits <= wider.bits:
            return cast(operand, wider)
        case FloatType(), FloatType(bits=64):
            return cast(operand, target)
        case TimestampType(instant=False), DateType():
            return Cast(operand, DATE)
        case kind, _:
            raise NotInterpreted(f"a cast from {kind} to {target} is not interpreted")


def text_of(node: ArrowNode) -> str:
    """The node as text for people."""
    match node:
        case FieldReference():
            return ".".join(node.names)
        case ArrowLiteral():
            return str(node.value)
        case FunctionCall():
            return f"{node.function}({', '.join(map(text_of, node.arguments))})"
