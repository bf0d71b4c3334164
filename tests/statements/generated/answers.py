"""What metadata answers is what the rows give."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from statements.generated.conditions import Conditions
from statements.generated.values import KINDS, NAMES, Column

if TYPE_CHECKING:
    from statements.generated.queries import Queries
    from statements.generated.worlds import World
    from whyscan.statements.records import ScanReport

_PART = re.compile(r"(\w+\(.*?\)) = ((?:'[^']*'|[^',])+)(?:, (?=\w+\()|$)")
"""One aggregate with its value, in `count(*) = 5, max(k) = 7`."""
_SUFFIX = re.compile(r"\b(\d[\d.]*)[DL]\b")
"""Spark's `2.5D` and `5L`, which DuckDB writes without the letter."""


def check_answer(world: World, scan: ScanReport, table: int) -> None:
    """Compare the answer of a scan, if it has one, with the rows that its conditions leave."""
    if scan.answer is None:
        return
    parts = _PART.findall(scan.answer)
    assert ", ".join(f"{written} = {value}" for written, value in parts) == scan.answer
    same = ", ".join(f"({written}) IS NOT DISTINCT FROM ({value})" for written, value in parts)
    where = " AND ".join(f"({placed.sql})" for placed in scan.placed) or "TRUE"
    sql = _SUFFIX.sub(r"\1", f"SELECT {same} FROM base{table} WHERE {where}")
    row = world.connection.execute(sql).fetchone()
    assert row is not None, sql
    assert all(row), f"{scan.answer}: {sql}"


def aggregates(queries: Queries) -> str:
    """One to three aggregates of a table, mostly with a condition."""
    dice, name = queries.dice, queries.occurrence()
    inside = Conditions(queries, tuple(Column(n, n, KINDS[n]) for n in NAMES))
    listed = []
    for _ in range(dice.number(1, 3)):
        column = dice.pick(inside.scope)
        text = inside.wrapped(column) if dice.one_in(3) else column.text
        listed.append(dice.pick(("count(*)", f"count({text})", f"min({text})", f"max({text})")))
    where = "" if dice.one_in(3) else f" WHERE {inside.condition(0)}"
    return f"SELECT {', '.join(listed)} FROM {name}{where}"
