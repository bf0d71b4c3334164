"""A query as blocks of typed expressions: what filters are placed in.

Every table, derived table and subquery that a block draws rows from is a `Source` with a key of
its own in the whole statement. Columns are named by it: `Column(("o", "amount"))` is the column
`amount` of the source `o`. So a condition says by itself whose rows it speaks of.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from whyscan.tree.nodes import Column, columns_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.statements.sql.table_names import Base
    from whyscan.tree.nodes import Comparator, Expression, Path
    from whyscan.tree.types import Field


class Kind(StrEnum):
    """How a join treats rows without a partner. `NOT_IN` is an anti join that a NULL empties.

    `OPAQUE` is a join whose partners depend on all rows of both sides: ASOF, positional.
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

    `bare` is its text without the names of tables, None where the text no longer is what it
    says. `fixed` says why it cannot leave its place, None where it can. `compares` is what it
    compares with a subquery of one value, and how.
    """

    expression: Expression
    sql: str
    bare: str | None
    fixed: str | None = None
    compares: tuple[Comparator, Expression] | None = None

    def source_keys(self) -> frozenset[str]:
        return keys_of(self.expression)


class Source(Struct, frozen=True, eq=False):
    """Where rows come from: a table, a query, or (None) a function or a list of values.

    `sampled`: only some of its rows are taken, before any condition. `place` is where in the
    text its name stands. `target`: the statement changes it.
    """

    key: str
    alias: str
    relation: Base | Query | None
    fields: tuple[Field, ...]
    place: int = -1
    sampled: bool = False
    target: bool = False


class Join(Struct, frozen=True, eq=False):
    """Two sides and the conditions of ON.

    `exists`: the right side is the subquery of an EXISTS, whose own conditions join it.
    """

    kind: Kind
    left: Tree
    right: Tree
    on: tuple[Condition, ...] = ()
    exists: bool = False


Tree: TypeAlias = Source | Join


class Output(Struct, frozen=True, eq=False):
    """A column of a query's result; `expression` is None where it is not one row's.

    `reads` are the columns that it is made from.
    """

    name: str
    expression: Expression | None
    reads: frozenset[Path]


class Sort(Struct, frozen=True, eq=False):
    """One key of ORDER BY; `expression` is None where it is not one row's."""

    expression: Expression | None
    descending: bool
    nulls_first: bool


class RowLimit(Struct, frozen=True):
    """LIMIT and OFFSET; None where they are not plain numbers."""

    limit: int | None
    offset: int | None


class Nested(Struct, frozen=True, eq=False):
    """A subquery inside an expression. `within` is the condition around it, if it is one."""

    query: Query
    within: Condition | None = None
    sees_row: bool = True
    """Whether the block's conditions hold where it is evaluated: not in an ON clause."""


class Select(Struct, frozen=True, eq=False):
    """One SELECT. `tree` is None without FROM.

    `groups` are the expressions of GROUP BY that every grouping has, None where nothing is
    aggregated. `partitions` has, for each window function, what it is partitioned by.
    `barrier` says why no condition passes from above, None where some may. `reads` are the
    columns that it needs whatever is asked of it; `aggregates` those calls, as they are written.
    """

    tree: Tree | None
    where: tuple[Condition, ...]
    outputs: tuple[Output, ...]
    groups: tuple[Expression, ...] | None
    having: tuple[Condition, ...]
    qualify: tuple[Condition, ...]
    partitions: tuple[tuple[Expression, ...], ...]
    nested: tuple[Nested, ...]
    reads: frozenset[Path]
    barrier: str | None = None
    distinct: bool = False
    order: tuple[Sort, ...] = ()
    cut: RowLimit | None = None
    aggregates: tuple[OutputAggregate, ...] = ()


class OutputAggregate(Struct, frozen=True, eq=False):
    """A lone aggregate of an output: its function, and its argument, None for `*` or unknown."""

    output: str
    function: str
    argument: Expression | None
    star: bool = False


class Combined(Struct, frozen=True, eq=False):
    """UNION, INTERSECT or EXCEPT of two queries, column by column.

    `narrows`: a column that nobody reads need not be read; not where whole rows are compared.
    """

    operator: str
    narrows: bool
    left: Query
    right: Query
    outputs: tuple[Output, ...]
    barrier: str | None = None


Query: TypeAlias = Select | Combined


def without_key(column: Column) -> Column:
    """A scan's column in the table's own words: without the source's key."""
    return Column(column.path[1:], column.type)


def keys_of(expression: Expression) -> frozenset[str]:
    """The sources whose columns an expression names."""
    return frozenset(column.path[0] for column in columns_of(expression))


def sources(tree: Tree | None) -> Iterator[Source]:
    """The leaves of a FROM clause, from left to right."""
    pending = [] if tree is None else [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, Source):
            yield node
        else:
            pending += (node.right, node.left)


def keys(tree: Tree) -> frozenset[str]:
    """The keys of a FROM clause's sources."""
    return frozenset(source.key for source in sources(tree))


def joins(tree: Tree | None) -> Iterator[Join]:
    """The joins of a FROM clause, outermost first."""
    pending = [] if tree is None else [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, Join):
            yield node
            pending += (node.right, node.left)


def free_reads(query: Query) -> frozenset[Path]:
    """The columns that a query reads of sources outside of it."""
    if isinstance(query, Combined):
        return free_reads(query.left) | free_reads(query.right)
    inner_keys = {source.key for source in sources(query.tree)}
    read = set(query.reads).union(*(output.reads for output in query.outputs))
    for source in sources(query.tree):
        if isinstance(source.relation, Select | Combined):
            read |= free_reads(source.relation)
    return frozenset(path for path in read if path[0] not in inner_keys)
