"""Rewrites the Arrow expression of an engine so that Arrow means by it what the engine means.

Engines hand over plain comparisons and lists, and Arrow has its own mind about NaN, NULL and the
sign of zero.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.engines.arrow_expressions import (
    COMPARATORS,
    ArrowLiteral,
    FieldReference,
    FunctionCall,
    Meaning,
    arrow_nodes,
)
from whyscan.engines.pushed_filters import NotInterpreted
from whyscan.tree.nodes import Comparator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.engines.arrow_expressions import ArrowNode

_NEVER = ArrowLiteral(pa.scalar(value=False))
_ALWAYS = ArrowLiteral(pa.scalar(value=True))
_NULL = ArrowLiteral(pa.scalar(None, pa.bool_()))


class BatchFilter(Struct, frozen=True):
    """A filter of batches. `signs` are the columns of floats whose NaN has a sign that counts.

    With `signs`, the batch gets a column for each of them, which the expression names.
    """

    expression: pc.Expression
    signs: tuple[tuple[str, ...], ...] = ()

    def filtered(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of a batch for which the filter is TRUE."""
        for names in self.signs:
            batch = batch.append_column(_sign_column(names), _is_negative(batch, names))
        rows = batch.filter(self.expression)
        return rows.select(range(rows.num_columns - len(self.signs)))


def batch_filter(expression: pc.Expression, schema: pa.Schema, meaning: Meaning) -> BatchFilter:
    """The filter that keeps what the engine would keep.

    An expression in which the engine and Arrow mean the same stays as it is.
    """
    if meaning is Meaning.PYARROW:
        return BatchFilter(expression)
    try:
        node = arrow_nodes(expression)
    except (NotInterpreted, pa.ArrowException, ValueError, IndexError):
        return BatchFilter(expression)
    rewriting = _Rewriting(schema, meaning, {})
    rewritten = rewriting.rewritten(node)
    if rewritten == node:
        return BatchFilter(expression)
    return BatchFilter(_written(rewritten, expression), tuple(rewriting.signs))


def _sign_column(names: tuple[str, ...]) -> str:
    return f"the sign of {'.'.join(names)} is negative"


def _is_negative(batch: pa.RecordBatch, names: tuple[str, ...]) -> pa.Array:
    values = batch.column(names[0])
    if names[1:]:
        values = pc.struct_field(values, list(names[1:]))
    signs = np.signbit(values.to_numpy(zero_copy_only=False))
    return pc.if_else(values.is_valid(), pa.array(signs), None)


class _Rewriting(Struct, frozen=True):
    """Rewrites the nodes of one expression; `signs` gathers the columns whose sign is asked."""

    schema: pa.Schema
    meaning: Meaning
    signs: dict[tuple[str, ...], None]

    def rewritten(self, node: ArrowNode) -> ArrowNode:
        """The node as Arrow has to read it; the same object where nothing changes."""
        if not isinstance(node, FunctionCall):
            return node
        arguments = tuple(map(self.rewritten, node.arguments))
        if any(new is not old for new, old in zip(arguments, node.arguments, strict=True)):
            node = FunctionCall(node.function, arguments, node.options)
        if node.function == "is_in":
            return self.listed(node)
        if node.function not in COMPARATORS or not any(map(self.is_float, arguments)):
            return node
        left, right = arguments
        return self.compared(COMPARATORS[node.function], left, right)

    def listed(self, node: FunctionCall) -> ArrowNode:
        """`x IN (list)`: NULL for NULL, unless NULL is in the list.

        In SQL both zeros are equal, and every NaN is. DataFusion looks for the very bits.
        """
        (operand,), options = node.arguments, node.options
        among: ArrowNode = node
        listed = pa.array([]) if options is None else options["value_set"].values
        if self.meaning is Meaning.SQL and self.is_float(operand):
            values = listed.drop_null().to_pylist()
            if 0.0 in values:
                among = _either(
                    among, _call("equal", operand, ArrowLiteral(pa.scalar(0.0, listed.type)))
                )
            if any(map(math.isnan, values)):
                among = _either(among, _call("is_nan", operand))
        if listed.null_count:
            return among
        return _call("if_else", _call("is_valid", operand), among, _NULL)

    def compared(self, operator: Comparator, left: ArrowNode, right: ArrowNode) -> ArrowNode:
        """A comparison with NaN in its place.

        `a < b` is `a < b OR (b is greatest AND a is not) OR (a is least AND b is not)`, and `a = b`
        is `a = b OR both are greatest OR both are least`.
        """
        match operator:
            case Comparator.LESS:
                return self.less(left, right)
            case Comparator.GREATER:
                return self.less(right, left)
            case Comparator.GREATER_EQUAL:
                return _not(self.less(left, right))
            case Comparator.LESS_EQUAL:
                return _not(self.less(right, left))
            case Comparator.EQUAL:
                return self.equal(left, right)
            case _:
                return _not(self.equal(left, right))

    def less(self, left: ArrowNode, right: ArrowNode) -> ArrowNode:
        greatest = _both(self.greatest(right), _not(self.greatest(left)))
        least = _both(self.least(left), _not(self.least(right)))
        return _either(_call("less", left, right), _either(greatest, least))

    def equal(self, left: ArrowNode, right: ArrowNode) -> ArrowNode:
        greatest = _both(self.greatest(left), self.greatest(right))
        least = _both(self.least(left), self.least(right))
        return _either(_call("equal", left, right), _either(greatest, least))

    def greatest(self, node: ArrowNode) -> ArrowNode:
        """Whether the node is a NaN that is the greatest value."""
        return _both(self.is_nan(node), _not(self.is_negative(node)))

    def least(self, node: ArrowNode) -> ArrowNode:
        """Whether the node is a NaN that is the least value."""
        return _both(self.is_nan(node), self.is_negative(node))

    def is_nan(self, node: ArrowNode) -> ArrowNode:
        """Whether the node is NaN. A number of another type never is."""
        if not self.is_float(node):
            return _NEVER
        if isinstance(node, ArrowLiteral):
            return ArrowLiteral(pa.scalar(node.value.is_valid and math.isnan(node.value.as_py())))
        return _call("is_nan", node)

    def is_negative(self, node: ArrowNode) -> ArrowNode:
        """Whether the sign of the node is negative, where a sign of NaN counts."""
        if self.meaning is not Meaning.SIGNED_NAN:
            return _NEVER
        match node:
            case ArrowLiteral():
                number = node.value.as_py()
                return ArrowLiteral(pa.scalar(number is not None and math.copysign(1, number) < 0))
            case FieldReference():
                self.signs[node.names] = None
                return FieldReference((_sign_column(node.names),))
            case FunctionCall("cast", (operand,)) if self.is_float(operand):
                return self.is_negative(operand)
            case FunctionCall():
                return _NEVER

    def is_float(self, node: ArrowNode) -> bool:
        match node:
            case ArrowLiteral():
                return bool(pa.types.is_floating(node.value.type))
            case FieldReference():
                kind: Any = pa.struct(list(self.schema))
                for name in node.names:
                    kind = kind.field(name).type
                return bool(pa.types.is_floating(kind))
            case FunctionCall("cast", _, pa.StructScalar() as options):
                return bool(pa.types.is_floating(options["to_type"].type))
            case FunctionCall():
                return False


def _call(function: str, *arguments: ArrowNode) -> FunctionCall:
    return FunctionCall(function, arguments, None)


def _both(left: ArrowNode, right: ArrowNode) -> ArrowNode:
    if _NEVER in (left, right):
        return _NEVER
    if _ALWAYS in (left, right):
        return left if right == _ALWAYS else right
    return _call("and_kleene", left, right)


def _either(left: ArrowNode, right: ArrowNode) -> ArrowNode:
    if _NEVER in (left, right):
        return left if right == _NEVER else right
    return _call("or_kleene", left, right)


def _not(node: ArrowNode) -> ArrowNode:
    if node in (_NEVER, _ALWAYS):
        return _ALWAYS if node == _NEVER else _NEVER
    return _call("invert", node)


def _written(node: ArrowNode, like: pc.Expression) -> pc.Expression:
    """The tree as an Arrow expression, in the form that `arrow_nodes` reads."""
    scalars: list[pa.Scalar] = []
    pairs = list(_words_of(node, scalars))
    arrays = [pa.repeat(scalar, 1) for scalar in scalars] or [pa.nulls(1)]
    fields = [pa.field("", array.type) for array in arrays]
    batch = pa.RecordBatch.from_arrays(
        arrays, schema=pa.schema(fields, metadata=pa.KeyValueMetadata(pairs))
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, batch.schema) as file:
        file.write_batch(batch)
    restore, _ = like.__reduce__()
    return restore(sink.getvalue())


def _words_of(node: ArrowNode, scalars: list[pa.Scalar]) -> Iterator[tuple[str, str]]:
    match node:
        case FieldReference((name,)):
            yield "field_ref", name
        case FieldReference():
            yield "nested_field_ref", str(len(node.names))
            yield from (("field_ref", name) for name in node.names)
        case ArrowLiteral():
            scalars.append(node.value)
            yield "literal", str(len(scalars) - 1)
        case FunctionCall():
            yield "call", node.function
            for argument in node.arguments:
                yield from _words_of(argument, scalars)
            if node.options is not None:
                scalars.append(node.options)
                yield "options", str(len(scalars) - 1)
            yield "end", node.function
