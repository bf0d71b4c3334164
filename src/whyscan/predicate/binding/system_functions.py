"""The functions of Iceberg in Spark: partition transforms, as in `catalog.system.days(ts)`.

In the tree `truncate` of a string is `left`; the other functions are calls of `system.<name>`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from whyscan.predicate.binding.arguments import Arguments
from whyscan.predicate.binding.calls import call
from whyscan.predicate.binding.scope import Scope, Uninterpreted
from whyscan.predicate.syntax.dialects import DialectFamily
from whyscan.predicate.syntax.tokens import function_name
from whyscan.tree.nodes import Call, Literal, type_of
from whyscan.tree.types import (
    DATE,
    INT,
    BinaryType,
    DateType,
    DecimalType,
    IntegerType,
    StringType,
    TimestampType,
    Type,
)

if TYPE_CHECKING:
    from whyscan.predicate.binding.arguments import Bind
    from whyscan.tree.nodes import Expression

_OF_TIME: dict[str, Type] = {"years": INT, "months": INT, "days": DATE, "hours": INT}
_HASHED = (IntegerType, DateType, TimestampType, DecimalType, StringType, BinaryType)


def bind(node: exp.Expr, scope: Scope, bind_value: Bind) -> Expression:
    """Bind the call of a function in the schema `system` of a catalog."""
    schema = node.this.expression if isinstance(node.this, exp.Dot) else node.this
    name = function_name(node.expression)
    if scope.dialect.family is not DialectFamily.SPARK or schema.name.lower() != "system":
        raise Uninterpreted(f"the function {name} of a catalog is not known")
    arguments = Arguments(node.expression.expressions, scope, bind_value)
    if name in _OF_TIME:
        return _of_time(name, arguments)
    match name:
        case "bucket":
            return _bucket(arguments)
        case "truncate":
            return _truncate(arguments)
        case _:
            raise Uninterpreted(f"the function {name} of a catalog is not known")


def _of_time(name: str, arguments: Arguments) -> Expression:
    moment = arguments.expect(1).operand(0).expression
    if not isinstance(type_of(moment), DateType | TimestampType):
        raise Uninterpreted(f"{name} of {type_of(moment)}")
    if name == "hours" and isinstance(type_of(moment), DateType):
        raise Uninterpreted("hours of a date")
    return Call(f"system.{name}", (moment,), _OF_TIME[name])


def _bucket(arguments: Arguments) -> Expression:
    count, value = Literal(_size(arguments), INT), arguments.operand(1).expression
    if not isinstance(type_of(value), _HASHED):
        raise Uninterpreted(f"buckets of {type_of(value)}")
    return Call("system.bucket", (count, value), INT)


def _truncate(arguments: Arguments) -> Expression:
    width, operand = _size(arguments), arguments.operand(1)
    kind = type_of(operand.expression)
    match kind:
        case StringType():
            return call("left", (operand, arguments.operand(0)), arguments.scope)
        case IntegerType() | DecimalType():
            return Call("system.truncate", (Literal(width, INT), operand.expression), kind)
        case _:
            raise Uninterpreted(f"{kind} cut to a width")


def _size(arguments: Arguments) -> int:
    size = arguments.expect(2).integer(0)
    if not 0 < size <= INT.greatest:
        raise Uninterpreted("a size that is not positive")
    return size
