"""Rewrites FROM: joins in parentheses, by USING, by NATURAL and by `(+)` become joins by ON."""

from __future__ import annotations

import re
from collections import defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from sqlglot import exp

from whyscan.predicate.syntax.parse import conjuncts, unwrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

T = TypeVar("T")
_USING, _GROUP, _KIND = "using", "group", "kind"
_BEHIND_JOIN = re.compile(r"\bjoin[\s(]*$", re.IGNORECASE)


def mark_using(tree: exp.Expr, text: str) -> None:
    """Mark joins by USING and NATURAL, before qualification makes them joins by ON.

    A JOIN without ON, which MySQL allows, becomes a CROSS JOIN: it binds as every JOIN does. A
    renamed table of a SEMI join, `b AS t(k, v)`, becomes a query: qualification does not rename it.
    """
    for join in list(tree.find_all(exp.Join)):
        if join.args.get("using") or join.method == "NATURAL":
            join.meta[_USING] = True
            table = join.this
            if (
                isinstance(table, exp.Table)
                and table.alias_column_names
                and join.is_semi_or_anti_join
            ):
                alias = table.args["alias"].pop()
                rows = exp.Select(expressions=[exp.Star()]).from_(table.copy(), copy=False)
                join.set("this", exp.Subquery(this=rows, alias=alias))
        elif is_comma(join):
            starts = [
                part.meta["start"] for part in join.find_all(exp.Identifier) if "start" in part.meta
            ]
            if starts and _BEHIND_JOIN.search(text, 0, min(starts)):
                join.set("kind", "CROSS")


def flatten_parentheses(tree: exp.Expr) -> None:
    """Take the parentheses out of `a JOIN (b JOIN c ON …) ON …`, and mark what stood in them.

    Qualification does not look into them. `nested_joins` reads the marks. Behind a SEMI or ANTI
    join all of its group is invisible, so that every join of the group has that kind until then.
    """
    for select in list(tree.find_all(exp.Select)):
        start = select.args.get("from_")
        if start is None:
            continue
        first, joins = _flat(start.this)
        first.meta[_GROUP] = first.meta.get(_GROUP, ())
        start.set("this", first)
        for join in select.args.get("joins") or ():
            joins += _flat_join(join)
        select.set("joins", joins)


def _flat(node: exp.Expr) -> tuple[exp.Expr, list[exp.Join]]:
    """The first item of a group, which knows how many joins belong to its groups, and the joins."""
    written = node.args.get("joins") or []
    node.set("joins", None)
    first, joins = _flat(node.this) if in_parentheses(node) else (node, [])
    for join in written:
        joins += _flat_join(join)
    if joins:
        first.meta[_GROUP] = (len(joins), *first.meta.get(_GROUP, ()))
    return first, joins


def _flat_join(join: exp.Join) -> list[exp.Join]:
    first, joins = _flat(join.this)
    join.set("this", first)
    if join.is_semi_or_anti_join:
        for inner in joins:
            inner.meta.setdefault(_KIND, (inner.side, inner.kind))
            inner.set("side", None)
            inner.set("kind", "SEMI")
    return [join, *joins]


def in_parentheses(node: exp.Expr) -> bool:
    """Whether an item of FROM is a table or joins in parentheses, and not a query."""
    if not isinstance(node, exp.Subquery | exp.Paren) or node.alias:
        return False
    if any(node.args.get(key) for key in ("pivots", "sample")):
        return False
    return isinstance(node.this, exp.Table | exp.Subquery)


def side_and_kind(join: exp.Join) -> tuple[str, str]:
    """LEFT, RIGHT, FULL or nothing, and INNER, CROSS, SEMI and the like, as they were written."""
    side, kind = join.meta.get(_KIND, (join.side, join.kind))
    return (side or "").upper(), (kind or "").upper()


def nested_joins(
    select: exp.Select, item: Callable[[exp.Expr], T], joined: Callable[[T, exp.Join, T], T]
) -> list[T]:
    """What FROM is made of: one value for each item between commas, with its joins as written."""
    start, joins = select.args.get("from_"), select.args.get("joins") or []
    if start is None:
        return []

    def group(first: exp.Expr, sizes: Sequence[int], at: int) -> tuple[T, int]:
        """The value of a group, and the number of the first join behind it."""
        if not sizes:
            return item(first), at
        left, behind = group(first, sizes[1:], at)
        while behind < at + sizes[0]:
            join = joins[behind]
            right, after = group(join.this, join.this.meta.get(_GROUP, ()), behind + 1)
            left, behind = joined(left, join, right), after
        return left, behind

    value, at = group(start.this, start.this.meta.get(_GROUP, ()), 0)
    values = [value]
    while at < len(joins):
        join = joins[at]
        value, at = group(join.this, join.this.meta.get(_GROUP, ()), at + 1)
        if is_comma(join):
            values.append(value)
        else:
            values[-1] = joined(values[-1], join, value)
    return values


def merge_columns(tree: exp.Expr) -> None:
    """Make a join by USING compare the merged columns of its sides.

    Qualification uses the first table's column, which a right or full join may have made NULL:

    | a … JOIN b USING (k) JOIN c USING (k) | qualified     | merged                      |
    |---------------------------------------|---------------|-----------------------------|
    | inner, left                           | `a.k = c.k`   | `a.k = c.k`                 |
    | right                                 | `a.k = c.k`   | `b.k = c.k`                 |
    | full                                  | `a.k = c.k`   | `coalesce(a.k, b.k) = c.k`  |
    """
    for query in tree.find_all(exp.Select):
        literals = {
            output.alias: output.this
            for output in query.expressions
            if isinstance(output, exp.Alias) and isinstance(output.this, exp.Literal)
        }
        groups = nested_joins(query, lambda node: Group([node.alias_or_name]), _merged)
        for group in groups or [Group([])]:
            for clause in map(query.args.get, ("having", "qualify")):
                _replace_names(clause, {**literals, **group.merged})


def _replace_names(clause: exp.Expr | None, merged: Mapping[str, exp.Expr]) -> None:
    """Replace names in HAVING and QUALIFY that qualification leaves as they are.

    These are merged columns, and outputs that are literals: `SELECT 5 AS c … HAVING c = 5`.
    """
    nodes = [] if clause is None else clause.walk(prune=lambda n: isinstance(n, exp.Query))
    for node in list(nodes):
        if isinstance(node, exp.Column) and not node.table and node.name in merged:
            node.replace(merged[node.name].copy())


class Group(Struct, frozen=True):
    """Tables that are joined, with the columns that USING has merged."""

    aliases: list[str]
    merged: Mapping[str, exp.Expr] = MappingProxyType({})

    def column(self, name: str, qualified: exp.Expr) -> exp.Expr:
        """The column `name` of the tables; `qualified` is what qualification takes for it."""
        if name in self.merged:
            return self.merged[name].copy()
        columns = [c for c in qualified.find_all(exp.Column) if c.table in self.aliases]
        columns = columns or [exp.column(name, table=alias) for alias in self.aliases]
        return columns[0] if len(columns) == 1 else _call("one_of", *columns)


def _merged(left: Group, join: exp.Join, right: Group) -> Group:
    """Both sides as one group; correct each `a.k = c.k` that USING has become."""
    merged = {**right.merged, **left.merged}
    condition = join.args.get("on") if _USING in join.meta else None
    for equal in map(unwrapped, [] if condition is None else conjuncts(condition)):
        name = equal.expression.name
        equal.set("this", left.column(name, equal.this))
        equal.set("expression", right.column(name, equal.expression))
        match side_and_kind(join)[0]:
            case "RIGHT":
                merged[name] = equal.expression
            case "FULL":
                merged[name] = _call("coalesce", equal.this, equal.expression)
            case _:
                merged[name] = equal.this
    return Group([*left.aliases, *right.aliases], merged)


def _call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])


def join_by_marks(tree: exp.Expr) -> bool:
    """Rewrite joins by `a.k = b.k(+)` to LEFT joins; False where that is not possible.

    | written                                             | rewritten                         |
    |-----------------------------------------------------|-----------------------------------|
    | `FROM a, b WHERE a.k = b.k(+) AND b.v(+) > 3 AND x` | `FROM a LEFT JOIN b ON a.k = b.k` |
    |                                                     | `AND b.v > 3 WHERE x`             |
    """
    return all(map(_join_by_marks, tree.find_all(exp.Select)))


def _join_by_marks(select: exp.Select) -> bool:
    where = select.args.get("where")
    parts = [] if where is None else conjuncts(where.this)
    on: dict[str, list[exp.Expr]] = defaultdict(list)
    rest: list[exp.Expr] = []
    for part in parts:
        marked = {column.table for column in _marked(part)}
        if len(marked) > 1:
            return False
        (on[marked.pop()] if marked else rest).append(part)
    if not on:
        return not any(_marked(select))
    items = [select.args["from_"].this, *(join.this for join in select.args.get("joins") or ())]
    plain = [item for item in items if item.alias_or_name not in on]
    if (
        not plain
        or len(plain) + len(on) > len(items)
        or not all(map(is_comma, select.args.get("joins") or ()))
    ):
        return False
    for column in _marked(select):
        column.set("join_mark", None)
    joined = [exp.Join(this=item, kind="CROSS") for item in plain[1:]]
    before = {item.alias_or_name for item in plain}
    pending = {item.alias_or_name: item for item in items if item.alias_or_name in on}
    while pending:
        ready = next((name for name in pending if _tables(on[name]) <= {*before, name}), None)
        if ready is None:
            return False
        joined.append(exp.Join(this=pending.pop(ready), side="LEFT", on=exp.and_(*on[ready])))
        before.add(ready)
    select.set("from_", exp.From(this=plain[0]))
    select.set("joins", joined)
    select.set("where", exp.Where(this=exp.and_(*rest)) if rest else None)
    return True


def _marked(node: exp.Expr) -> list[exp.Column]:
    return [column for column in node.find_all(exp.Column) if column.args.get("join_mark")]


def _tables(parts: Iterable[exp.Expr]) -> set[str]:
    return {column.table for part in parts for column in part.find_all(exp.Column)}


def is_comma(join: exp.Join) -> bool:
    """Whether a join is written with a comma: `a, b RIGHT JOIN c` is `a, (b RIGHT JOIN c)`.

    In Spark and BigQuery it is not, and there the parser makes the comma a CROSS JOIN.
    """
    return not (join.side or join.kind or join.method or join.args.get("on"))
