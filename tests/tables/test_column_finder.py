"""One rule for names in files, footers, schemas and queries: no case, and two are an error."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

import whyscan
from whyscan.errors import TableError, UnknownColumn
from whyscan.scan.columns_of_file import file_columns
from whyscan.tables.column_finder import MappedName, Naming, finder
from whyscan.tables.delta.schema import read_schema
from whyscan.tables.parquet import schemas
from whyscan.tree.names import AmbiguousName
from whyscan.tree.types import BIGINT, Field, Schema

BY_ID = Naming(by_id=True)
FILES = {
    "one": [("Id", 1)],
    "two that differ in case": [("id", 1), ("ID", 2)],
    "no ids": [("ID", None), ("other", None)],
    "some ids": [("a", 7), ("id", None)],
    "an id twice": [("a", 5), ("b", 5)],
    "other": [("x", 1)],
}
MAPPING = Naming(by_id=True, mapping=(MappedName(5, frozenset({"ID"}), ()),))
COUNTED = Naming(by_id=True, counted=True)
ERROR = "error"
UNKNOWN = "unknown"

# The file, how the table looks up, the key; the name in the file for rows, and for statistics.
CASES = [
    ("one", Naming(), ("iD", None), "Id", "Id"),
    ("other", Naming(), ("id", None), None, None),
    ("two that differ in case", Naming(), ("id", None), ERROR, ERROR),
    ("two that differ in case", Naming(), ("ID", None), ERROR, ERROR),
    ("two that differ in case", BY_ID, ("id", 2), "ID", "ID"),
    ("two that differ in case", BY_ID, ("id", 3), None, None),
    ("no ids", BY_ID, ("id", 5), "ID", UNKNOWN),
    ("no ids", MAPPING, ("id", 5), "ID", "ID"),
    ("no ids", MAPPING, ("other", 6), None, None),
    ("no ids", COUNTED, ("id", 2), "other", UNKNOWN),
    ("two that differ in case", MAPPING, ("id", 5), None, None),
    ("some ids", BY_ID, ("a", 7), "a", "a"),
    ("some ids", BY_ID, ("id", 5), None, UNKNOWN),
    ("an id twice", BY_ID, ("id", 5), ERROR, UNKNOWN),
]


def nested(wrap, fields):
    """The fields at the top, and as the members of a struct `s` with the id 100."""
    return [wrap("s", 100, [wrap(name, number, []) for name, number in fields])]


def arrow(name, number, members):
    kind = pa.struct(members) if members else pa.int64()
    metadata = None if number is None else {"PARQUET:field_id": str(number)}
    return pa.field(name, kind, metadata=metadata)


def node(name, number, members):
    return schemas.Node(name, BIGINT, members=tuple(members), id=number)


def name_of(find):
    try:
        column = find()
    except AmbiguousName:
        return ERROR
    if column is schemas.UNKNOWN:
        return UNKNOWN
    return None if column is None else column.name


@pytest.mark.parametrize(("file", "naming", "key", "in_rows", "in_statistics"), CASES)
def test_rows_and_statistics_find_the_same_column(file, naming, key, in_rows, in_statistics):
    fields = FILES[file]
    in_file = finder(file_columns([arrow(*field, []) for field in fields]), naming)
    footer = schemas.FileSchema(tuple(node(*field, []) for field in fields), ())

    assert name_of(lambda: in_file.find([key])) == in_rows
    assert name_of(lambda: schemas.find(footer, [key], naming)) == in_statistics


@pytest.mark.parametrize(
    ("file", "naming", "key", "in_rows", "in_statistics"),
    [case for case in CASES if case[0] != "no ids" and case[1].mapping is None],
)
def test_members_of_structs_are_found_by_the_same_rule(file, naming, key, in_rows, in_statistics):
    keys = [("S", 100), key]
    in_file = finder(file_columns(nested(arrow, FILES[file])), naming)
    footer = schemas.FileSchema(tuple(nested(node, FILES[file])), ())

    assert name_of(lambda: in_file.find(keys)) == in_rows
    assert name_of(lambda: schemas.find(footer, keys, naming)) == in_statistics


def test_a_member_with_the_right_id_in_another_struct_is_another_column():
    footer = schemas.FileSchema((node("t", 9, [node("a", 2, [])]),), ())

    assert schemas.find(footer, [("s", 1), ("a", 2)], BY_ID) is None


def write(path: Path, names: list[str]) -> None:
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table([pa.array([1, 2])] * len(names), names), path)


def parquet_table(folder: Path) -> whyscan.Table:
    write(folder / "0.parquet", ["x", "y"])
    write(folder / "1.parquet", ["x", "X", "y"])
    return whyscan.open(str(folder))


def delta_table(folder: Path) -> whyscan.Table:
    write_deltalake(folder, pa.table({"x": [1, 2], "y": [1, 2]}))
    (file,) = DeltaTable(folder).file_uris()
    write(Path(file), ["x", "X", "y"])
    return whyscan.open(str(folder))


@pytest.mark.parametrize("make", [parquet_table, delta_table])
def test_a_file_with_two_spellings_is_an_error_for_statistics_and_for_rows(make, tmp_path):
    table = make(tmp_path / "t")
    several = "several columns that answer to '[xX]'"

    with pytest.raises((TableError, UnknownColumn), match=f"{several}|is ambiguous"):
        table.plan("x = 1", depth="row-groups")
    with pytest.raises(TableError, match=several):
        table.plan("true").to_arrow()
    assert table.plan("y = 1", select=["y"], depth="row-groups").to_arrow().num_rows


def test_two_columns_of_a_table_are_not_read_from_one_column_of_a_file(tmp_path):
    table = parquet_table(tmp_path / "t")

    with pytest.raises(TableError, match="the table has several columns that answer to 'x'"):
        table.plan("_metadata.file_name = '0.parquet'").to_arrow()


def test_a_delta_schema_with_two_spellings_names_neither():
    fields = [{"name": name, "type": "long", "nullable": True} for name in ("x", "X", "straße")]
    schema = read_schema(json.dumps({"type": "struct", "fields": fields}), mapped=False)

    with pytest.raises(AmbiguousName):
        schema.find(("x",))
    assert schema.find(("STRAßE",)).path == ("straße",)
    assert schema.find(("STRASSE",)) is None


def test_a_schema_has_names_in_any_case():
    schema = Schema((Field("Ab", BIGINT),))

    assert schema.has_all(["aB"])
    assert not schema.has_all(["aB", "c"])
