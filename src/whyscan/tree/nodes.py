"""The nodes of the predicate tree, a closed union that the evaluator matches on.

Nodes are immutable values with a SQL type. They do not refer to statistics, files or SQL text.
Spark's implicit casts are in the tree as `Cast`, so that no later stage guesses a type.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from whyscan.tree.lazy import lazy
from whyscan.tree.types import BOOLEAN, StructType, Type

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from decimal import Decimal

    import pyarrow as pa

    from whyscan.tree.types import Field

Path: TypeAlias = tuple[str, ...]
"""The name of a column, or the names from a struct column down to a member, in schema spelling."""

Value: TypeAlias = "bool | int | float | Decimal | str | bytes | None"
"""The value of a literal. None is SQL NULL.

Integers stand for dates (days since 1970-01-01), timestamps (units since 1970-01-01) and
intervals (months or microseconds): an integer can go beyond the year 9999."""


class Column(Struct, frozen=True):
    """A column of the table, or a pseudo-column such as `_metadata.file_path`."""

    path: Path
    type: Type


class Literal(Struct, frozen=True, dict=True):
    """One value of one type."""

    value: Value
    type: Type

    @lazy
    def scalar(self) -> pa.Scalar:
        """The value as an Arrow scalar."""
        from whyscan.tree import arrow

        return arrow.scalar(self.value, self.type)


class Comparator(Enum):
    """The comparison operators of SQL in Spark's spelling."""

    EQUAL = "="
    NOT_EQUAL = "<>"
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="
    NULL_SAFE_EQUAL = "<=>"


class NanOrder(Enum):
    """What the engine that runs the query makes of NaN in `=`, `<` and their like."""

    GREATEST = "it is the greatest value and equals itself"
    UNORDERED = "it is neither less than, nor equal to, nor greater than any value"
    EITHER = "one of both: we do not know"
    SIGNED = "it is the greatest value, and the least one if its sign is negative"


class Comparison(Struct, frozen=True):
    """`left operator right`. Both operands have the same type."""

    operator: Comparator
    left: Expression
    right: Expression
    nan_order: NanOrder = NanOrder.GREATEST

    @property
    def nan_unordered(self) -> bool:
        """Whether NaN may be something other than the greatest value."""
        return self.nan_order is not NanOrder.GREATEST


class And(Struct, frozen=True):
    """`a AND b AND c`. No operand is itself an `And`."""

    operands: tuple[Expression, ...]


class Or(Struct, frozen=True):
    """`a OR b OR c`. No operand is itself an `Or`."""

    operands: tuple[Expression, ...]


class Not(Struct, frozen=True):
    """`NOT operand`: swaps TRUE and FALSE, keeps NULL."""

    operand: Expression


class Between(Struct, frozen=True):
    """`operand >= low AND operand <= high`. The operand is evaluated once."""

    operand: Expression
    low: Expression
    high: Expression


class In(Struct, frozen=True, eq=False):
    """`operand IN (values)`. `values` is sorted and distinct, has no NULL and no NaN.

    `null`: the list contains NULL, so a value that is not in the list gives NULL and not FALSE.
    `nan`: the list contains NaN.
    """

    operand: Expression
    values: pa.Array
    null: bool
    nan: bool

    def __eq__(self, other: object) -> bool:
        """Lists are equal if they have the same values: Arrow compares them."""
        if not isinstance(other, In):
            return NotImplemented
        same = (self.operand, self.null, self.nan) == (other.operand, other.null, other.nan)
        return same and bool(self.values.equals(other.values))

    def __hash__(self) -> int:
        return hash((self.operand, len(self.values), self.null, self.nan))


class IsNull(Struct, frozen=True):
    """`operand IS NULL`: TRUE or FALSE, never NULL."""

    operand: Expression


class Like(Struct, frozen=True):
    """`operand LIKE pattern`. `escape` is one character; None if no character escapes."""

    operand: Expression
    pattern: str
    escape: str | None
    ignore_case: bool


class Case(Struct, frozen=True):
    """CASE: the value of the first branch whose condition is TRUE, else `otherwise`.

    A branch is a pair of condition and value.
    """

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression
    type: Type


class Coalesce(Struct, frozen=True):
    """The first operand that is not NULL."""

    operands: tuple[Expression, ...]
    type: Type


class CastFailure(Enum):
    """The behaviour of a cast for a value that it cannot convert."""

    RAISE = "cast"
    NULL = "try_cast"


class Cast(Struct, frozen=True):
    """`CAST(operand AS type)`, or `TRY_CAST` if `failure` is NULL."""

    operand: Expression
    type: Type
    failure: CastFailure = CastFailure.RAISE


class Operation(Enum):
    """The operators of arithmetic. `DIVIDE` keeps the fraction, `QUOTIENT` is Spark's `div`."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    QUOTIENT = "div"
    REMAINDER = "%"


class Arithmetic(Struct, frozen=True):
    """`left operation right`. As in ANSI mode, overflow and division by zero raise an error.

    `may_exceed`: DuckDB computes `l > -7` for `l + 7 > 0`, so a result beyond the type of integers
    may be compared where it should raise.
    """

    operation: Operation
    left: Expression
    right: Expression
    type: Type
    may_exceed: bool = False


class Call(Struct, frozen=True):
    """The call of a deterministic function. `function` is its Spark name in lower case."""

    function: str
    arguments: tuple[Expression, ...]
    type: Type


class Opaque(Struct, frozen=True):
    """An expression that whyscan cannot interpret: it may be any value, NULL or an error.

    `reason` explains this in words, for reports.
    """

    sql: str
    reason: str
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
    """The direct operands of a node, from left to right."""
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
            operands = tuple(operand for branch in expression.branches for operand in branch)
            return (*operands, expression.otherwise)
        case Call():
            return expression.arguments
        case Not() | In() | IsNull() | Like() | Cast():
            return (expression.operand,)


def with_children(expression: Expression, operands: Sequence[Expression]) -> Expression:
    """The same node with other operands, in the number and order that `children` returns."""
    match expression:
        case Column() | Literal():
            return expression
        case Opaque():
            return replace(expression, columns=tuple(operands))
        case And() | Or() | Coalesce():
            return replace(expression, operands=tuple(operands))
        case Comparison() | Arithmetic():
            return replace(expression, left=operands[0], right=operands[1])
        case Between():
            return replace(expression, operand=operands[0], low=operands[1], high=operands[2])
        case Case():
            branches = tuple(zip(operands[:-1:2], operands[1:-1:2], strict=True))
            return replace(expression, branches=branches, otherwise=operands[-1])
        case Call():
            return replace(expression, arguments=tuple(operands))
        case Not() | In() | IsNull() | Like() | Cast():
            return replace(expression, operand=operands[0])


def walk(expression: Expression) -> Iterator[Expression]:
    """Every node of the tree, parents first. It is a loop: deep trees need no deep stack."""
    pending = [expression]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(children(node)))


def columns_of(expression: Expression) -> tuple[Column, ...]:
    """The distinct columns of an expression in order of appearance."""
    return tuple(dict.fromkeys(n for n in walk(expression) if isinstance(n, Column)))


def columns_within(fields: Sequence[Field], above: Path = ()) -> Iterator[Column]:
    """Every column of some fields, and below a struct every member of it."""
    for field in fields:
        path = (*above, field.name)
        yield Column(path, field.type)
        if isinstance(field.type, StructType):
            yield from columns_within(field.type.fields, path)


def leaves_within(fields: Sequence[Field]) -> Iterator[Column]:
    """Every column of some fields; a struct gives one column per member."""
    return (column for column in columns_within(fields) if not isinstance(column.type, StructType))


class Conjunct(Struct, frozen=True, eq=False, dict=True):
    """One top-level AND fragment of a predicate. `sql` is its text in the user's dialect.

    `from_join`: the condition is not in the query; its values come from the other side of a join.
    """

    expression: Expression
    sql: str
    from_join: bool = False

    @lazy
    def columns(self) -> tuple[Column, ...]:
        """The distinct columns in order of appearance."""
        return columns_of(self.expression)

    @lazy
    def paths(self) -> frozenset[Path]:
        """The paths of the columns."""
        return frozenset(column.path for column in self.columns)


class Predicate(Struct, frozen=True, eq=False, dict=True):
    """A WHERE clause that is bound to a schema. `conjuncts` are its top-level AND fragments.

    `zone` is the time zone of the session. `now` is the value of `current_timestamp` in
    microseconds since 1970-01-01; None if the predicate does not use the current time.
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
