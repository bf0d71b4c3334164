"""The report for people: golden, inert, and within its page.

WHYSCAN_GOLDEN=write renews the files under golden/.
"""

import re
from functools import cache
from pathlib import Path

import pytest

from support.formats import text
from support.golden import golden
from support.lakes import delta_users, empty, one_file, prices, users
from support.memory_table import DataFile, MemoryTable, RowGroup
from support.reports import explain
from whyscan.reports.gates import Gates
from whyscan.reports.text_layout import Page, columns
from whyscan.reports.words import inert, percent, size
from whyscan.tree.types import DOUBLE, INT, STRING

GOLDEN = Path(__file__).parent / "golden"
BOTH = "country = 'DE' AND age > 40"
HOSTILE = "\x1b[31mred\x1b[0m\r\n\u202egpj.\x9b2J"

CASES = {
    "hive": (users(), BOTH, {}),
    "hive_verbose": (users(), BOTH, {"verbose": True}),
    "hive_full": (users(), BOTH, {"full": True}),
    "delta_verbose": (delta_users(), BOTH, {"verbose": True}),
    "delta_files_only": (delta_users(), BOTH, {"depth": "files"}),
    "partition_alone": (users(), "country = 'DE'", {}),
    "nothing_kept": (users(), "country = 'FR'", {}),
    "everything_kept": (users(), "age > 0", {}),
    "unsplittable": (users(), "country = 'DE' OR age > 40", {}),
    "uninterpreted": (users(), "my_function(age) = 1 AND country = 'DE'", {}),
    "row_groups": (prices(), "x > 1000", {}),
    "nan": (prices(DOUBLE, nan=True), "x > 1000", {}),
    "no_nan_on_your_word": (prices(DOUBLE, nan=True), "x > 1000", {"assume_no_nan": True}),
    "no_statistics": (one_file(INT, RowGroup(5)), "x > 1", {}),
    "selected": (prices(), "x > 1000", {"select": ["x"]}),
    "or_ends_pruning": (delta_users(), "age > 60 OR my_function(age) = 1", {"depth": "files"}),
    "implied_partition": (delta_users(), "age > 60", {"depth": "files"}),
    "text_as_number": (
        one_file(STRING, RowGroup(5, {"x": ("10", "9")})),
        "x = 5",
        {"verbose": True},
    ),
    "empty": (empty(), "x > 1", {}),
    "gates": (users(), BOTH, {}),
    "hostile_path": (
        one_file(STRING, RowGroup(5, {"x": (HOSTILE, "z")}), path=f"{HOSTILE}.parquet"),
        "x > 'a'",
        {"verbose": True},
    ),
}
GATES = {
    "gates": Gates(min_pruning=90, max_files=10, max_bytes=10**9, require_partition_filter=True)
}


@cache
def report_of(name):
    table, predicate, question = CASES[name]
    return explain(table, predicate, **question).gated(GATES.get(name, Gates()))


@pytest.mark.parametrize("name", CASES)
def test_text_is_as_it_was_last_read_by_a_person(name):
    written = text(report_of(name))

    assert written == golden(GOLDEN / f"{name}.txt", written)


def test_every_golden_file_has_its_case():
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(CASES)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_page(name, width):
    lines = text(report_of(name), Page(width)).splitlines()

    assert [line for line in lines if columns(line) > width] == []


@pytest.mark.parametrize("name", CASES)
def test_ascii_pages_hold_ascii_alone(name):
    assert text(report_of(name), Page(unicode=False)).isascii()


@pytest.mark.parametrize("name", CASES)
def test_colour_adds_nothing_but_colour(name):
    coloured = text(report_of(name), Page(colour=True))

    assert re.sub(r"\x1b\[\d+m", "", coloured) == text(report_of(name))


@pytest.mark.parametrize("name", CASES)
def test_nothing_but_line_breaks_reaches_the_terminal_unprintable(name):
    assert text(report_of(name)).replace("\n", "").isprintable()


def test_a_long_conjunct_is_cut_and_its_numbers_stay_aligned():
    table = one_file(INT, RowGroup(5, {"x": (1, 9)}))
    long = " OR ".join(f"x = {n}" for n in range(100, 150))

    lines = text(explain(table, f"({long}) AND x > 0")).splitlines()

    cut, short = (line for line in lines if "stats-safe" in line)
    assert "…" in cut
    assert columns(cut) == columns(short) <= 80


def test_a_path_below_the_readers_folder_is_named_from_there():
    table = MemoryTable({"x": INT}, [DataFile("a", {}, [RowGroup(5)])], uri="/lake/t")

    assert "table      t (parquet)" in text(explain(table, "x > 1"), Page(folder="/lake"))


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain ä 日本", "plain ä 日本"),
        ("\x1b[2J", r"\x1b[2J"),
        ("a\u202eb", r"a\u202eb"),
        ("a\nb\x00", r"a\nb\x00"),
        ("\u2028", r"\u2028"),
        ("\udc80", r"\udc80"),
    ],
)
def test_what_a_terminal_would_obey_is_made_visible(raw, shown):
    assert inert(raw) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (None, "unknown"),
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (1149, "1.1 kB"),
        (9_960, "10 kB"),
        (13_200, "13 kB"),
        (999_700, "1.0 MB"),
        (5 * 10**18, "5,000 PB"),
    ],
)
def test_sizes_have_two_or_three_figures(count, shown):
    assert size(count) == shown


@pytest.mark.parametrize(
    ("part", "whole", "shown"),
    [
        (1, 12, "8.3 %"),
        (0, 12, "0 %"),
        (12, 12, "100 %"),
        (1, 100_000, "<0.1 %"),
        (99_999, 100_000, ">99.9 %"),
        (0, 0, "100 %"),
    ],
)
def test_percentages_never_round_to_nothing_or_everything(part, whole, shown):
    assert percent(part, whole) == shown


@pytest.mark.parametrize(
    ("part", "whole", "bar"),
    [
        (0, 9, ".........."),
        (9, 9, "##########"),
        (1, 10**6, "#........."),
        (10**6 - 1, 10**6, "#########."),
    ],
)
def test_bars_are_empty_and_full_only_for_nothing_and_everything(part, whole, bar):
    assert Page(unicode=False).bar(part, whole, 10) == bar


def test_a_listing_is_paged_and_says_what_it_leaves_out():
    shown = text(report_of("delta_verbose"), Page(files=2))

    assert shown.count(".parquet") == 2
    assert "… and 4 more files: --show N lists N of them" in shown
    assert "more file" not in text(report_of("delta_verbose"), Page(files=6))


def strips(table, predicate):
    lines = text(explain(table, predicate, verbose=True), Page()).splitlines()
    return [line.split("|")[1] for line in lines if line.lstrip().startswith("|")]


@pytest.mark.parametrize(
    ("kind", "ends"),
    [
        (INT, [(0, 49), (50, 100)]),
        (DOUBLE, [(0.0, 49.0), (50.0, 100.0)]),
        (STRING, [("a", "b"), ("y", "z")]),
    ],
)
def test_bounds_are_drawn_against_the_range_that_is_asked(kind, ends):
    files = [DataFile(f"{i}", {}, [RowGroup(5, {"x": e})]) for i, e in enumerate(ends)]
    value = {INT: "50", DOUBLE: "50", STRING: "'y'"}[kind]
    low, high = strips(MemoryTable({"x": kind}, files), f"x >= {value}")

    assert "█" not in low.strip()
    assert low.startswith("━")
    assert set(high.strip()) == {"█"}
    assert len(low) == len(high) == 24


def test_an_axis_may_be_wider_than_a_double():
    ends = (-1.7e308, 1.0), (50.0, 1.7e308), (float("-inf"), 5.0)
    files = [DataFile(f"{i}", {}, [RowGroup(5, {"x": e})]) for i, e in enumerate(ends)]
    low, high = strips(MemoryTable({"x": DOUBLE}, files), "x < 0")

    assert (low[0], low[-1], high[0], high[-1]) == ("█", " ", "░", "━")


def test_a_file_without_bounds_has_no_strip():
    files = [DataFile("a", {}, [RowGroup(5, {"x": (1, 9)})]), DataFile("b", {}, [RowGroup(5)])]

    assert len(strips(MemoryTable({"x": INT}, files), "x > 5")) == 1
