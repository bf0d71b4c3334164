"""Generated files, read by generated predicates: the rows that brute force finds, or an error."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import assume, given
from hypothesis import strategies as st

import whyscan
from oracle.cases import Example
from oracle.dice import Dice, tried
from oracle.errors import Unsupported
from oracle.predicates import Maker
from oracle.render import sql
from oracle.tables import World, any_world
from scan.same_rows import counted
from whyscan.errors import EvaluationProblem
from whyscan.tables.file_columns import result_type
from whyscan.tables.iceberg.file_columns import to_read_type
from whyscan.tree import arrow

NUMBER = "row"


@st.composite
def questions(draw: Any) -> tuple[Example, str, Dice]:
    """A world, some of whose columns are members of a struct, and a predicate as text."""
    dice = Dice(draw)
    flat = any_world(dice)
    names = {path: ("s", *path) if dice.one_in(3) else path for path in flat.schema}
    world = replace(
        flat,
        schema={names[path]: kind for path, kind in flat.schema.items()},
        rows=tuple(tuple({names[p]: v for p, v in r.items()} for r in rows) for rows in flat.rows),
        statistics=(),
    )
    predicate = Maker(dice, world, certain=True).predicate(3)
    try:
        return Example(world, predicate), sql(predicate), dice
    except Unsupported:
        assume(condition=False)
        raise


def tables(world: World) -> list[pa.Table]:
    """A table for each container; rows are numbered through. A struct of NULLs alone is NULL."""
    tables_of_rows, first = [], 0
    for container in world.rows:
        columns = {NUMBER: pa.array(range(first, first + len(container)), pa.int64())}
        inner = {}
        for path, kind in world.schema.items():
            values = to_read_type(
                arrow.array([row[path] for row in container], kind), result_type(kind)
            )
            (inner if len(path) > 1 else columns)[path[-1]] = values
        if inner:
            nothing = [all(row[p] is None for p in world.schema if len(p) > 1) for row in container]
            columns["s"] = pa.StructArray.from_arrays(
                [*inner.values()], [*inner], mask=pa.array(nothing, pa.bool_())
            )
        tables_of_rows.append(pa.table(columns))
        first += len(container)
    return tables_of_rows


def written(folder: Path, parts: list[pa.Table], dice: Dice) -> None:
    for at, table in enumerate(parts):
        pq.write_table(
            table,
            folder / f"{at}.parquet",
            row_group_size=dice.number(1, 3),
            use_dictionary=dice.one_in(2),
            write_statistics=not dice.one_in(4),
            data_page_version=dice.pick(("1.0", "2.0")),
        )


@tried(150)
@given(questions())
def test_the_rows_of_files_are_those_that_brute_force_finds(question):
    example, text, dice = question
    world = example.world
    parts = tables(world)
    whole = pa.concat_tables(parts)
    shown = [NUMBER, *(n for n in whole.column_names[1:] if dice.one_in(2))]
    with tempfile.TemporaryDirectory() as folder:
        written(Path(folder), parts, dice)
        table = whyscan.open(folder)
        try:
            rows = table.plan(text, select=shown, timezone=world.zone).to_arrow()
        except EvaluationProblem:
            assume(condition=False)
    numbers = rows.column(NUMBER).to_pylist()
    assert len(numbers) == len(set(numbers))
    allowed = [may for each in example.possible() for may in each]
    for number, may in enumerate(allowed):
        matches = number in numbers
        # An empty set: the oracle does not know the function.
        assert not may or (True in may if matches else may - {True}), (number, may, text)
    assert counted(rows) == counted(whole.select(shown).take(pa.array(numbers, pa.int64())))
