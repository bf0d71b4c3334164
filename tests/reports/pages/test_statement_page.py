"""The page of a statement in a real browser: one funnel a scan, and the joins drawn."""

from itertools import pairwise

import pytest
from msgspec.structs import replace

from support.formats import fragment
from support.formats import page as rendered
from support.markup import ELEMENTS, HARMLESS, NAMES, SEEN, Elements
from support.memory_table import DataFile, MemoryTable, RowGroup
from support.statement_reports import STATEMENTS, orders, scan, statement
from whyscan.reports.pages.lanes import ROW, drawing
from whyscan.statements.records import Amount, Dynamic, Edge, StatementReport, Stayed, Supply
from whyscan.statements.reports.phrases import joins
from whyscan.statements.stay_reasons import StayReason
from whyscan.tree.types import INT

pytestmark = pytest.mark.xdist_group("browser")

# Where a line's arrow ends, in pixels of the page, and the row it points at.
ENDS = """() => [...document.querySelectorAll(".lanes g")].map(g => {
  const head = g.querySelector(".head").getBoundingClientRect();
  const middle = (head.top + head.bottom) / 2;
  return [...document.querySelectorAll(".scans li")].findIndex(row => {
    const {top, bottom} = row.getBoundingClientRect(); return top <= middle && middle < bottom;
  });
})"""


def chain(count):
    """Very many scans, each joined with the next, and all of them with the first."""
    small = MemoryTable(
        {"x": INT},
        [DataFile(str(n), {}, [RowGroup(5, {"x": (n, n + 9)})]) for n in range(5)],
        footers_describe_files=False,
        uri="small",
    )
    one = scan(small, "x > 5", "t")
    scans = tuple(replace(one, name=f"t{n}", alias=f"t{n}") for n in range(count))
    edges = [Edge("inner", n, n + 1, f"t{n}.x = t{n + 1}.x") for n in range(count - 1)]
    edges += [Edge("left", 0, n, "") for n in range(2, count)]
    return StatementReport("SELECT 1", "spark", "UTC", "select", scans, tuple(edges))


def test_the_answer_is_the_first_heading_and_every_scan_has_its_funnel(show):
    page = show(statement("joined"), rendered).page

    assert page.locator("h1").inner_text().startswith("Reads 5 of 30 files (16.7\xa0%)")
    assert page.locator(".scan h2").all_inner_texts() == ["orders o", "users u"]
    assert page.locator(".funnel").count() == 2
    assert "1 of 24" in page.locator("#scan-1 .funnel tbody tr").first.inner_text()
    assert "from u.month = 3, by o.month = u.month" in page.locator("#scan-1").inner_text()
    assert "stays above: coalesce(u.country, 'none')" in page.locator("#scan-2").inner_text()
    assert page.locator("#scan-1 table", has_text="What joins change").locator(
        "tbody tr"
    ).all_inner_texts()[1].split("\t")[1:] == [
        "1",
        "5.1\xa0kB",
        "50",
    ]


@pytest.mark.parametrize("width", [1280, 480])
def test_arrows_end_at_the_scans_that_are_joined(show, width):
    report = chain(7)
    page = show(report, rendered, viewport={"width": width, "height": 900}).page

    assert page.evaluate(ENDS) == [edge.right for edge in report.joins]
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_no_line_lies_on_another():
    """Along a lane, lines do not share a row."""
    drawn = drawing(joins(chain(20)), 20)
    lanes = {}
    for line in drawn.lines:
        column = line.path.split("V")[0].split("Q")[1].split(" ")[0]
        lanes.setdefault(column, []).append(sorted((line.join.left, line.join.right)))

    assert all(a[1] < b[0] for spans in lanes.values() for a, b in pairwise(sorted(spans)))
    assert drawn.height == 20 * ROW


def test_more_joins_than_anybody_can_follow_are_not_drawn():
    assert drawing(joins(chain(200)), 200).lines == ()


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_page_loads_nothing_and_has_nothing_to_complain_about(show, name):
    opened = show(statement(name), rendered)
    opened.page.locator("#theme").click()

    assert len(opened.requests) == 1
    assert opened.console == []


def test_very_many_scans_are_listed_and_open_one_by_one(show):
    page = show(chain(100), rendered).page

    assert page.locator(".scans li").count() == 100
    assert not page.locator("#scan-70 .funnel").is_visible()
    page.get_by_role("link", name="t69", exact=True).click()
    assert page.locator("#scan-70 .funnel").is_visible()
    assert not page.locator("#scan-71 .funnel").is_visible()
    assert page.evaluate("document.querySelector('.lanes').clientWidth") <= 200


def test_keys_that_were_read_are_no_secret(show):
    assert "no row was read" in show(statement("joined"), rendered).page.inner_text("footer")
    assert "keys of joins" in show(statement("merged"), rendered).page.inner_text("footer")


def test_what_metadata_answers_has_no_funnel_and_keeps_its_place(show):
    page = show(statement("answered"), rendered).page

    assert page.locator("#scan-1 .funnel, #scan-1 .finding").count() == 0
    assert (
        "answered from metadata, none of 6 files is read: count(*) is 24"
        in page.locator("#scan-1").inner_text()
    )
    assert page.locator(".scans .figures").first.inner_text() == "0 of 6 files, 0\xa0B"


def hostile(names):
    """Each name as a table, an alias, a column, a condition, a join, an answer, a note."""
    scans = tuple(
        scan(
            orders(1),
            "amount > 5",
            name,
            f"{name}2",
            columns=(name,),
            above=(Stayed(name, StayReason.MUST_NOT_MOVE, name),),
            dynamic=Dynamic((Supply(name, name, 0, name, name),), Amount(1, 1, 1), None, None),
            limit=name,
        )
        for name in names
    )
    edges = tuple(Edge(name, 0, n, name) for n, name in enumerate(names) if n)
    return StatementReport("; ".join(names), "spark", "UTC", names[0], scans, edges, notes=names)


def test_names_are_seen_add_no_element_run_nothing_and_load_nothing(show):
    usual = show(hostile(HARMLESS), rendered).page.evaluate(ELEMENTS)
    opened = show(hostile(NAMES), rendered)

    assert opened.page.evaluate(ELEMENTS) == usual
    seen = [SEEN.get(name, name) for name in NAMES]
    titles = [f"{name} {name}2" for name in seen]
    assert opened.page.locator(".scan h2").all_text_contents() == titles
    assert (opened.dialogs, opened.console, len(opened.requests)) == ([], [], 1)


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_notebook_shows_it_whole_without_a_script(name):
    shown = Elements(fragment(statement(name)))

    assert shown.open == []
    assert "script" not in shown.tags
    assert any(text.lower().startswith("reads ") for text in shown.text)
