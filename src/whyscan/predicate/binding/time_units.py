"""Words that are units of time: in `DATE_TRUNC(d, MONTH)` the word MONTH is not a column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from whyscan.predicate.binding.time_calls import UNIT_WORDS
from whyscan.predicate.syntax.dialects import DialectFamily
from whyscan.predicate.syntax.tokens import function_name

if TYPE_CHECKING:
    from whyscan.predicate.syntax.dialects import Dialect

_FIRST_OF_TWO = {"date_part", "datepart", "date_trunc", "datetrunc"}
_FIRST_OF_THREE = {
    *("dateadd", "date_add", "timeadd", "timestampadd"),
    *("datediff", "date_diff", "timediff", "timestampdiff"),
}
_SECOND = ("date_trunc", "datetime_trunc", "timestamp_trunc", "time_trunc", "last_day")
_THIRD = ("date_diff", "datetime_diff", "timestamp_diff", "time_diff")
_OF_BIGQUERY = {**dict.fromkeys(_SECOND, 1), **dict.fromkeys(_THIRD, 2)}


def mark_units(tree: exp.Expr, dialect: Dialect) -> None:
    """Replace column nodes that are time units by word nodes, before names are resolved."""
    if not dialect.bare_units:
        return
    for call in tree.find_all(exp.Anonymous):
        position = _unit_position(call, dialect.family)
        if position is None or position >= len(call.expressions):
            continue
        unit = call.expressions[position]
        if isinstance(unit, exp.Column) and not unit.table and unit.name.lower() in UNIT_WORDS:
            unit.replace(exp.Var(this=unit.name))


def _unit_position(call: exp.Anonymous, family: DialectFamily) -> int | None:
    """The index of the argument that is a unit of time; None if there is none."""
    name = function_name(call)
    if family is DialectFamily.BIGQUERY:
        return _OF_BIGQUERY.get(name)
    functions = {2: _FIRST_OF_TWO, 3: _FIRST_OF_THREE}.get(len(call.expressions), set())
    return 0 if name in functions else None
