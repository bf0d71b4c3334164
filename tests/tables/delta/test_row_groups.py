"""Row groups of Delta tables: found by name or by id, none with a matching row dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from oracle.rows import evaluate_row
from tables.delta.questions import columns, questions, rows_of, world

if TYPE_CHECKING:
    from tables.delta.conftest import Lake

SCHEMA = {"id": "long", "s": "string", "x": "double", "d": "date", "p": "string"}
STRUCT = {"type": "struct", "fields": [{"name": "a", "type": "long", "nullable": True}]}
ROWS_IN_A_GROUP = 5
QUESTIONS = 120


def mapped(mode: str, ids: dict[str, int]) -> dict[str, Any]:
    """A column mapping: `c` is stored as `col-c`, under an id of its own."""
    return {
        "protocol": {"minReaderVersion": 2, "minWriterVersion": 5},
        "properties": {"delta.columnMapping.mode": mode},
        "about": {
            name: {
                "delta.columnMapping.id": number,
                "delta.columnMapping.physicalName": f"col-{name}",
            }
            for name, number in ids.items()
        },
    }


def write(lake: Lake, path: str, values: dict[str, pa.Array], ids: dict[str, int] | None = None):
    """A data file of small row groups, and an add action that says nothing but its rows."""
    fields = [
        pa.field(name, array.type, metadata=_numbered(ids, name)) for name, array in values.items()
    ]
    table = pa.table(list(values.values()), schema=pa.schema(fields))
    (lake.folder / path).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, lake.folder / path, row_group_size=ROWS_IN_A_GROUP)
    partition = dict(part.split("=") for part in path.split("/")[:-1])
    return lake.add(path, {"numRecords": len(table)}, partition=partition)


def _numbered(ids: dict[str, int] | None, name: str) -> dict[str, str] | None:
    return None if ids is None or name not in ids else {"PARQUET:field_id": str(ids[name])}


def read(lake: Lake, predicate: str) -> dict[str, tuple[int, ...] | None]:
    """The row groups that a plan reads of each file."""
    return {scan.path: scan.row_groups for scan in lake.table().plan(predicate, depth="row-groups")}


def numbers(*values: int) -> pa.Array:
    return pa.array(values, pa.int64())


@pytest.mark.parametrize("mode", ["none", "name", "id"])
def test_no_row_group_with_a_matching_row_is_dropped_and_all_is_all(lake, mode):
    ids = {name: at for at, name in enumerate(SCHEMA, start=11)}
    lake.create(SCHEMA, ("p",), **({} if mode == "none" else mapped(mode, ids)))
    values_by_path, actions = {}, []
    for at, p in enumerate("aab"):
        path = f"p={p}/{at}.parquet"
        values = generated(at)
        names = {n: n if mode == "none" else "x" + n if mode == "id" else f"col-{n}" for n in ids}
        physical = {names[name]: array for name, array in values.items()}
        action = write(lake, path, physical, {names[n]: number for n, number in ids.items()})
        if mode != "none":
            action["add"]["partitionValues"] = {"col-p": p}
        actions.append(action)
        values_by_path[path] = values | {"p": pa.array([p] * len(values["id"]))}
    lake.commit(*actions)
    table = lake.table()
    schema = columns(table.snapshot)
    rows = {path: rows_of(schema, list(values.values())) for path, values in values_by_path.items()}

    wrong, spared = [], 0
    for question in questions(world(schema, list(rows.values())), QUESTIONS, seed=4):
        evidence = table.plan(question.sql, depth="row-groups").evidence
        for path, ordinal, kept, every in row_group_verdicts(evidence):
            part = rows[path][ordinal * ROWS_IN_A_GROUP : (ordinal + 1) * ROWS_IN_A_GROUP]
            answers = [evaluate_row(question.tree, row) for row in part]
            spared += not kept
            if True in answers and not kept:
                wrong.append(f"lost: {path} {ordinal} {question.sql}")
            if every and set(answers) != {True}:
                wrong.append(f"not all: {path} {ordinal} {question.sql}")

    assert wrong == []
    assert spared > QUESTIONS


def generated(at: int) -> dict[str, pa.Array]:
    base = at * 20
    ids = list(range(base, base + 20))
    return {
        "id": pa.array([None if n % 7 == 0 else n for n in ids], pa.int64()),
        "s": pa.array([None if n % 6 == 0 else f"k{n:03}ä" for n in ids]),
        "x": pa.array([float("nan") if n % 11 == 0 else n / 4 for n in ids]),
        "d": pa.array([n * 40 for n in ids], pa.int32()).cast(pa.date32()),
    }


def row_group_verdicts(evidence):
    """Each opened row group: its file, its number, whether it is kept, whether all rows match."""
    level = evidence.row_group_level
    if level is None:
        return
    groups, verdicts = level.listed, level.verdicts
    paths = evidence.files.paths.take(groups.opened.take(groups.file)).to_pylist()
    yield from zip(paths, groups.ordinal.to_pylist(), verdicts.kept, verdicts.every, strict=True)


def test_by_id_a_column_is_found_whatever_the_file_calls_it(lake):
    ids = {"a": 1, "b": 2}
    lake.create({"a": "long", "b": "long"}, **mapped("id", ids))
    # Each stands under the other's stored name.
    physical = {"col-b": numbers(*range(10)), "col-a": numbers(*range(100, 110))}
    lake.commit(write(lake, "f", physical, {"col-b": 1, "col-a": 2}))

    assert read(lake, "a = 7") == {"f": (1,)}
    assert read(lake, "b = 102") == {"f": (0,)}
    assert read(lake, "a = 102") == {}


def test_by_id_a_column_that_came_later_is_null_in_older_files(lake):
    lake.create({"a": "long", "later": "date"}, **mapped("id", {"a": 1, "later": 2}))
    lake.commit(write(lake, "old", {"any": numbers(1, 2)}, {"any": 1}))

    assert read(lake, "later IS NULL") == {"old": (0,)}
    assert read(lake, "later = DATE'2024-01-01'") == {}
    assert read(lake, "later IS NOT NULL OR a > 2") == {}


def test_by_id_a_file_without_ids_says_nothing(lake):
    lake.create({"a": "long", "later": "long"}, **mapped("id", {"a": 1, "later": 2}))
    lake.commit(write(lake, "f", {"col-a": numbers(1, 2)}))

    assert read(lake, "a = 7") == {"f": (0,)}
    assert read(lake, "later = 7") == {"f": (0,)}


def test_by_id_a_file_with_an_id_twice_or_a_column_without_one_says_nothing(lake):
    lake.create({"a": "long", "b": "long"}, **mapped("id", {"a": 1, "b": 2}))
    twice = write(lake, "twice", {"x": numbers(1), "y": numbers(2)}, {"x": 1, "y": 1})
    bare = write(lake, "bare", {"x": numbers(1), "y": numbers(2)}, {"x": 1})
    lake.commit(twice, bare)

    assert read(lake, "a = 7") == {"twice": (0,)}
    assert read(lake, "b = 7") == {"bare": (0,)}


def test_by_name_a_column_of_a_file_is_the_one_of_its_stored_name(lake):
    lake.create({"a": "long"}, **mapped("name", {"a": 1}))
    # A dropped column's data is still there, under what is the logical name of another now.
    lake.commit(write(lake, "f", {"a": numbers(*range(10)), "col-a": numbers(*range(10, 20))}))

    assert read(lake, "a = 3") == {}
    assert read(lake, "a = 13") == {"f": (0,)}


def test_members_of_structs_are_found_by_id(lake):
    inner = {"delta.columnMapping.id": 2, "delta.columnMapping.physicalName": "col-in"}
    kind = {"type": "struct", "fields": [{**STRUCT["fields"][0], "metadata": inner}]}
    lake.create({"st": kind}, **mapped("id", {"st": 1}))
    member = pa.field("other", pa.int64(), metadata={"PARQUET:field_id": "2"})
    structs = pa.array([{"other": n} for n in range(10)], pa.struct([member]))
    lake.commit(write(lake, "f", {"renamed": structs}, {"renamed": 1}))

    assert read(lake, "st.a = 7") == {"f": (1,)}
    assert read(lake, "st.a > 9") == {}


def test_deleted_rows_keep_a_row_groups_bounds(lake, bounds):
    lake.create({"a": "long"})
    action = write(lake, "f", {"a": numbers(*range(10))})
    action["add"]["deletionVector"] = {
        "storageType": "u",
        "pathOrInlineDv": "x",
        "offset": 1,
        "sizeInBytes": 1,
        "cardinality": 3,
    }
    lake.commit(action)
    plan = lake.table().plan("a >= 5", depth="row-groups")

    assert [scan.row_groups for scan in plan] == [(1,)]
    assert [every for *_, every in row_group_verdicts(plan.evidence)] == [False, True]
    from whyscan.reports.levels import rows_matched

    matched = rows_matched(plan.evidence)
    # It is unknown in which row group the three are.
    assert (matched.at_least, matched.at_most) == (2, 5)
