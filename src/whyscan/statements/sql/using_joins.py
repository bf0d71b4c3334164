"""Rewrites joins by USING and NATURAL to joins by ON with the right columns."""

from __future__ import annotations

from msgspec import Struct, field
from sqlglot import exp

from whyscan.predicate.syntax.parse import conjuncts, unwrapped

_USING = "using"


def mark_using(tree: exp.Expr) -> None:
    """Mark joins by USING and NATURAL, before qualification makes them joins by ON."""
    for join in tree.find_all(exp.Join):
        if join.args.get("using") or join.method == "NATURAL":
            join.meta[_USING] = True


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


def is_comma(join: exp.Join) -> bool:
    """Whether a join is written with a comma: `a, b RIGHT JOIN c` is `a, (b RIGHT JOIN c)`.

    In Spark and BigQuery it is not, and there the parser makes the comma a CROSS JOIN.
    """
    return not (join.side or join.kind or join.method or join.args.get("on"))
