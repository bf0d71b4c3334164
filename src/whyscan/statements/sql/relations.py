"""The data model of a query: blocks of typed expressions in which filters are placed.

Every table, derived table and subquery that a block draws rows from is a `Source` with a key that
is unique in the statement. A column starts with the key of its source: `Column(("o", "amount"))` is
the column `amount` of the source `o`. So each condition names its sources.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from whyscan.tree.nodes import Column, columns_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.statements.sql.table_names import Base
    from whyscan.statements.stay_reasons import StayReason
    from whyscan.tree.nodes import Comparator, Expression, Path
    from whyscan.tree.types import Field


class Kind(StrEnum):
    """How a join treats rows without a partner.

    `NOT_IN` is an anti join that returns nothing if the right side has a NULL. `OPAQUE` is a join
    whose partners depend on all rows of both sides: ASOF, positional.
    """

    INNER = "inner"
    LEFT = "left"
    RIGHT = "right"
    FULL = "full"
    SEMI = "semi"
    ANTI = "anti"
    NOT_IN = "not in"
    OPAQUE = "opaque"


class Condition(Struct, frozen=True, eq=False):
    """One AND fragment of WHERE, ON, HAVING or QUALIFY.

    `bare` is its text without table names, None where the expression was changed after parsing.
    `fixed` is the reason why the condition must not be moved, None where it may be moved.
    `compares` is the operator and the expression that are compared with a subquery of one value.
    """

    expression: Expression
    sql: str
    bare: str | None
    fixed: str | None = None
    compares: tuple[Comparator, Expression] | None = None

    def source_keys(self) -> frozenset[str]:
        return keys_of(self.expression)


class Source(Struct, frozen=True, eq=False):
    """A source of rows: a table, a query, or (None) a function or a list of values.

    `barrier` is the reason why no condition filters its rows: TABLESAMPLE chooses some of them
    first. `place` is the position of the name in the text. `target`: the statement changes this
    table.
    """

    key: str
    alias: str
    relation: Base | Query | None
    fields: tuple[Field, ...]
    place: int = -1
    barrier: StayReason | None = None
    target: bool = False


class Join(Struct, frozen=True, eq=False):
    """A join of two sides, with the conditions of ON.

    `exists`: the right side is the subquery of an EXISTS, and the conditions inside of that
    subquery join it.
    """

    kind: Kind
    left: Tree
    right: Tree
    on: tuple[Condition, ...] = ()
    exists: bool = False


Tree: TypeAlias = Source | Join


class Output(Struct, frozen=True, eq=False):
    """One column of a query's result, with the columns that it `reads`.

    `expression` is None where the value is not computed from one row, or not understood.
    """

    name: str
    expression: Expression | None
    reads: frozenset[Path]


class Sort(Struct, frozen=True, eq=False):
    """One key of ORDER BY; `expression` is None where it is not computed from one row."""

    expression: Expression | None
    descending: bool
    nulls_first: bool


class RowLimit(Struct, frozen=True):
    """LIMIT and OFFSET; None where one is not a plain number."""

    limit: int | None
    offset: int | None


class Nested(Struct, frozen=True, eq=False):
    """A subquery inside an expression. `within` is the condition around it, None elsewhere."""

    query: Query
    within: Condition | None = None
    sees_row: bool = True
    """Whether the block's conditions hold where the subquery is evaluated.

    They do not in ON and in FROM, and not for a row of totals, which no row of the block made.
    """


class Select(Struct, frozen=True, eq=False):
    """One SELECT. `tree` is None without FROM.

    `groups` are the expressions of GROUP BY that belong to every grouping set, None without
    aggregation; `rolled_up` are those that only some grouping sets have. `partitions` has one entry
    per window function: its PARTITION BY. `barrier` is the reason why no condition from outside
    passes into the block, None where some may pass. `reads` are the columns that the block needs
    whichever outputs are used. `aggregates` are the outputs that are one aggregate call each.
    """

    tree: Tree | None
    outputs: tuple[Output, ...]
    where: tuple[Condition, ...] = ()
    groups: tuple[Expression, ...] | None = None
    rolled_up: tuple[Expression, ...] = ()
    having: tuple[Condition, ...] = ()
    qualify: tuple[Condition, ...] = ()
    partitions: tuple[tuple[Expression, ...], ...] = ()
    nested: tuple[Nested, ...] = ()
    reads: frozenset[Path] = frozenset()
    barrier: StayReason | None = None
    distinct: bool = False
    order: tuple[Sort, ...] = ()
    cut: RowLimit | None = None
    aggregates: tuple[OutputAggregate, ...] = ()


class OutputAggregate(Struct, frozen=True, eq=False):
    """An output that is one aggregate call; `argument` is None for `*` and if not understood."""

    output: str
    function: str
    argument: Expression | None
    star: bool = False


class Combined(Struct, frozen=True, eq=False):
    """UNION, INTERSECT or EXCEPT of two queries, column by column.

    `narrows`: an output that is not used need not be read. False where rows are compared.
    """

    operator: str
    narrows: bool
    left: Query
    right: Query
    outputs: tuple[Output, ...]
    barrier: StayReason | None = None


Query: TypeAlias = Select | Combined


def without_key(column: Column) -> Column:
    """A scan's column under the table's name for it: without the key of the source."""
    return Column(column.path[1:], column.type)


def keys_of(expression: Expression) -> frozenset[str]:
    """The keys of the sources whose columns an expression names."""
    return frozenset(column.path[0] for column in columns_of(expression))


def sources(tree: Tree | None) -> Iterator[Source]:
    """The sources of a FROM clause, from left to right."""
    pending = [] if tree is None else [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, Source):
            yield node
        else:
            pending += (node.right, node.left)


def keys(tree: Tree) -> frozenset[str]:
    """The keys of the sources of a FROM clause."""
    return frozenset(source.key for source in sources(tree))


def joins(tree: Tree | None) -> Iterator[Join]:
    """The joins of a FROM clause, the outermost first."""
    pending = [] if tree is None else [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, Join):
            yield node
            pending += (node.right, node.left)


def free_reads(query: Query) -> frozenset[Path]:
    """The columns that a query reads from sources outside of it."""
    if isinstance(query, Combined):
        return free_reads(query.left) | free_reads(query.right)
    inner_keys = {source.key for source in sources(query.tree)}
    columns = set(query.reads).union(*(output.reads for output in query.outputs))
    for source in sources(query.tree):
        if isinstance(source.relation, Select | Combined):
            columns |= free_reads(source.relation)
    return frozenset(path for path in columns if path[0] not in inner_keys)
