"""A typed tree as Spark SQL, with every type spelled out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from oracle import clock
from oracle.errors import Unsupported
from oracle.rows import plain
from whyscan.tree.nodes import (
    And,
    Arithmetic,
    Between,
    Call,
    Case,
    Cast,
    CastFailure,
    Coalesce,
    Column,
    Comparison,
    Expression,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Opaque,
    Or,
    type_of,
)
from whyscan.tree.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    NullType,
    StringType,
    TimestampType,
    TimeUnit,
    Type,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


def sql(node: Expression) -> str:
    """Text that Spark and our binder both read as this tree."""
    match node:
        case Column():
            return ".".join(f"`{name}`" for name in node.path)
        case Literal():
            return literal(node.value, node.type)
        case And():
            return _joined(" AND ", node.operands)
        case Or():
            return _joined(" OR ", node.operands)
        case Not():
            return f"(NOT {sql(node.operand)})"
        case Comparison():
            return f"({sql(node.left)} {node.operator.value} {sql(node.right)})"
        case Between():
            return f"({sql(node.operand)} BETWEEN {sql(node.low)} AND {sql(node.high)})"
        case In():
            return f"({sql(node.operand)} IN ({', '.join(_listed(node))}))"
        case IsNull():
            return f"({sql(node.operand)} IS NULL)"
        case Like():
            word = "ILIKE" if node.ignore_case else "LIKE"
            if node.escape != "\\":
                raise Unsupported("an escape that is not Spark's own")
            return f"({sql(node.operand)} {word} {quoted(node.pattern)})"
    return _computed(node)


def _computed(node: Expression) -> str:
    match node:
        case Case():
            branches = " ".join(f"WHEN {sql(c)} THEN {sql(v)}" for c, v in node.branches)
            return f"(CASE {branches} ELSE {sql(node.otherwise)} END)"
        case Coalesce():
            return f"coalesce({', '.join(map(sql, node.operands))})"
        case Cast():
            word = "CAST" if node.failure is CastFailure.RAISE else "try_cast"
            return f"{word}({sql(node.operand)} AS {spelled(node.type)})"
        case Arithmetic():
            return f"({sql(node.left)} {node.operation.value} {sql(node.right)})"
        case Call():
            return f"{node.function}({', '.join(map(sql, node.arguments))})"
        case Opaque():
            raise Unsupported(node.sql)
    raise Unsupported(type(node).__name__)


def _joined(word: str, parts: Iterable[Expression]) -> str:
    return "(" + word.join(map(sql, parts)) + ")"


def _listed(node: In) -> list[str]:
    kind = type_of(node.operand)
    like = "" if isinstance(kind, StringType) else None
    shown = [literal(value, kind) for value in plain(node.values, like)]
    if node.nan:
        shown.append(literal(math.nan, kind))
    return [*shown, "NULL"] if node.null else shown


def spelled(kind: Type) -> str:
    if isinstance(kind, TimestampType) and kind.unit is TimeUnit.NANOSECOND:
        raise Unsupported("Spark has no nanoseconds")
    return str(kind).upper()


def literal(value: Any, kind: Type) -> str:
    """A literal of exactly this type."""
    if isinstance(kind, NullType):
        return "NULL"
    if value is None:
        return f"CAST(NULL AS {spelled(kind)})"
    match kind:
        case BooleanType():
            return "TRUE" if value else "FALSE"
        case IntegerType(bits=32):
            return str(value)
        case IntegerType() | DecimalType() | FloatType():
            return f"CAST('{_number(value)}' AS {spelled(kind)})"
        case StringType():
            return quoted(value)
        case BinaryType():
            return f"X'{value.hex()}'"
        case DateType():
            return f"DATE '{clock.date_text(value)}'"
        case TimestampType() if kind.unit is TimeUnit.MICROSECOND:
            zone = "+00:00" if kind.instant else ""
            return f"{spelled(kind)} '{clock.wall_text(value)}{zone}'"
    raise Unsupported(f"a literal of {kind}")


def _number(value: Any) -> str:
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        return repr(value).replace("inf", "Infinity")
    return f"{value:f}" if not isinstance(value, int) else str(value)


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
