"""Reads the clauses of a SELECT for the placement of filters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from whyscan.predicate.syntax.parse import unwrapped
from whyscan.predicate.syntax.tokens import function_name
from whyscan.statements.sql.relations import Kind, OutputAggregate, RowLimit, Sort
from whyscan.statements.sql.scopes import is_volatile, may_aggregate
from whyscan.statements.sql.using_joins import side_and_kind
from whyscan.statements.stay_reasons import StayReason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from whyscan.statements.sql.scopes import Frame
    from whyscan.tree.nodes import Expression

_BARRIERS = {
    "limit": StayReason.LIMIT,
    "offset": StayReason.OFFSET,
    "sample": StayReason.TABLESAMPLE,
    "match": StayReason.MATCH_RECOGNIZE,
    "connect": StayReason.CONNECT_BY,
    "kind": StayReason.SELECT_AS,
    "pivots": StayReason.PIVOT,
}
_SIDES = {"LEFT": Kind.LEFT, "RIGHT": Kind.RIGHT, "FULL": Kind.FULL}


def barrier(node: exp.Expr) -> StayReason | None:
    """Return why no condition from outside passes into this query; None where some may."""
    clause = next((reason for key, reason in _BARRIERS.items() if node.args.get(key)), None)
    if clause is not None:
        return clause
    distinct = node.args.get("distinct")
    if isinstance(distinct, exp.Distinct) and distinct.args.get("on") is not None:
        return StayReason.DISTINCT_ON
    if isinstance(node, exp.Select) and any(map(is_volatile, (*node.expressions, *_where(node)))):
        return StayReason.NOT_DETERMINISTIC
    return None


def barrier_before_where(node: exp.Select) -> StayReason | None:
    """Return why WHERE does not filter the rows of FROM; None where it does.

    DuckDB's USING SAMPLE chooses rows before WHERE. MATCH_RECOGNIZE makes other rows. CONNECT BY
    follows rows that WHERE drops afterwards.
    """
    if node.args.get("sample"):
        return StayReason.TABLESAMPLE
    return next((_BARRIERS[key] for key in ("match", "connect") if node.args.get(key)), None)


def _where(node: exp.Select) -> list[exp.Expr]:
    where = node.args.get("where")
    return [] if where is None else [where.this]


def kind(join: exp.Join) -> tuple[Kind, bool]:
    """The kind of a join, and whether its sides must be swapped for it."""
    side, word = side_and_kind(join)
    if isinstance(join.this, exp.Lateral) and join.this.args.get("cross_apply") is False:
        return Kind.LEFT, False  # OUTER APPLY
    if (join.method or "").upper() not in {"", "NATURAL", "HASH", "GLOBAL"}:
        return Kind.OPAQUE, False
    if word in {"SEMI", "ANTI"}:
        return (Kind.SEMI if word == "SEMI" else Kind.ANTI), side == "RIGHT"
    if word not in {"", "INNER", "OUTER", "CROSS"}:
        return Kind.OPAQUE, False
    return _SIDES.get(side, Kind.INNER if word != "OUTER" else Kind.LEFT), False


def groups(node: exp.Select, frame: Frame) -> tuple[Expression, ...] | None:
    """The expressions that have one value per group: the plain keys of GROUP BY.

    None without groups.
    """
    group = node.args.get("group")
    if group is None:
        having = node.args.get("having") is not None
        return () if having or any(map(may_aggregate, node.expressions)) else None
    if _sets_behind_keys(group):
        return ()
    keys = group.expressions
    if group.args.get("all"):
        keys = [e for e in map(unaliased, node.expressions) if not may_aggregate(e)]
    return _values(keys, frame)


def rolled_up(node: exp.Select, frame: Frame) -> tuple[Expression, ...]:
    """The expressions of GROUP BY that are NULL in the rows of some grouping sets."""
    group = node.args.get("group")
    if group is None:
        return ()
    behind = _sets_behind_keys(group)
    pending = [part for part in group.expressions if behind or isinstance(part, _SETS)]
    keys = []
    while pending:
        part = unwrapped(pending.pop())
        if isinstance(part, (*_SETS, exp.Tuple)):
            pending += part.expressions
        else:
            keys.append(_output_of(part, node.expressions))
    return _values(keys, frame)


_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)


def _sets_behind_keys(group: exp.Group) -> bool:
    """Whether the grouping sets follow the keys: `GROUP BY a, b WITH ROLLUP`."""
    return any(group.args.get(key) for key in ("totals", "rollup", "cube", "grouping_sets"))


def _output_of(key: exp.Expr, outputs: Sequence[exp.Expr]) -> exp.Expr:
    """The output that a key of a grouping set names by its position; else the key."""
    position = _number(key)
    if position is None or not 0 < position <= len(outputs):
        return key
    return unaliased(outputs[position - 1])


def _values(keys: Iterable[exp.Expr], frame: Frame) -> tuple[Expression, ...]:
    """The expressions that are understood."""
    values = (frame.value(unwrapped(key)) for key in keys)
    return tuple(value for value in values if value is not None)


def partitions(node: exp.Select, frame: Frame) -> tuple[tuple[Expression, ...], ...]:
    """One entry per window function of the block: the expressions of PARTITION BY."""
    windows = {w.name.lower(): w for w in node.args.get("windows") or ()}
    clauses = (*node.expressions, node.args.get("qualify"), node.args.get("order"))
    window_keys = []
    for clause in clauses:
        for window in [] if clause is None else _outside_queries(clause, exp.Window):
            definition = windows.get(window.alias.lower(), window) if window.alias else window
            keys = (
                frame.value(unwrapped(key)) for key in definition.args.get("partition_by") or ()
            )
            window_keys.append(tuple(key for key in keys if key is not None))
    return tuple(window_keys)


def order(node: exp.Select, frame: Frame) -> tuple[Sort, ...]:
    """The keys of ORDER BY; a name without a table is an output's name."""
    clause = node.args.get("order")
    return tuple(
        Sort(
            None if _has_two_meanings(ordered.this, node, frame) else frame.value(key),
            descending=bool(ordered.args.get("desc")),
            nulls_first=bool(ordered.args.get("nulls_first")),
        )
        for key, ordered in zip(_sort_keys(node), clause.expressions if clause else (), strict=True)
    )


def _has_two_meanings(key: exp.Expr, node: exp.Select, frame: Frame) -> bool:
    """Whether a name within an expression is an output's and another column's.

    `SELECT -k AS k … ORDER BY k + 1`: Spark sorts by the output, DuckDB by the column.
    """
    inner = unwrapped(key)
    if isinstance(inner, exp.Column):
        return False
    names = {part.name for part in inner.find_all(exp.Column) if not part.table}
    hiding = {e.alias for e in node.expressions if e.alias in names and e.this.name != e.alias}
    columns = {f.name.lower() for source in frame.sources.values() for f in source.fields}
    has_schemas = all(source.fields for source in frame.sources.values())
    return bool(hiding & columns if has_schemas else hiding)


def _sort_keys(node: exp.Select) -> list[exp.Expr]:
    """The keys of ORDER BY, with output names replaced by their expressions."""
    clause = node.args.get("order")
    outputs = {e.alias_or_name: unaliased(e) for e in node.expressions}

    def written_out(part: exp.Expr) -> exp.Expr:
        is_output = isinstance(part, exp.Column) and not part.table and part.name in outputs
        return outputs[part.name].copy() if is_output else part

    keys = [unwrapped(ordered.this) for ordered in ([] if clause is None else clause.expressions)]
    return [key.transform(written_out) for key in keys]


def row_limit(node: exp.Expr) -> RowLimit | None:
    """LIMIT and OFFSET as numbers; None without both."""
    limit, offset = node.args.get("limit"), node.args.get("offset")
    if limit is None and offset is None:
        return None
    amount = None
    if limit is not None and not limit.args.get("expressions"):
        options = limit.args.get("limit_options")
        count = limit.args.get("count") if isinstance(limit, exp.Fetch) else limit.expression
        odd = options is not None and (options.args.get("percent") or options.args.get("with_ties"))
        amount = None if odd else _number(count)
    return RowLimit(amount, 0 if offset is None else _number(offset.expression))


def _number(node: object) -> int | None:
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit():
        return int(node.name)
    return None


def aggregates(node: exp.Select, frame: Frame) -> tuple[OutputAggregate, ...]:
    """The outputs that are one aggregate call each: `count(*)`, `max(a)`."""
    calls = []
    for projection in node.expressions:
        call = unwrapped(unaliased(projection))
        if isinstance(call, exp.Anonymous) and may_aggregate(call) and len(call.expressions) == 1:
            argument = call.expressions[0]
            star = isinstance(argument, exp.Star)
            value = None if star else frame.value(argument)
            calls.append(
                OutputAggregate(projection.alias_or_name, function_name(call), value, star)
            )
    return tuple(calls)


def expressions(node: exp.Select) -> list[exp.Expr]:
    """The expressions of a block that may contain subqueries, except FROM, WHERE and ON."""
    keys = ("group", "having", "qualify", "order", "distinct")
    return [*node.expressions, *(c for key in keys if (c := node.args.get(key)) is not None)]


def limits(node: exp.Expr) -> Iterator[exp.Expr]:
    """LIMIT and OFFSET, the sample and the windows with names: subqueries may stand in them."""
    clauses = (node.args.get("limit"), node.args.get("offset"), node.args.get("sample"))
    yield from (clause for clause in clauses if clause is not None)
    yield from node.args.get("windows") or ()


def non_output_clauses(node: exp.Select) -> Iterator[exp.Expr]:
    """The clauses whose columns are read whichever outputs are used."""
    for key in ("where", "group", "having", "qualify", "distinct", "match", "connect"):
        clause = node.args.get(key)
        if isinstance(clause, exp.Expr):
            yield clause
    yield from node.args.get("laterals") or ()
    yield from node.args.get("windows") or ()
    for join in node.args.get("joins") or ():
        if isinstance(join.this, exp.Unnest | exp.Lateral):
            yield join.this
    yield from _sort_keys(node)


def place(node: exp.Expr) -> int:
    """The position of a source's name in the text; -1 where it has none."""
    name_node = node.parts[-1] if isinstance(node, exp.Table) and node.parts else node
    return int(node.meta.get("place", name_node.meta.get("start", -1)))


def unaliased(node: exp.Expr) -> exp.Expr:
    """The expression of an output without its name."""
    return node.this if isinstance(node, exp.Alias) else node


def _outside_queries(node: exp.Expr, node_type: type[exp.Expr]) -> Iterator[exp.Expr]:
    for part in node.walk(prune=lambda n: isinstance(n, exp.Query)):
        if isinstance(part, node_type):
            yield part
