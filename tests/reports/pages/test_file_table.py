"""The file table: sorted, filtered, scrolled and walked through by keyboard, at any length."""

import pytest
from playwright.sync_api import expect

from support.lakes import delta_users, users
from support.reports import explain, grown

pytestmark = pytest.mark.xdist_group("browser")

BOTH = "country = 'DE' AND age > 40"
MANY = 200_000
UNKNOWN = "\N{EN DASH}"


@pytest.fixture
def page(show):
    return show(explain(delta_users(), BOTH, verbose=True)).page


def rows(page):
    return page.locator("tr[data-place]")


def column(page, number):
    return rows(page).locator(f"td:nth-child({number})").all_inner_texts()


def shown(page):
    return page.locator(".shown").inner_text()


def heads(page):
    return page.locator(".grid th").all_inner_texts()


def test_every_file_is_there_with_its_verdict_and_the_cause_of_it(page):
    assert heads(page) == [
        *("Path", "Outcome", "Pruned by", "Reason", "Bytes", "Rows", "Partition", "age bounds"),
    ]
    assert rows(page).first.locator("td").all_inner_texts() == [
        "country=DE/\na.parquet",
        "read",
        "",
        "STRADDLES",
        "500 B",
        "4",
        "country=DE",
        "[40, 60]",
    ]
    assert column(page, 3) == ["", "statistics", *["partition"] * 4]
    assert shown(page) == "6 of 6 files"


def test_what_is_read_comes_first(show):
    page = show(explain(users(), "age > 40", verbose=True)).page

    assert column(page, 2) == ["read"] * 3 + ["skipped"] * 3
    assert page.locator(".grid th[aria-sort=descending]").inner_text() == "Outcome"


@pytest.mark.parametrize(
    ("head", "number", "ascending"),
    [
        ("Bytes", 5, ["400 B", "400 B", "500 B", "500 B", "600 B", "600 B"]),
        ("age bounds", 8, [f"[{a}, {b}]" for a, b in sorted(
            [(40, 60), (20, 35), (41, 65), (22, 38), (31, 55), (18, 29)]
        )]),
        ("Outcome", 2, ["skipped", "skipped", "skipped", "skipped", "skipped", "read"]),
    ],
)  # fmt: skip
def test_a_head_sorts_and_once_more_turns_around(page, head, number, ascending):
    button = page.locator(".grid th button", has_text=head)
    cell = button.locator("xpath=..")

    button.click()
    assert column(page, number) == ascending
    assert cell.get_attribute("aria-sort") == "ascending"
    button.click()
    assert column(page, number) == ascending[::-1]
    assert cell.get_attribute("aria-sort") == "descending"
    assert page.locator(".grid th[aria-sort=none]").count() == 7


def test_what_is_not_known_is_sorted_last_either_way(show):
    page = show(explain(users(), BOTH, verbose=True)).page

    for expected in (["4", "5", UNKNOWN], ["5", "4", UNKNOWN]):
        page.locator(".grid th button", has_text="Rows").click()
        assert column(page, 6)[:3] == expected


def test_text_and_verdicts_filter(page):
    search = page.locator("input[type=search]")

    search.fill("COUNTRY=it")
    expect(rows(page)).to_have_count(2)
    assert column(page, 7) == ["country=IT", "country=IT"]
    assert shown(page) == "2 of 6 files"
    assert page.locator(".grid").get_attribute("aria-rowcount") == "3"

    search.fill("")
    expect(rows(page)).to_have_count(6)
    page.get_by_label("skipped by partition (4)").uncheck()
    expect(rows(page)).to_have_count(2)
    assert column(page, 2) == ["read", "skipped"]


def test_a_filter_that_nothing_passes_leaves_an_empty_table(page):
    page.locator("input[type=search]").fill("nowhere")
    expect(rows(page)).to_have_count(0)

    page.locator(".grid").focus()
    page.keyboard.press("ArrowDown")

    assert shown(page) == "0 of 6 files"


def test_the_keyboard_alone_walks_to_a_file_and_opens_it(page):
    while page.evaluate("document.activeElement.className") != "grid":
        page.keyboard.press("Tab")

    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")

    assert page.locator(".grid").get_attribute("aria-activedescendant") == "row-1"
    assert page.locator("#row-1").get_attribute("aria-selected") == "true"
    assert page.locator("#row-1").get_attribute("aria-rowindex") == "3"
    detail = page.locator(".detail").inner_text()
    assert "country=DE/b.parquet" in detail
    assert "removed by\nage > 40" in detail
    page.keyboard.press("End")
    assert "country=US/b.parquet" in page.locator(".detail").inner_text()


def test_a_path_is_copied_from_the_details(page):
    rows(page).nth(2).click()

    page.get_by_role("button", name="Copy the path").click()
    expect(page.locator("#said")).to_have_text("Copied")
    page.locator("input[type=search]").focus()
    page.keyboard.press("Control+V")

    assert page.locator("input[type=search]").input_value() == "country=IT/a.parquet"


# How far the drawn rows reach above the head of the table and below its lower edge.
BEYOND = """() => {
  const top = document.querySelector(".grid th").getBoundingClientRect().bottom;
  const bottom = document.querySelector(".scroller").getBoundingClientRect().bottom;
  const rows = [...document.querySelectorAll("tr[data-place]")].map(r => r.getBoundingClientRect());
  return [rows[0].top - top, rows.at(-1).bottom - bottom];
}"""


def scroll(page, share):
    page.locator(".scroller").evaluate(
        f"e => {{ e.scrollTop = {share} * (e.scrollHeight - e.clientHeight); }}"
    )
    page.wait_for_selector(f"#row-{round(share * (MANY - 1))}", state="attached")


def test_very_many_files_are_scrolled_sorted_filtered_and_walked_through(show):
    """One page for all of it: its files take longer to make than to look at."""
    report = grown(explain(delta_users(), "age > 40 AND country = 'DE'", verbose=True), MANY)
    opened = show(report)
    page = opened.page
    assert shown(page) == "200,000 of 200,000 files"
    assert page.locator(".grid").get_attribute("aria-rowcount") == "200001"

    for share in (0, 0.25, 0.5, 0.9999, 1):
        scroll(page, share)
        above, below = page.evaluate(BEYOND)
        assert above <= 0, share
        assert below >= -2, share
        assert rows(page).count() < 60
    assert rows(page).last.get_attribute("aria-rowindex") == "200001"
    assert "part-00199997.parquet" in rows(page).last.inner_text()

    page.locator("input[type=search]").fill("part-0012345")
    expect(page.locator(".shown")).to_have_text("10 of 200,000 files")
    page.locator("input[type=search]").fill("")
    page.locator(".grid th button", has_text="age bounds").click()
    page.locator(".grid th button", has_text="age bounds").click()
    expect(page.locator("#row-0")).to_contain_text("[199999, 200008]")

    page.locator(".grid").focus()
    page.keyboard.press("End")
    assert "[0, 9]" in page.locator("#row-199999").inner_text()
    assert page.locator("#row-199999").is_visible()
    page.keyboard.press("Home")
    assert page.locator("#row-0").is_visible()
    assert rows(page).count() < 60
    assert opened.console == []
