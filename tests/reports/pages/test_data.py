"""The page's data before any browser sees it: small, and nothing in it ends a script."""

import json
import re
from decimal import Decimal

import pytest

from support.formats import page
from support.lakes import delta_users
from support.memory_table import DataFile, MemoryTable, RowGroup
from support.reports import explain, grown
from whyscan.reports.pages.data import files_json
from whyscan.tree.types import BIGINT, BOOLEAN, DOUBLE, STRING, DecimalType

BLOCK = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)


def data(report):
    return json.loads(files_json(report.listing))


def column(kind, predicate, *bounds):
    files = [DataFile(f"{i}", {}, [RowGroup(1, {"x": b})]) for i, b in enumerate(bounds)]
    table = MemoryTable({"x": kind}, files, footers_describe_files=False)
    return data(explain(table, predicate, verbose=True))["columns"][0]


def test_the_data_is_ascii_without_a_character_of_markup():
    table = MemoryTable({"x": STRING}, [DataFile("<&>\u2028é", {}, [RowGroup(1)])])

    text = files_json(explain(table, "x = '<'", verbose=True).listing)

    assert text.isascii()
    assert not set("<>&") & set(text)
    assert json.loads(text)["path"]["prefix"] == "<&>\\u2028é"


def test_the_page_carries_the_data_in_one_block():
    report = explain(delta_users(), "age > 40", verbose=True)

    assert BLOCK.findall(page(report)) == [files_json(report.listing)]


def test_paths_are_put_together_again_from_folders_and_what_names_do_not_share():
    report = explain(delta_users(), "age > 40", verbose=True)

    path = data(report)["path"]

    assert (path["prefix"], path["suffix"]) == ("", ".parquet")
    folders = [path["folder"]["words"][at] for at in path["folder"]["at"]]
    whole = [f + n + ".parquet" for f, n in zip(folders, path["names"], strict=True)]
    assert whole == report.files()["path"].to_pylist()


@pytest.mark.parametrize("names", [["a"], ["a", "a"], ["ab", "aab"], ["aa", "a"], []])
def test_short_names_lose_nothing_to_what_they_share(names):
    files = [DataFile(name, {}, [RowGroup(1)]) for name in names]

    path = data(explain(MemoryTable({"x": STRING}, files), "x = 'a'", verbose=True))["path"]

    assert [path["prefix"] + n + path["suffix"] for n in path["names"]] == names


@pytest.mark.parametrize(
    ("kind", "predicate", "bounds", "axis"),
    [
        (
            BIGINT,
            "x > 5",
            (1, 2**53 + 1),
            {"lower": [1], "upper": [str(2**53 + 1)], "ranges": [[6, None]]},
        ),
        (DOUBLE, "x <= 1.5", (-0.5, float("inf")), {"lower": [-0.5], "upper": ["Infinity"]}),
        (
            DecimalType(38, 2),
            "x < 10.25",
            (Decimal("1.50"), Decimal("99999999999999999999.99")),
            {"upper": ["99999999999999999999.99"], "ranges": [[None, "10.25"]]},
        ),
        (BOOLEAN, "x", (False, True), {"words": ["False", "True"], "ranges": [[0.5, None]]}),
        (STRING, "x = 'b'", ("a", "c"), {"words": ["a", "b", "c"], "ranges": [[0.5, 1.5]]}),
        (STRING, "x > 'b'", ("a", "c"), {"words": ["a", "b", "c"], "ranges": [[1.5, None]]}),
        (STRING, "x < 'b'", ("a", "c"), {"words": ["a", "b", "c"], "ranges": [[None, 0.5]]}),
        (STRING, "x LIKE 'b%'", ("a", "bz"), {"words": ["a", "b", "bz"], "ranges": [[0.5, 2.5]]}),
    ],
)
def test_positions_and_ranges_are_exact(kind, predicate, bounds, axis):
    drawn = column(kind, predicate, bounds)

    assert {name: drawn[name] for name in axis} == axis


def test_long_words_are_cut_and_long_lists_are_one_range():
    listed = ", ".join(f"'{i:04d}'" for i in range(2000))

    axis = column(STRING, f"x IN ({listed})", ("a" * 300, "b"))

    assert len(axis["words"][-2]) == 80
    assert len(axis["ranges"]) == 1
    assert axis["says"].endswith("or 1,994 more")


def test_very_many_files_stay_small():
    report = grown(explain(delta_users(), "age > 40", verbose=True), 50_000)

    assert len(files_json(report.listing)) < 50_000 * 50
