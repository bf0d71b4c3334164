"""`whyscan stats --format html`: which columns prune, how deep files lie, how large they are."""

import numpy as np
import pytest
from msgspec.structs import replace

from support import commands
from support.formats import page as rendered
from support.lakes import delta_users, empty
from support.markup import ELEMENTS, HARMLESS, LAST, NAMES, SEEN, Elements
from support.memory_table import DataFile, MemoryTable, RowGroup
from whyscan.demo.lake import write_lake
from whyscan.reports.distribution import distribution, steps
from whyscan.reports.report import Unchecked
from whyscan.reports.stats import profile
from whyscan.reports.stats.profile import ManifestOverlap
from whyscan.tree.types import INT, STRING

BROWSER = pytest.mark.xdist_group("browser")
MANY = 500


def wide(columns=MANY):
    """Column `c<k>` spans k files to either side; of the last nothing is known."""
    names = [f"c{k:03d}" for k in range(columns)]
    data = [
        DataFile(f"f{i}", {}, [RowGroup(4, {n: (i - k, i + k) for k, n in enumerate(names[:-1])})])
        for i in range(8)
    ]
    return MemoryTable(dict.fromkeys(names, INT), data, footers_describe_files=False, uri="wide")


def named(names):
    """Each name as a column, and all of them as the table."""
    files = [DataFile(f"f{i}", {}, [RowGroup(1, dict.fromkeys(names, ("", LAST)))]) for i in (1, 2)]
    return MemoryTable(
        dict.fromkeys(names, STRING), files, footers_describe_files=False, uri="".join(names)
    )


def stats(table):
    return profile(table, full=False)


def firsts(page):
    return page.locator("tbody th code").all_inner_texts()


def test_the_command_writes_a_whole_page_the_same_each_time(tmp_path):
    write_lake(tmp_path, force=False)

    def run(*more):
        return commands.whyscan("stats", "users", "--format", "html", *more, cwd=tmp_path)

    written = run("-o", "stats.html")

    html = (tmp_path / "stats.html").read_text("utf-8")
    assert (written.code, written.out, written.err) == (0, "", "")
    assert html.startswith("<!doctype html>")
    assert html.endswith("</html>\n")
    assert run().out == html == run().out


def test_bars_stand_at_powers_of_two_and_the_rarest_is_seen():
    drawn = list(steps(distribution(np.array([0, 1, *[5] * 100]))))

    assert [(s.power, s.low, s.high, s.count, s.height) for s in drawn] == [
        (0, 0, 1, 2, 6),
        (2, 4, 7, 100, 100),
    ]


def test_manifests_and_what_was_not_checked_are_shown():
    table_stats = replace(
        stats(delta_users()),
        manifests=40,
        manifest_overlap=(ManifestOverlap("country", 12, 1),),
        unchecked=(Unchecked("row_groups", "5,000 files; --full opens their footers"),),
    )

    said = " ".join(filter(None, Elements(rendered(table_stats)).text))

    assert "Manifests count 40 country a value falls into 12 (median), where 1 would do" in said
    assert "not checked: row groups (5,000 files; --full opens their footers)" in said


@pytest.mark.parametrize("table", [delta_users(), empty(), named(NAMES)], ids=lambda t: t.uri[:5])
def test_a_notebook_shows_the_columns_without_a_script(table):
    shown = Elements(stats(table)._repr_html_())

    assert "script" not in shown.tags
    assert shown.open == []
    assert {SEEN.get(name, name) for name in table.columns} <= set(shown.text)


@BROWSER
def test_the_page_opens_with_the_answer_and_ranks_the_columns(show):
    opened = show(stats(delta_users()), rendered)
    page = opened.page

    assert page.title() == "users: whyscan"
    assert page.locator("h1").inner_text() == (
        "Filters on country prune best: country = value skips 66.7\xa0% of 6 files on average"
    )
    first = page.locator("tbody tr").first
    assert first.inner_text().split() == [
        *("country", "string", "100", "%", "6", "0", "%", "2", "2", "66.7", "%")
    ]
    kept, gone = (
        first.locator(f"td:last-child .{part}").get_attribute("width") for part in ("kept", "gone")
    )
    assert int(kept) == pytest.approx(2 * int(gone), rel=0.02)
    # Two files of each country: the second step, above the mark of the ideal.
    assert [r.get_attribute("x") for r in first.locator(".histogram rect").all()] == ["11", "11"]
    assert first.locator("title").text_content() == "2 to 3: 6 files"
    sizes = page.get_by_role("group", name="Sizes")
    assert sizes.locator("tbody th").all_inner_texts() == [
        *("file bytes", "row group bytes", "row group rows"),
    ]
    page.locator("#theme").click()
    assert opened.console == []
    assert len(opened.requests) == 1


@BROWSER
def test_hundreds_of_columns_are_sorted_by_keyboard_and_never_widen_the_page(show):
    opened = show(stats(wide()), rendered, viewport={"width": 480, "height": 900})
    page = opened.page
    assert page.locator(".sortable tbody tr").count() == MANY
    assert firsts(page)[:2] == ["c000", "c001"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 480
    assert page.locator(".tall").evaluate("e => e.clientHeight < e.scrollHeight && e.tabIndex") == 0

    head = page.locator(".sortable thead th:nth-child(6)")
    for way, expected in (("ascending", "1"), ("descending", "8")):
        head.get_by_role("button", name="Depth").focus()
        page.keyboard.press("Enter")
        assert page.locator(".sortable tbody td:nth-child(6)").first.inner_text() == expected
        assert firsts(page)[-1] == f"c{MANY - 1}"  # What is not known stays last.
        assert head.get_attribute("aria-sort") == way
    assert page.locator("#said").inner_text() == "Sorted by Depth, descending"
    page.get_by_role("button", name="Column").click()
    assert firsts(page) == [f"c{k:03d}" for k in range(MANY)]
    assert opened.console == []


@BROWSER
def test_names_are_seen_and_nothing_of_them_is_obeyed(show):
    usual = show(stats(named(HARMLESS)), rendered).page.evaluate(ELEMENTS)
    opened = show(stats(named(NAMES)), rendered)
    page = opened.page

    page.get_by_role("button", name="Column").click()

    assert page.evaluate(ELEMENTS) == usual
    shown = page.locator(".sortable tbody th code").evaluate_all(
        "all => all.map(e => e.textContent)"
    )
    assert sorted(shown) == sorted(SEEN.get(name, name) for name in NAMES)
    assert opened.dialogs == opened.console == []
    assert len(opened.requests) == 1


@BROWSER
def test_without_scripts_the_whole_page_is_there(show):
    page = show(stats(delta_users()), rendered, java_script_enabled=False).page

    assert firsts(page) == ["country", "age"]
    assert "file bytes 6 400\xa0B 425\xa0B 500\xa0B" in " ".join(
        page.get_by_role("group", name="Sizes").inner_text().split()
    ).replace(" B", "\xa0B")
    assert not page.locator("#theme").is_visible()
