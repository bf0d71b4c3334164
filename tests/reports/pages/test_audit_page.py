"""The dashboard of an audit in a real browser: the ranking, sums, the plot, and a query in full."""

import base64
import gzip
import json
import re

import pytest
from msgspec.structs import replace
from playwright.sync_api import expect

from support.audit_reports import altered, audit, joined, many, nothing, wasteful, wasteful_scan
from support.formats import fragment
from support.markup import ELEMENTS, HARMLESS, NAMES, SEEN, Elements
from whyscan.reports.findings import Code, Finding, Severity
from whyscan.spark.stages.audit import page as pages
from whyscan.spark.stages.audit.page import IN_A_PACK
from whyscan.spark.stages.audit.page import page as rendered
from whyscan.spark.stages.audit.report import Audit, ColumnTotal, Drift, TableTotal
from whyscan.spark.stages.workload.query import Unparsed

pytestmark = pytest.mark.xdist_group("browser")

DRAWER = "#query:not([hidden])"
ROWS = "#queries tr[data-place]"
UNKNOWN = "\N{EN DASH}"


def opened(show, record, **terms):
    """The page once the first query is in its drawer."""
    page = show(record, rendered, **terms)
    page.page.wait_for_selector(DRAWER)
    return page


def data_of(html):
    return json.loads(re.search(r'id="data">(.*?)</script>', html)[1])


def rows(page):
    return [
        [cell.inner_text() for cell in row.locator("td").all()] for row in page.locator(ROWS).all()
    ]


def test_the_ranking_says_what_is_read_needed_and_in_vain(show):
    page = opened(show, audit()).page

    assert page.locator("h1").inner_text().startswith("4 queries, 37 runs: 4.1\xa0MB read")
    assert rows(page)[0] == [
        "1",
        "SELECT sum(amount) FROM orders o WHERE abs(month) = 3 AND amount > 99",
        "3.3 MB",
        "120 kB",
        "10 kB",
        "30",
        "50.0 %",
        "orders",
    ]
    assert rows(page)[3][1].startswith("not audited")
    assert rows(page)[3][2:7] == [UNKNOWN, UNKNOWN, UNKNOWN, "1", UNKNOWN]


def test_the_first_query_is_open_and_shows_its_funnel_conditions_findings_and_what_the_engine_said(
    show,
):
    drawer = opened(show, audit()).page.locator("#query")

    shown = drawer.inner_text()
    assert "reads 120\xa0kB and could read 10\xa0kB" in shown
    assert drawer.locator("pre").inner_text() == wasteful().sql
    assert drawer.locator(".funnel tbody tr").first.inner_text().split("\t")[1] == "12 of 24"
    assert "amount > 99" in drawer.locator("[aria-label^=Conditions]").inner_text()
    assert drawer.locator("[aria-label^=Predicted] tbody tr").all_inner_texts() == [
        "files\t24\t12\t24",
        "bytes\t120\xa0kB\t61\xa0kB\t122\xa0kB",
        "rows\t1,200\t600\t1,200",
    ]
    assert "FUNCTION_ON_PARTITION" in shown
    assert "month >= 3 AND month < 4" in shown
    assert "An engine that does not see through a condition reads 120\xa0kB" in shown
    assert "log.csv:12, log.csv:90" in shown
    assert "30 runs, from 2026-03-01 07:00 to 2026-03-04 07:00 UTC" in shown
    assert "a note of the query" in shown
    instead = drawer.locator(".instead").inner_text()
    assert instead.split("\n")[0] == "Write instead"
    assert "month >= 3 AND month < 4" in instead
    assert "10\xa0kB for 120\xa0kB" in instead


def test_a_row_opens_its_query_and_the_address_names_it(show):
    page = opened(show, audit()).page

    page.locator("#row-2").click()
    page.wait_for_selector("#query-3")

    assert page.url.endswith("#query-3")
    assert page.locator("#query .one h3 code").all_inner_texts() == ["users u", "orders o"]
    page.reload()
    page.wait_for_selector("#query-3")
    assert page.locator("#row-2").get_attribute("aria-selected") == "true"


def test_keys_walk_through_the_ranking_and_enter_goes_to_the_query(show):
    page = opened(show, audit()).page
    page.locator(".grid").focus()

    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector("#query-2")
    page.keyboard.press("Enter")

    assert page.evaluate("document.activeElement.id") == "query"


def test_filters_and_heads_choose_and_sort(show):
    page = opened(show, audit()).page

    def first():
        return [row[0] for row in rows(page)]

    page.get_by_placeholder("Filter by text").fill("gone")
    expect(page.locator(ROWS)).to_have_count(1)
    assert first() == ["4"]
    page.get_by_placeholder("Filter by text").fill("")
    expect(page.locator(ROWS)).to_have_count(4)
    page.get_by_label("Table", exact=True).select_option("users")
    expect(page.locator(ROWS)).to_have_count(1)
    assert first() == ["3"]
    page.get_by_label("Table", exact=True).select_option("")
    expect(page.locator(ROWS)).to_have_count(4)
    page.get_by_label("with a rewrite (1)").check()
    expect(page.locator(ROWS)).to_have_count(1)
    assert first() == ["1"]
    page.get_by_label("with a rewrite (1)").uncheck()
    page.get_by_role("button", name="Needs").click()
    expect(page.locator(ROWS)).to_have_count(4)

    assert first() == ["1", "2", "3", "4"]  # what is not known comes last
    page.get_by_role("button", name="Needs").click()
    assert first() == ["3", "2", "1", "4"]


def test_texts_of_one_shape_are_shown_together_and_one_can_represent_all(show):
    queries = (wasteful(), wasteful(sql="SELECT 2", wasted=110_000, times=1), joined())
    page = opened(show, audit(queries=queries)).page

    assert (
        "one of 2 texts with other literals, 31 runs in all" in page.locator("#query").inner_text()
    )
    page.get_by_label("the first of each shape (2)").check()
    expect(page.locator(ROWS)).to_have_count(2)
    assert [row[0] for row in rows(page)] == ["1", "3"]


def test_sums_by_table_and_column_are_written_out_and_can_be_sorted(show):
    page = opened(show, audit()).page
    tables, columns = page.locator("table.sortable").all()

    assert tables.locator("tbody th code").all_inner_texts() == ["orders", "lake.events", "users"]
    tables.get_by_role("button", name="Runs").click()
    assert tables.locator("tbody th code").all_inner_texts() == ["users", "lake.events", "orders"]
    assert columns.locator("tbody tr").all_inner_texts()[-1].split("\t") == [
        "who",
        "lake.events",
        UNKNOWN,
        "240\xa0kB",
        "4",
    ]


def test_a_table_leads_to_its_queries(show):
    page = opened(show, audit()).page

    page.get_by_role("button", name="Show the queries on users").click()

    expect(page.locator(ROWS)).to_have_count(1)
    assert rows(page)[0][-1] == "users, orders"
    assert page.get_by_label("Table", exact=True).input_value() == "users"


def test_the_plot_has_every_day_and_its_numbers_stand_below(show):
    page = opened(show, audit()).page

    assert page.locator(".days title").all_text_contents() == [
        "2026-03-01: 10 runs, 1.2 MB read, 1.1 MB wasted",
        "2026-03-02: 17 runs, 2.0 MB read, 1.6 MB wasted",
        "2026-03-03: 0 runs, 0 B read",
        "2026-03-04: 3 runs, 360 kB read, 330 kB wasted",
    ]
    heights = [
        float(bar.get_attribute("height")) for bar in page.locator(".days .wasted").all()[1:]
    ]
    assert max(heights) <= 100
    assert heights[1] > heights[0] > heights[2]
    assert "Of 7 runs no day is known" in page.locator("main").inner_text()


def test_what_could_not_be_done_and_what_drifted_is_said(show):
    shown = opened(show, audit()).page.locator("main").inner_text()

    assert "gone (s3://lake/gone): no table at s3://lake/gone" in shown
    assert "no statement: SELEC 1" in shown
    assert "it fell at snapshot 7500; 7400 was still as good" in shown
    assert "its old versions are gone" in shown
    assert "a note of the run" in shown


def test_nothing_audited_is_said_so(show):
    page = show(nothing(), rendered)

    assert "No query could be audited" in page.page.locator("main").inner_text()
    assert page.console == []


def test_without_scripts_the_first_queries_and_all_sums_are_there(chromium, tmp_path):
    place = tmp_path / "audit.html"
    place.write_text(rendered(audit()), "utf-8")
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(place.as_uri())

    shown = page.locator("main").inner_text()
    assert page.locator("noscript .drawer, .drawer:visible").count() >= 4
    assert "reads 120\xa0kB and could read 10\xa0kB" in shown
    assert "month >= 3 AND month < 4" in shown
    assert "By table" in shown
    context.close()


def test_thousands_of_queries_are_a_small_page_with_few_rows_in_it(show):
    html = rendered(many(2_000))
    page = show(html, str).page
    page.wait_for_selector(DRAWER)

    assert len(html) < 2_000_000
    assert len(rows(page)) < 60
    page.locator(".scroller").evaluate("e => e.scrollTop = e.scrollHeight")
    page.wait_for_selector("#row-1999")
    page.locator("#row-1999").click()
    page.wait_for_selector("#query-2000")
    assert "id = " in page.locator("#sql-2000").inner_text()


def test_what_is_beyond_the_room_of_the_page_is_ranked_and_said_to_be_elsewhere(show, monkeypatch):
    monkeypatch.setattr(pages, "IN_FULL", 60)
    record = many(61)
    data = data_of(rendered(record))

    assert data["count"] == 61
    unpacked = (json.loads(gzip.decompress(base64.b64decode(pack))) for pack in data["packs"])
    assert [len(pack) for pack in unpacked] == [IN_A_PACK, 60 - IN_A_PACK]
    page = opened(show, record).page
    page.locator(".grid").focus()
    page.keyboard.press("End")
    expect(page.locator("#query")).to_contain_text("in the JSON of the audit")
    assert "The first 60 queries can be opened" in page.locator("main").inner_text()


def test_a_notebook_shows_the_ranking_the_rewrites_and_what_failed():
    shown = Elements(audit()._repr_html_())

    said = " ".join(filter(None, shown.text))
    assert said.startswith("4 queries, 37 runs: 4.1 MB read")
    assert "could read 10\xa0kB rewrite for orders: month >= 3 AND month < 4" in said
    assert "tables that could not be read: 1 gone (s3://lake/gone)" in said
    assert "script" not in shown.tags
    assert shown.open == []
    assert Elements(fragment(hostile(NAMES))).tags == Elements(fragment(hostile(HARMLESS))).tags


def hostile(names) -> Audit:
    """Each name wherever an audit has one."""
    queries = tuple(
        wasteful(
            sql=f"SELECT '{name}'",
            shape=name,
            dialect=name,
            operation=name,
            origins=(name,),
            notes=(name,),
            findings=(Finding(Code.CROSS_JOIN, Severity.WARNING, name, name, rewrite=name),),
            tables=(altered(wasteful_scan(), name=name, alias=name, uri=name, format=name),),
        )
        for name in names
    )
    run = audit().run
    return Audit(
        replace(run, id=names[0], timezone=names[1], depth=names[2], notes=tuple(names)),
        queries,
        tuple(
            TableTotal(name, name, name, 1, 1, 1, 100, 50, (ColumnTotal(name, 1, 100, 50),))
            for name in names
        )
        + tuple(TableTotal(name, name, error=name) for name in names),
        tuple(Unparsed(name, name, name) for name in names),
        tuple(
            Drift(name, name, name, 0.1, 0.9, name, run.at, 1, 2, unknown=name) for name in names
        ),
    )


def test_names_are_seen_add_no_element_run_nothing_and_load_nothing(show):
    usual = opened(show, hostile(HARMLESS)).page.evaluate(ELEMENTS)
    window = opened(show, hostile(NAMES))
    page = window.page

    assert page.evaluate(ELEMENTS) == usual
    for place, name in enumerate(NAMES):
        seen = SEEN.get(name, name)
        page.locator(f"#row-{place}").click()
        page.wait_for_selector(f"#query-{place + 1}")
        assert page.locator(
            f"#table-{place + 1}-1 code"
        ).text_content() == f"{seen} {seen}".removesuffix(f" {seen}")
        assert page.locator("#query .notes li").last.text_content() == seen
    assert page.locator("#query script, #query img, #query svg:not(.bar)").count() == 0
    assert window.dialogs == []
    assert window.console == []
    assert len(window.requests) == 1
    assert page.locator("a:not(.skip)").count() == 0
