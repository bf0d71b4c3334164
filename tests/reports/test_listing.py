"""The files of a report as an Arrow table, next to the same files as the JSON document has them."""

import json

import pyarrow as pa
import pytest

from support.lakes import delta_users, empty, one_file, users
from support.memory_table import DataFile, MemoryTable, RowGroup
from support.reports import explain
from whyscan.errors import UsageError
from whyscan.reports.document import to_json
from whyscan.tree.types import INT, STRING, TIMESTAMP

BOTH = "country = 'DE' AND age > 40"


def test_files_are_an_arrow_table_with_typed_bounds_and_partition_values():
    table = explain(delta_users(), BOTH, verbose=True).files()

    assert table.schema.field("partition").type == pa.struct({"country": pa.string()})
    ends = pa.struct({"lower": pa.int64(), "upper": pa.int64()})
    assert table.schema.field("bounds").type == pa.struct({"age": ends})
    assert table.select(["path", "verdict", "pruned_by", "reason"]).to_pylist()[:3] == [
        {
            "path": "country=DE/a.parquet",
            "verdict": "some",
            "pruned_by": None,
            "reason": "STRADDLES",
        },
        {
            "path": "country=DE/b.parquet",
            "verdict": "none",
            "pruned_by": "statistics",
            "reason": None,
        },
        {
            "path": "country=IT/a.parquet",
            "verdict": "none",
            "pruned_by": "partition",
            "reason": None,
        },
    ]


@pytest.mark.parametrize("table", [users(), delta_users()], ids=["hive", "delta"])
def test_the_arrow_table_says_what_the_document_says(table):
    report = explain(table, BOTH, verbose=True)
    lines = report.files().to_pylist()

    for line, expected in zip(report.to_dict()["files"], lines, strict=True):
        bounds = expected["bounds"]["age"]
        shown = line["bounds"].get("age", [None, None])
        assert [bounds["lower"], bounds["upper"]] == shown
        for name in ("path", "bytes", "rows", "partition", "verdict", "row_groups", "residual"):
            assert expected[name] == line[name]


def test_row_groups_of_a_file_that_was_not_opened_are_null_and_of_an_emptied_one_none():
    table = MemoryTable(
        {"p": STRING, "x": INT},
        [
            DataFile("p=a/0", {"p": "a"}, [RowGroup(1, {"x": (0, 1)}), RowGroup(1, {"x": (5, 9)})]),
            DataFile("p=a/1", {"p": "a"}, [RowGroup(1, {"x": (0, 1)})]),
            DataFile("p=b/0", {"p": "b"}, [RowGroup(1, {"x": (5, 9)})]),
        ],
        ("p",),
    )

    files = explain(table, "p = 'a' AND x > 4", verbose=True).files()

    assert files["row_groups"].to_pylist() == [[1], [], None]


def test_files_of_a_table_without_partitions_have_none():
    files = explain(one_file(INT, RowGroup(1)), "x = 1", verbose=True).files()

    assert files["partition"].to_pylist() == [None]
    assert files["bounds"].to_pylist() == [{"x": {"lower": None, "upper": None}}]


def test_instants_have_their_zone_and_text_that_is_cut_off_is_shown():
    moments = one_file(TIMESTAMP, RowGroup(1, {"x": (0, 1_000_000)}))
    letters = one_file(STRING, RowGroup(1, {"x": (b"a\xc3", "b")}))

    when = explain(moments, "x IS NOT NULL", verbose=True).files()["bounds"].type.field("x").type
    text = explain(letters, "x > 'a'", verbose=True).files()["bounds"].to_pylist()

    assert when.field("lower").type == pa.timestamp("us", "UTC")
    assert text == [{"x": {"lower": "a\\xc3", "upper": "b"}}]


def test_a_report_without_files_says_how_to_have_them():
    with pytest.raises(UsageError, match="does not list the files") as caught:
        explain(users(), BOTH).files()

    assert caught.value.hint == "explain(…, verbose=True) does"


def test_an_empty_table_lists_no_files():
    assert explain(empty(), "x = 1", verbose=True).files().num_rows == 0


def test_the_text_of_a_document_has_its_objects_a_file_a_line_in_ascii():
    hostile = '\x1b[31m\u202egrün\x7f\U0001f9ca "quoted"\\'
    table = one_file(STRING, RowGroup(2, {"x": (hostile, "b")}), path=f"{hostile}.parquet")
    report = explain(table, "x >= 'a'", verbose=True)

    text, expected = to_json(report), report.to_dict()
    assert json.loads(text) == expected
    assert text.isascii()
    assert "\x1b" not in text
    assert text.splitlines()[-3].strip() == json.dumps(expected["files"][0])
