"""The page of a report in a real browser: what it shows, and that it shows it to everybody."""

from itertools import pairwise

import pytest
from playwright.sync_api import expect

from support.lakes import delta_users, empty, prices, users
from support.reports import explain
from whyscan.reports.gates import Gates

pytestmark = pytest.mark.xdist_group("browser")

BOTH = "country = 'DE' AND age > 40"
WIDTHS = (1280, 480)


@pytest.fixture
def opened(show):
    return show(explain(delta_users(), BOTH, verbose=True))


def test_the_first_heading_is_the_answer_and_the_funnel_says_how_it_came(opened):
    page = opened.page

    assert page.title() == "users: whyscan"
    assert (
        page.locator("h1").inner_text() == "Reads 1 of 6 files (16.7\xa0%), 500\xa0B of 3.0\xa0kB"
    )
    files = page.locator(".funnel tbody tr").first
    assert files.locator("td").first.inner_text() == "1 of 6"
    assert "removed 4 by partition, 1 by statistics" in files.inner_text()
    assert [s.get_attribute("class") for s in files.locator(".fates rect").all()] == [
        "some",
        "partition",
        "statistics",
    ]


@pytest.mark.parametrize(
    ("table", "predicate"),
    [
        (delta_users(), BOTH),
        (users(), "country = 'DE'"),
        (users(), "rand() < 0.5"),
        (prices(), "x > 1000"),
        (empty(), "x = 1"),
    ],
    ids=["delta", "hive", "uninterpreted", "row groups", "empty"],
)
def test_a_page_loads_nothing_and_has_nothing_to_complain_about(show, table, predicate):
    opened = show(explain(table, predicate, verbose=True))

    opened.page.locator("#theme").click()

    assert [url for url in opened.requests if not url.startswith("file:")] == []
    assert len(opened.requests) == 1
    assert opened.console == []


def test_a_report_without_files_has_neither_charts_nor_a_file_table(show):
    opened = show(explain(delta_users(), BOTH))

    assert opened.page.locator(".chart, .grid").count() == 0
    assert opened.page.locator(".funnel").is_visible()
    assert opened.console == []


def test_gates_notes_findings_and_what_was_not_checked_are_shown(show):
    report = explain(
        users(footers_describe_files=False, notes=("no version hint",)),
        "age > 40",
        depth="files",
        verbose=True,
    )
    page = show(report.gated(Gates(max_files=1))).page

    assert page.locator(".gates").inner_text() == "fail max_files: 3, at most 1 asked"
    assert "NO_PARTITION_FILTER" in page.locator(".finding").first.inner_text()
    assert page.locator(".notes li").all_inner_texts() == [
        "not checked: row groups (--depth files)",
        "note: no version hint",
    ]


def test_a_rewrite_stands_next_to_its_counted_effect_and_parts_below_their_conjunct(show):
    predicate = "upper(country) = 'DE' AND (country = 'DE' OR age > 40)"
    page = show(explain(delta_users(), predicate, verbose=True)).page

    finding = page.locator(".finding", has_text="FUNCTION_ON_PARTITION")
    assert finding.locator("code").inner_text() == "country = 'DE'"
    assert "files: 4 before, 2 after" in finding.inner_text()
    assert finding.get_by_role("button", name="Copy the SQL").is_visible()
    assert page.locator(".branch code").all_inner_texts() == ["country = 'DE'", "age > 40"]
    page.get_by_text("what engines call it").click()
    assert page.get_by_role("columnheader", name="Trino").is_visible()


def test_without_scripts_everything_but_charts_and_files_is_there(show):
    page = show(explain(delta_users(), BOTH, verbose=True), java_script_enabled=False).page

    assert page.locator("h1").is_visible()
    assert "STRADDLES" in page.locator("main").inner_text()
    assert "need JavaScript" in page.locator("noscript").inner_text()
    assert not page.locator("#theme, .copy, #charts").first.is_visible()


def test_a_button_copies_sql_and_prose_has_none(show):
    page = show(explain(delta_users(), "upper(country) = 'DE'", verbose=True)).page
    fix = page.locator(".finding code").first.inner_text()
    assert page.locator(".fix button").count() == 0

    page.get_by_role("button", name="Copy the SQL for FUNCTION_ON_PARTITION").click()

    expect(page.locator("#said")).to_have_text("Copied")
    page.locator("input[type=search]").focus()
    page.keyboard.press("Control+V")
    assert page.locator("input[type=search]").input_value() == fix


def colours(page):
    return page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    )


def test_the_theme_follows_the_system_until_one_is_chosen(show):
    report = explain(delta_users(), BOTH, verbose=True)
    light = colours(show(report, color_scheme="light").page)
    opened = show(report, color_scheme="dark")
    dark = colours(opened.page)
    drawn = opened.page.locator("canvas").first.screenshot()

    opened.page.get_by_role("button", name="Light theme").click()

    assert light != dark
    assert colours(opened.page) == light
    assert opened.page.locator("canvas").first.screenshot() != drawn
    opened.page.get_by_role("button", name="Dark theme").click()
    assert colours(opened.page) == dark


def test_parts_of_the_page_have_names_and_headings_stand_in_order(opened):
    page = opened.page
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3')].map(h => +h.tagName[1])")

    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    for role in ("banner", "main", "contentinfo"):
        assert page.get_by_role(role).count() == 1
    unnamed = page.evaluate(
        "[...document.querySelectorAll('section')]"
        ".filter(s => !s.ariaLabel && !document.getElementById(s.getAttribute('aria-labelledby')))"
        ".length"
    )
    assert unnamed == 0


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_never_scrolls_sideways(show, width):
    page = show(
        explain(
            users(uri="s3://lake/" + "long" * 40), f"{BOTH} AND age <> {'4' * 9}", verbose=True
        ),
        viewport={"width": width, "height": 900},
    ).page

    assert page.evaluate("document.documentElement.scrollWidth") <= width
