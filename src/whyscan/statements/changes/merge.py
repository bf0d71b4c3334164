"""Turns MERGE into the join that it reads.

A target row t and a source row s that ON pairs, p(t, s), matter

- to WHEN MATCHED AND c if c holds,
- to WHEN NOT MATCHED AND i if i(s) holds, because the pair prevents that s is inserted,
- to WHEN NOT MATCHED BY SOURCE AND d if d(t) holds, because the pair prevents that t is changed.

So the pairs are those of p AND (c OR i OR d). Of the rows without a partner, s matters if i(s) and
t if d(t): the first makes the join a left join of the source with the target. The second reads the
target once more, as `target_query`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from sqlglot import exp

from whyscan.errors import SyntaxProblem
from whyscan.predicate.syntax.parse import conjuncts
from whyscan.statements.changes.queries import (
    Change,
    TargetFiles,
    is_value,
    marked_target,
    returning,
    select_from,
    star,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_IDLE = {"DO NOTHING"}
SOURCE = "_source"


class Clauses(Struct, frozen=True):
    """The WHEN clauses of a MERGE that matter, with qualified column names.

    A clause that does nothing matters if one of its kind that acts follows: it takes rows from it.
    """

    matched: tuple[exp.When, ...]
    inserts: tuple[exp.When, ...]
    orphans: tuple[exp.When, ...]
    """The clauses WHEN NOT MATCHED BY SOURCE."""

    @property
    def all(self) -> tuple[exp.When, ...]:
        return (*self.matched, *self.inserts, *self.orphans)


def merge(tree: exp.Merge, text: str) -> Change:
    """The join that a MERGE reads, and the query of target rows that may have no source row."""
    if not tree.args.get("on") and not tree.args.get("using_cond"):
        raise SyntaxProblem("MERGE without ON", text=text, hint="say which rows match: ON a = b")
    target, source = marked_target(tree.this, text), _source(tree.args["using"])
    whens = clauses(tree, star(target), star(source))
    paired = [*whens.matched, *whens.inserts]
    outputs = [star(target), *_expressions(paired, star(source)), *returning(tree)]
    query = select_from(outputs, source, tree)
    query.append("joins", _join(tree, target, "LEFT" if whens.inserts else ""))
    _narrow(query, whens.all)
    target_query = None
    if whens.orphans:
        target_copy = target.copy()
        target_query = select_from(
            [star(target_copy), *_expressions(whens.orphans, star(target_copy))], target_copy
        )
        target_query.set("with_", _copied(tree.args.get("with_")))
        _narrow(target_query, whens.orphans)
    acts = bool(whens.matched or whens.orphans)
    return Change("merge", query, target_query, TargetFiles.REWRITTEN if acts else TargetFiles.KEPT)


def clauses(tree: exp.Merge, target: exp.Column, source: exp.Column) -> Clauses:
    """The clauses that matter: matched, not matched, not matched by source."""
    groups: tuple[list[exp.When], list[exp.When], list[exp.When]] = ([], [], [])
    for when in tree.args["whens"].expressions:
        at = 0 if when.args.get("matched") else 2 if when.args.get("source") else 1
        groups[at].append(_complete(when, (None, source, target)[at]))
    for group in groups:
        while group and not _acts(group[-1]):
            group.pop()
    return Clauses(*map(tuple, groups))


def _acts(when: exp.When) -> bool:
    then = when.args.get("then")
    return not (isinstance(then, exp.Var) and then.name.upper() in _IDLE)


def _source(node: exp.Expr) -> exp.Expr:
    source = node.copy()
    if not isinstance(source, exp.Table) and not source.alias:
        source.set("alias", exp.TableAlias(this=exp.to_identifier(SOURCE)))
    return source


def _join(tree: exp.Merge, target: exp.Table, side: str) -> exp.Join:
    join = exp.Join(this=target, side=side)
    shared = tree.args.get("using_cond")
    if shared:
        join.set("using", [name.copy() for name in shared])
    else:
        join.set("on", tree.args["on"].copy())
    return join


def _complete(when: exp.When, only: exp.Column | None) -> exp.When:
    """The clause with its only possible table in front of every bare column."""
    copy = when.copy()
    if only is None:
        return copy
    values = copy.args["then"].args.get("expression")
    for part in (copy.args.get("condition"), values, *_set(copy)):
        for node in [] if not isinstance(part, exp.Expr) else _outside_queries(part):
            if isinstance(node, exp.Column) and not node.table and is_value(node):
                node.set("table", only.args["table"].copy())
    return copy


def _outside_queries(node: exp.Expr) -> list[exp.Expr]:
    """The nodes outside of subqueries: a subquery has its own tables."""
    return list(node.walk(prune=lambda n: isinstance(n, exp.Query)))


def _set(when: exp.When) -> list[exp.Expr]:
    """The right sides of UPDATE SET."""
    then = when.args["then"]
    pairs = then.expressions if isinstance(then, exp.Update) else []
    return [pair.expression for pair in pairs or () if isinstance(pair, exp.EQ)]


def _expressions(whens: Sequence[exp.When], source: exp.Column) -> list[exp.Expr]:
    """Everything that the clauses compute: conditions, right sides of SET, inserted values."""
    expressions: list[exp.Expr] = []
    for when in whens:
        condition, then = when.args.get("condition"), when.args["then"]
        expressions += [] if condition is None else [condition.copy()]
        values = then.args.get("expression") if isinstance(then, exp.Insert) else None
        if isinstance(values, exp.Tuple):
            expressions += [value.copy() for value in values.expressions if is_value(value)]
        elif isinstance(then, exp.Insert) or _takes_all(then):
            expressions.append(source.copy())
        expressions += [value.copy() for value in _set(when) if is_value(value)]
    return expressions


def _takes_all(then: exp.Expr) -> bool:
    """Whether all columns are set: `UPDATE SET *`, or DuckDB's UPDATE without SET."""
    pairs = then.expressions if isinstance(then, exp.Update) else [then]
    return not pairs or isinstance(pairs[0], exp.Star)


def _narrow(query: exp.Select, whens: Sequence[exp.When]) -> None:
    """Filter the query by the conditions of the clauses, if every clause has one.

    A condition with a subquery stays where it is, so that its tables are read once.
    """
    clause_conditions = []
    for when in filter(_acts, whens):
        condition = when.args.get("condition")
        parts = [] if condition is None else conjuncts(condition)
        plain = [part.copy() for part in parts if part.find(exp.Query) is None]
        if not plain:
            return
        clause_conditions.append(exp.and_(*plain))
    if clause_conditions:
        query.where(exp.or_(*clause_conditions), copy=False)


def _copied(node: exp.Expr | None) -> exp.Expr | None:
    return None if node is None else node.copy()
