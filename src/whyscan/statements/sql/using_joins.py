"""Rewrites joins by USING and NATURAL, SEMI joins and joins by `(+)` to joins by ON."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec import Struct, field
from sqlglot import exp

from whyscan.predicate.syntax.parse import conjuncts, unwrapped

if TYPE_CHECKING:
    from collections.abc import Iterable

_USING = "using"
_BEHIND_JOIN = re.compile(r"\bjoin[\s(]*$", re.IGNORECASE)


def mark_using(tree: exp.Expr, text: str) -> None:
    """Mark joins by USING and NATURAL, before qualification makes them joins by ON.

    A JOIN without ON, which MySQL allows, becomes a CROSS JOIN: it binds as every JOIN does.
    """
    for join in tree.find_all(exp.Join):
        if join.args.get("using") or join.method == "NATURAL":
            join.meta[_USING] = True
        elif is_comma(join):
            starts = [
                part.meta["start"] for part in join.find_all(exp.Identifier) if "start" in part.meta
            ]
            if starts and _BEHIND_JOIN.search(text, 0, min(starts)):
                join.set("kind", "CROSS")


def merge_columns(tree: exp.Expr) -> None:
    """Make a join by USING compare the merged column of the joins before it.

    Qualification uses the first table's column, which a right or full join may have made NULL:

    | a … JOIN b USING (k) JOIN c USING (k) | qualified     | merged                      |
    |---------------------------------------|---------------|-----------------------------|
    | inner, left                           | `a.k = c.k`   | `a.k = c.k`                 |
    | right                                 | `a.k = c.k`   | `b.k = c.k`                 |
    | full                                  | `a.k = c.k`   | `coalesce(a.k, b.k) = c.k`  |
    """
    for query in tree.find_all(exp.Select):
        start = query.args.get("from_")
        group = Group([] if start is None else [start.this.alias_or_name])
        for join in query.args.get("joins") or ():
            alias = join.this.alias_or_name
            if is_comma(join):
                group = Group([alias])
                continue
            if _USING in join.meta and join.args.get("on") is not None:
                for equal in conjuncts(join.args["on"]):
                    group.merge(unwrapped(equal), (join.side or "").upper())
            group.aliases.append(alias)


class Group(Struct):
    """Tables joined by JOIN since the start or the last comma, with their merged columns."""

    aliases: list[str]
    merged: dict[str, exp.Expr] = field(default_factory=dict)

    def merge(self, equal: exp.Expr, side: str) -> None:
        """Correct one `a.k = c.k`, and save what `k` means after the join."""
        name = equal.expression.name
        if isinstance(equal.this, exp.Column):
            equal.set("this", self._before(name, equal.this))
        match side:
            case "RIGHT":
                self.merged[name] = equal.expression
            case "FULL":
                self.merged[name] = _call("coalesce", equal.this, equal.expression)
            case _:
                self.merged.setdefault(name, equal.this)

    def _before(self, name: str, column: exp.Column) -> exp.Expr:
        """The column `name` of the tables before a join."""
        if name in self.merged:
            return self.merged[name].copy()
        if column.table in self.aliases:
            return column
        columns = [exp.column(name, table=alias) for alias in self.aliases]
        return columns[0] if len(columns) == 1 else _call("one_of", *columns)


def _call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])


def name_semi_joins(tree: exp.Expr) -> None:
    """Rewrite the SEMI and ANTI joins whose names qualification does not resolve.

    | written                           | rewritten                                         |
    |-----------------------------------|---------------------------------------------------|
    | `(a SEMI JOIN b ON …)`            | `(SELECT * FROM a SEMI JOIN b ON …) a`            |
    | `FROM (a JOIN b) SEMI JOIN c ON x` | `FROM (a JOIN b) WHERE EXISTS (FROM c WHERE x)`  |

    Only `a` is visible from outside of the first, and `c` nowhere outside of the second.
    """
    for table in list(tree.find_all(exp.Table)):
        joins, around = table.args.get("joins") or [], table.parent
        if not isinstance(around, exp.Paren | exp.Subquery) or not joins:
            continue
        if around.args.get("joins") or not all(join.is_semi_or_anti_join for join in joins):
            continue
        alias = exp.TableAlias(this=exp.to_identifier(table.alias_or_name))
        table.set("joins", None)
        query = exp.Select(expressions=[exp.Star()], from_=exp.From(this=table.copy()), joins=joins)
        around.replace(exp.Subquery(this=query, alias=alias))
    for select in list(tree.find_all(exp.Select)):
        _semi_joins_behind_parentheses(select)


def _semi_joins_behind_parentheses(select: exp.Select) -> None:
    """Make a SEMI or ANTI join that follows joins in parentheses a condition of WHERE.

    That is the same as long as no RIGHT or FULL join follows: every other join keeps or
    drops a row whatever the condition says about it.
    """
    start, joins = select.args.get("from_"), select.args.get("joins") or []
    items = [*([] if start is None else [start.this]), *(join.this for join in joins)]
    if all(item.alias or not isinstance(item, exp.Subquery | exp.Paren) for item in items):
        return
    for at, join in reversed(list(enumerate(joins))):
        if (join.side or "").upper() in ("RIGHT", "FULL"):
            return
        on = join.args.get("on")
        if join.is_semi_or_anti_join and on is not None and not join.method:
            select.set("joins", joins := joins[:at] + joins[at + 1 :])
            query = exp.Select(expressions=[exp.Literal.number(1)], from_=exp.From(this=join.this))
            exists: exp.Expr = exp.Exists(this=query.where(on, copy=False))
            negated = join.kind.upper() == "ANTI"
            select.where(exp.Not(this=exists) if negated else exists, copy=False)


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
