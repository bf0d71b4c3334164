"""The predicate as a small closed tree: what the evaluator matches on.

Nodes are values. They carry their type, and know nothing of statistics, files or text.
Spark's implicit casts are in the tree as `Cast`, so that no later stage guesses a type.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from whyscan.tree.lazy import lazy
from whyscan.tree.types import BOOLEAN, Type

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from decimal import Decimal

    import pyarrow as pa

Path: TypeAlias = tuple[str, ...]
"""A column's name, or a struct member's names from the outside in, as the schema spells them."""

Value: TypeAlias = "bool | int | float | Decimal | str | bytes | None"
"""What a literal holds. Dates are days, timestamps are units since 1970-01-01, as integers:
neither stops at the year 9999. Intervals are months or microseconds. None is SQL NULL."""


class Column(Struct, frozen=True):
    """A column of the table, or a pseudo-column of the file."""

    path: Path
    type: Type


class Literal(Struct, frozen=True, dict=True):
    """One value of one type."""

    value: Value
    type: Type

    @lazy
    def scalar(self) -> pa.Scalar:
        """The value as Arrow has it."""
        from whyscan.tree import arrow

        return arrow.scalar(self.value, self.type)


class Comparator(Enum):
    """The comparisons of SQL, by their Spark spelling."""

    EQUAL = "="
    NOT_EQUAL = "<>"
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="
    NULL_SAFE_EQUAL = "<=>"


class Comparison(Struct, frozen=True):
    """`left operator right`, both of one type."""

    operator: Comparator
    left: Expression
    right: Expression


class And(Struct, frozen=True):
    """All of them; never nested directly in another And."""

    operands: tuple[Expression, ...]


class Or(Struct, frozen=True):
    """Any of them; never nested directly in another Or."""

    operands: tuple[Expression, ...]


class Not(Struct, frozen=True):
    """The opposite; NULL stays NULL."""

    operand: Expression


class Between(Struct, frozen=True):
    """`operand >= low AND operand <= high`, with the operand evaluated once."""

    operand: Expression
    low: Expression
    high: Expression


class In(Struct, frozen=True, eq=False):
    """The operand is one of `values`: sorted, distinct, without NULL and NaN, of its Arrow type.

    `null`: the list holds a NULL, so that a miss is NULL, not FALSE. `nan`: the list holds NaN.
    """

    operand: Expression
    values: pa.Array
    null: bool
    nan: bool


class IsNull(Struct, frozen=True):
    """TRUE or FALSE, never NULL."""

    operand: Expression


class Like(Struct, frozen=True):
    """`operand LIKE pattern`; `escape` is one character or None for no escape at all."""

    operand: Expression
    pattern: str
    escape: str | None
    ignore_case: bool


class Case(Struct, frozen=True):
    """The value of the first branch whose condition is TRUE, else `otherwise`."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression
    type: Type


class Coalesce(Struct, frozen=True):
    """The first operand that is not NULL."""

    operands: tuple[Expression, ...]
    type: Type


class CastFailure(Enum):
    """What a cast does with a value that it cannot convert."""

    RAISE = "cast"
    NULL = "try_cast"


class Cast(Struct, frozen=True):
    """The operand as another type."""

    operand: Expression
    type: Type
    failure: CastFailure = CastFailure.RAISE


class Operation(Enum):
    """Arithmetic of two operands. `DIVIDE` is fractional, `QUOTIENT` is Spark's `div`."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    QUOTIENT = "div"
    REMAINDER = "%"


class Arithmetic(Struct, frozen=True):
    """`left operation right`; ANSI: overflow and division by zero raise."""

    operation: Operation
    left: Expression
    right: Expression
    type: Type


class Call(Struct, frozen=True):
    """A deterministic function by its Spark name in lower case, with bound arguments."""

    function: str
    arguments: tuple[Expression, ...]
    type: Type


class Opaque(Struct, frozen=True):
    """What nobody here can interpret: any value, NULL, or an error. `why` is for people."""

    sql: str
    why: str
    columns: tuple[Column, ...]
    type: Type = BOOLEAN


Expression: TypeAlias = (
    Column
    | Literal
    | Comparison
    | And
    | Or
    | Not
    | Between
    | In
    | IsNull
    | Like
    | Case
    | Coalesce
    | Cast
    | Arithmetic
    | Call
    | Opaque
)


def type_of(expression: Expression) -> Type:
    """The SQL type of an expression."""
    match expression:
        case And() | Or() | Not() | Comparison() | Between() | In() | IsNull() | Like():
            return BOOLEAN
        case _:
            return expression.type


def children(expression: Expression) -> tuple[Expression, ...]:
    """The direct operands, left to right."""
    match expression:
        case Column() | Literal() | Opaque():
            return () if not isinstance(expression, Opaque) else expression.columns
        case And() | Or() | Coalesce():
            return expression.operands
        case Comparison() | Arithmetic():
            return (expression.left, expression.right)
        case Between():
            return (expression.operand, expression.low, expression.high)
        case Case():
            inner = tuple(part for branch in expression.branches for part in branch)
            return (*inner, expression.otherwise)
        case Call():
            return expression.arguments
        case Not() | In() | IsNull() | Like() | Cast():
            return (expression.operand,)


def with_children(expression: Expression, parts: Sequence[Expression]) -> Expression:
    """The same node over other operands, as many as `children` gave and in their order."""
    match expression:
        case Column() | Literal():
            return expression
        case Opaque():
            return replace(expression, columns=tuple(parts))
        case And() | Or() | Coalesce():
            return replace(expression, operands=tuple(parts))
        case Comparison() | Arithmetic():
            return replace(expression, left=parts[0], right=parts[1])
        case Between():
            return replace(expression, operand=parts[0], low=parts[1], high=parts[2])
        case Case():
            branches = tuple(zip(parts[:-1:2], parts[1:-1:2], strict=True))
            return replace(expression, branches=branches, otherwise=parts[-1])
        case Call():
            return replace(expression, arguments=tuple(parts))
        case Not() | In() | IsNull() | Like() | Cast():
            return replace(expression, operand=parts[0])


def walk(expression: Expression) -> Iterator[Expression]:
    """Every node, parents first. Iterative: depth is the input's, not the stack's."""
    pending = [expression]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(children(node)))


def columns_of(expression: Expression) -> tuple[Column, ...]:
    """The columns an expression names, each once, in order of appearance."""
    return tuple(dict.fromkeys(n for n in walk(expression) if isinstance(n, Column)))


class Conjunct(Struct, frozen=True, eq=False):
    """One top-level AND fragment; `sql` is its text in the dialect it was written in.

    `joined`: nobody wrote it, its values came from the other side of a join.
    """

    expression: Expression
    sql: str
    joined: bool = False


class Predicate(Struct, frozen=True, eq=False, dict=True):
    """A bound WHERE clause: `conjuncts` are its top-level AND fragments.

    `zone` is the session's time zone; `now` (microseconds since 1970-01-01) is what
    `current_timestamp` stood for, None where the text does not ask for the time.
    """

    text: str
    dialect: str
    zone: str
    now: int | None
    conjuncts: tuple[Conjunct, ...]

    @property
    def expression(self) -> Expression:
        if len(self.conjuncts) == 1:
            return self.conjuncts[0].expression
        return And(tuple(c.expression for c in self.conjuncts))

    def columns(self) -> tuple[Column, ...]:
        return self._columns

    @lazy
    def _columns(self) -> tuple[Column, ...]:
        return tuple(dict.fromkeys(c for q in self.conjuncts for c in columns_of(q.expression)))
