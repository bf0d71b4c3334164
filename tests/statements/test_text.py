"""A statement's report for people: golden, inert, and within its page.

WHYSCAN_GOLDEN=write renews the files under golden/.
"""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from support.formats import text
from support.golden import golden
from support.lakes import one_file
from support.memory_table import RowGroup
from support.statement_reports import STATEMENTS, joined, orders, scan, statement
from whyscan.reports.gates import Gates, StatementGates
from whyscan.reports.text_layout import Page, columns
from whyscan.statements.records import Amount, Dynamic, Edge, StatementReport, Stayed, Supply
from whyscan.statements.stay_reasons import StayReason
from whyscan.tree.types import STRING

GOLDEN = Path(__file__).parent / "golden"
HOSTILE = "\x1b[31mred\x1b[0m\r\n\u202egpj.\x9b2J"


def hostile():
    """A name that a terminal would obey, wherever a name or a text can stand."""
    table = one_file(STRING, RowGroup(5, {"x": (HOSTILE, "z")}), path=f"{HOSTILE}.parquet")
    supply = Supply(HOSTILE, HOSTILE, 0, HOSTILE, HOSTILE, 3)
    one = scan(
        replaced(table),
        "x > 'a'",
        HOSTILE,
        f"{HOSTILE}2",
        columns=(HOSTILE,),
        above=(Stayed(f"{HOSTILE}3", StayReason.MUST_NOT_MOVE, HOSTILE),),
        dynamic=Dynamic((supply,), Amount(1, None, None), None, None),
        limit=HOSTILE,
        answer=HOSTILE,
    )
    edges = (Edge(HOSTILE, 0, 1, HOSTILE),)
    return StatementReport(HOSTILE, "spark", "UTC", "select", (one, one), edges, notes=(HOSTILE,))


def replaced(table):
    table.uri = HOSTILE
    return table


CASES = {
    **STATEMENTS,
    "gates": lambda: joined().gated(
        StatementGates(
            Gates(max_files=4, min_pruning=50, require_partition_filter=True),
            {"orders": Gates(max_files=1), "U": Gates(max_bytes=10)},
        )
    ),
    "hostile": hostile,
}


@pytest.fixture(params=CASES)
def name(request):
    return request.param


def report_of(name):
    return statement(name) if name in STATEMENTS else CASES[name]()


def test_text_is_as_it_was_last_read_by_a_person(name):
    rendered = text(report_of(name))

    assert rendered == golden(GOLDEN / f"{name}.txt", rendered)


def test_every_golden_file_has_its_case():
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(CASES)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_page(name, width):
    lines = text(report_of(name), Page(width)).splitlines()

    assert [line for line in lines if columns(line) > width] == []


def test_ascii_pages_hold_ascii_alone(name):
    if name not in {"merged", "answered"}:  # their SQL does not
        assert text(report_of(name), Page(unicode=False)).isascii()


def test_colour_adds_nothing_but_colour(name):
    coloured = text(report_of(name), Page(colour=True))

    assert re.sub(r"\x1b\[\d+m", "", coloured) == text(report_of(name))


def test_nothing_but_line_breaks_reaches_the_terminal_unprintable(name):
    assert text(report_of(name)).replace("\n", "").isprintable()


def test_a_long_statement_is_cut_and_whole_with_the_files():
    long = "SELECT " + ", ".join(f"column_{n}" for n in range(100)) + " FROM orders"
    short = text(replace(statement("joined"), sql=long))
    whole = text(replace(statement("joined_verbose"), sql=long))

    assert "FROM orders" not in short
    assert short.splitlines()[8].endswith("…")
    assert "column_99 FROM orders" in " ".join(whole.split())


def test_conditions_of_joins_are_listed_with_the_joins_one_line_per_pair():
    report = statement("joined")
    one, other = "o.user = u.age", "o.month = u.month"
    first = replace(
        report.scans[0],
        above=(
            Stayed(one, StayReason.SEVERAL_TABLES),
            Stayed("o.x = 1", StayReason.NOT_DETERMINISTIC),
        ),
    )
    edges = (Edge("left", 0, 1, one), Edge("left", 0, 1, other))
    rendered = text(replace(report, scans=(first, report.scans[1]), joins=edges))

    assert "stays above: o.x = 1 (it stands above" in rendered
    assert f"stays above: {one}" not in rendered
    assert f"left  orders o and users u: {one} AND {other}" in rendered


def test_one_scan_says_what_removed_its_files():
    report = StatementReport(
        "…", "spark", "UTC", "select", (scan(orders(), "month = 3", "orders"),)
    )

    assert text(report).startswith(
        "reads 2 of 24 files (8.3 %), 10 kB of 122 kB: month = 3 removed 22 by partition\n"
    )


@pytest.mark.parametrize(
    ("name", "alias", "title"),
    [
        ("sales", "s", "sales s"),
        ("sales", "sales", "sales"),
        ("prod.db.Sales", "sales", "prod.db.Sales"),
        ("prod.db.sales", "db", "prod.db.sales db"),
    ],
)
def test_a_scan_is_called_by_its_table_and_an_alias_of_its_own(name, alias, title):
    assert scan(orders(1), "TRUE", name, alias).title == title


def test_many_scans_are_listed_before_the_first():
    scans = tuple(scan(orders(), f"month = {n}", "orders", f"o{n}") for n in range(1, 6))
    rendered = text(StatementReport("…", "spark", "UTC", "select", scans)).splitlines()

    assert rendered[5:8] == [
        "scan         files  share            bytes",
        "orders o1  2 of 24  8.3 %  10 kB of 122 kB",
        "orders o2  2 of 24  8.3 %  10 kB of 122 kB",
    ]


def test_the_answer_says_what_joins_would_leave():
    target, source = statement("merged").scans
    bounded = replace(target.dynamic, bounded=Amount(2, 10_200, 100))
    both = (replace(target, dynamic=bounded), source)
    report = replace(statement("merged"), scans=both)

    assert "in 4 files; at most 6 files with what joins supply\n" in text(report)
    assert "with what joins supply" not in text(statement("merged")).split("\n\n")[0]


def test_the_same_table_under_the_same_name_is_numbered():
    both = (scan(orders(), "month = 3", "orders", "o"), scan(orders(), "month = 4", "orders", "o"))
    report = StatementReport("…", "spark", "UTC", "select", both)

    assert report.titles == ("orders o", "orders o (2)")
    assert str(report) == text(report)
