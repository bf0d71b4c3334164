"""Every report in every format: whole, and inert whatever a table is called."""

from datetime import UTC, datetime

import msgspec
import pytest

from support.formats import fragment, markdown, page, text
from support.lakes import delta_users, users
from support.markup import NAMES, SEEN, Elements
from support.memory_table import DataFile, MemoryTable, RowGroup
from support.reports import explain
from whyscan.errors import TableError
from whyscan.reports.description import describe
from whyscan.reports.diff import compare
from whyscan.reports.stats import profile
from whyscan.reports.text_layout import Page, columns
from whyscan.spark.stages.inventory.report import InventoriedTable, InventoryRun, TableRow
from whyscan.spark.stages.verify.result import (
    NativeRows,
    PlanCounts,
    PredicateProof,
    TableProof,
    UncheckedTable,
    Verification,
    Wrong,
)
from whyscan.tree.types import STRING


def table(name):
    group = RowGroup(4, {name: (min("a", name), max("a", name))})
    return MemoryTable({name: STRING}, [DataFile(f"{name}.parquet", {}, [group])], uri=name)


def explained(name):
    return explain(table(name), "TRUE", verbose=True)


def difference(name):
    return compare(explained(name), explained(f"{name}2")).gated(1, 1)


def stats(name):
    return profile(table(name), full=False)


def description(name):
    return describe(table(name))


def inventory(name):
    row = TableRow(
        name, name, "delta", "1", "m", "files", 1, 0, 3, 6, 2, 10, 5, datetime.now(UTC), ""
    )
    lines = (
        InventoriedTable(name, name, "read", row),
        InventoriedTable(name, name, "failed", None, TableError(name, hint=name)),
    )
    return InventoryRun(lines, name, name, "parquet", "files", 1.0)


def verification(name):
    plan = PlanCounts(20, 5, 20, 5, 90, 1, 90)
    proofs = (
        PredicateProof(name, "spark", None, plan, 12, lost=(Wrong("files", name, None, 3, 17),)),
        PredicateProof(name, "spark", name),
    )
    proof = TableProof(
        name, name, "delta", 5, 20, 20, 20, 90, 86, (name,), NativeRows(name, 86), proofs
    )
    return Verification((proof,), (UncheckedTable(name, name),))


REPORTS = {
    "explain": explained,
    "diff": difference,
    "stats": stats,
    "describe": description,
    "inventory": inventory,
    "verify": verification,
}


@pytest.fixture(params=REPORTS)
def made(request):
    return REPORTS[request.param]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_only_text_in_every_format(made, name):
    report, usual = made(name), made("harmless")
    shown = text(report)

    assert shown.replace("\n", "").isprintable()
    assert Elements(fragment(report)).tags == Elements(fragment(usual)).tags
    assert Elements(page(report)).tags == Elements(page(usual)).tags
    assert markdown(report).count("\n|") == markdown(usual).count("\n|")
    assert markdown(report).count("<details") == markdown(usual).count("<details")
    assert SEEN.get(name, name).split(" ")[0].replace("\t", "") in shown


def test_a_report_ends_with_a_line_break_and_begins_with_its_answer(made):
    report = made("t")
    title = report.view()[0].sentence

    assert text(report).startswith(title[:40])
    assert report.to_json().startswith("{")
    assert report.to_text(200) == text(report, Page(200))
    assert str(report) == report.to_text()
    assert len(repr(report).splitlines()) < 10
    assert all(made.endswith("\n") for made in (text(report), markdown(report), page(report)))


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_page(width):
    both = "country = 'DE' AND age > 40"
    sides = explain(users(), both, verbose=True), explain(delta_users(), both, verbose=True)
    # The columns of statistics are wider than 60 characters without the names of the columns.
    wide = () if width < 80 else (profile(users(), full=False),)
    for report in (*sides, compare(*sides), *wide):
        lines = text(report, Page(width)).splitlines()
        assert [line for line in lines if columns(line) > width] == []


def test_the_repr_is_the_answer_on_one_line(made):
    report = made("t")

    assert repr(report) == f"<{type(report).__name__}: {report.view()[0].sentence}>"
    assert "\n" not in repr(report)


def test_ascii_pages_hold_ascii_alone(made):
    assert text(made("t"), Page(unicode=False)).isascii()


def test_an_inventory_shows_only_columns_that_have_a_value():
    shown = text(inventory("events"))

    assert " manifests  files  row groups " in shown
    without = msgspec.structs.replace(inventory("e").tables[0].row, row_groups=None)
    read = InventoriedTable("e", "e", "read", without)
    run = InventoryRun((read,), "e", "e", "parquet", "f", 1.0)
    assert " manifests  files  bytes " in text(run)
