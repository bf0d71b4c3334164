"""The interval chart by its pixels: bars where the bounds are, a band where the predicate is."""

from itertools import pairwise

import pytest
from msgspec.structs import replace

from support.lakes import delta_users, one_file
from support.memory_table import DataFile, MemoryTable, RowGroup
from support.reports import explain, grown
from whyscan.tree.types import DATE, INT, STRING, TIMESTAMP

pytestmark = pytest.mark.xdist_group("browser")

# The colours of one row of pixels (in CSS pixels from the top), as runs of [colour, from, to].
RUNS = """([index, y]) => {
  const canvas = document.querySelectorAll(".chart canvas")[index];
  const ratio = canvas.width / canvas.clientWidth;
  const data = canvas.getContext("2d").getImageData(0, y * ratio, canvas.width, 1).data;
  const runs = [];
  for (let x = 0; x < canvas.width; x += 1) {
    const colour = [...data.slice(x * 4, x * 4 + 4)].join(",");
    if (runs.length && runs.at(-1)[0] === colour) runs.at(-1)[2] = (x + 1) / canvas.width;
    else runs.push([colour, x / canvas.width, (x + 1) / canvas.width]);
  }
  return runs;
}"""
RULER = 1  # Above the bars stand the ranges of the predicate.
NOTHING = "0,0,0,0"


def runs(page, index, y):
    return page.evaluate(RUNS, [index, y])


def drawn(page, index, y):
    """From where to where something is drawn, as shares of the width."""
    spans = []
    for colour, start, end in runs(page, index, y):
        if colour == NOTHING:
            continue
        if spans and spans[-1][1] == start:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return [(round(start, 2), round(end, 2)) for start, end in spans]


def chart(page, name):
    return page.locator(".chart", has=page.locator("h3", has_text=name))


def test_the_band_stands_where_the_predicate_asks_and_bars_where_the_bounds_are(show):
    page = show(explain(delta_users(), "country = 'DE' AND age > 40", verbose=True)).page

    # From 18 to 65 with 2 % of 47 at both ends: 41 is at (41 - 17.06) / 48.88.
    assert drawn(page, 1, RULER) == [(0.49, 1.0)]
    # Six bars of 14 pixels; the first file by its lower bound is 18 to 29, the last 41 to 65.
    bar = max(runs(page, 1, 5 + 7), key=lambda run: run[2] - run[1] if run[0] != NOTHING else 0)
    assert (round(bar[1], 2), round(bar[2], 2)) == (0.02, 0.24)
    assert chart(page, "age").locator(".says").inner_text() == "The predicate asks for at least 41"


def test_a_bar_has_the_colour_of_its_verdict(show):
    page = show(explain(delta_users(), "age > 40", verbose=True), color_scheme="light").page
    legend = page.evaluate(
        "['some', 'statistics'].map(f => getComputedStyle("
        "document.querySelector(`.legend .swatch.${f}`)).backgroundColor.match(/\\d+/g).join())"
    )

    first, last = (runs(page, 0, 5 + 7 + 14 * place) for place in (0, 4))

    assert f"{legend[1]},255" in {run[0] for run in first}
    assert f"{legend[0]},255" in {run[0] for run in last}


def test_words_stand_in_their_order_and_each_has_room(show):
    page = show(explain(delta_users(), "country IN ('IT', 'XX')", verbose=True)).page

    # DE, IT, US and XX in cells of one, from -0.5 to 3.5 with 2 % of 4 at both ends.
    assert drawn(page, 0, RULER) == [(0.26, 0.5), (0.74, 0.98)]
    assert chart(page, "country").locator(".says b").inner_text() == "'IT' or 'XX'"


def moments(kind, *bounds):
    files = [DataFile(f"{i}.parquet", {}, [RowGroup(1, {"x": b})]) for i, b in enumerate(bounds)]
    return MemoryTable({"x": kind}, files, footers_describe_files=False)


@pytest.mark.parametrize(
    ("table", "predicate", "says", "line"),
    [
        (
            moments(DATE, (19723, 19730), (19800, 19900)),
            "x >= '2024-02-01' AND x < '2024-03-01'",
            "at least 2024-02-01 and at most 2024-02-29",
            "0.parquet  [2024-01-01, 2024-01-08]  skipped by statistics",
        ),
        (
            moments(TIMESTAMP, (1_704_067_200_000_000, 1_704_067_200_500_000), (0, 1)),
            "x < '2024-01-01 12:00:00'",
            "below 2024-01-01T12:00:00Z",
            "1.parquet  [1970-01-01T00:00:00Z, 1970-01-01T00:00:00.000001Z]  read, MATCHES_ALL",
        ),
        (
            moments(STRING, ("apple", "cherry"), ("fig", "plum")),
            "x LIKE 'b%'",
            "what starts with 'b'",
            "0.parquet  [apple, cherry]  read, STRADDLES",
        ),
        (
            moments(INT, (-5, -5), (7, 2**31 - 1)),
            "x <> 3",
            "at most 2 or at least 4",
            "0.parquet  -5  read, MATCHES_ALL",
        ),
    ],
    ids=["dates", "timestamps", "text", "numbers"],
)
def test_values_are_written_as_what_they_are(show, table, predicate, says, line):
    opened = show(explain(table, predicate, verbose=True))
    page = opened.page

    page.locator("canvas").focus()
    page.keyboard.press("ArrowDown")

    assert page.locator(".says b").inner_text() == says
    assert page.locator(".chart output").inner_text() == line
    assert page.locator("canvas").get_attribute("aria-valuetext") == line
    assert opened.console == []


def test_integers_beyond_what_javascript_counts_are_exact(show):
    big = 2**53 + 1
    table = moments(replace(INT, bits=64), (big, big + 2))

    page = show(explain(table, "x > 0", verbose=True)).page

    assert page.locator("tr[data-place] td").last.inner_text() == f"[{big}, {big + 2}]"


def test_pointing_at_a_bar_tells_of_the_file_and_choosing_it_finds_it_in_the_table(show):
    page = show(explain(delta_users(), "age > 40", verbose=True)).page
    canvas = page.locator("canvas").first

    canvas.hover(position={"x": 100, "y": 5 + 7})
    assert page.locator(".chart output").first.inner_text() == (
        "country=US/b.parquet  [18, 29]  skipped by statistics"
    )
    canvas.click(position={"x": 100, "y": 5 + 7 + 14})

    assert page.locator("tr[aria-selected=true]").get_attribute("id") == "row-3"
    assert page.evaluate("document.activeElement.className") == "grid"


def test_files_without_bounds_are_counted_and_not_drawn(show):
    page = show(
        explain(one_file(INT, RowGroup(1), path="a"), "x > 1", verbose=True), color_scheme="light"
    ).page

    assert page.locator(".chart output").inner_text() == (
        "0 of 1 files have bounds; the others are not drawn."
    )


def test_a_predicate_that_is_no_range_draws_no_band_and_says_so(show):
    page = show(explain(delta_users(), "abs(age) = 3", verbose=True)).page

    assert "no band is drawn" in page.locator(".says").inner_text()
    assert drawn(page, 0, RULER) == []


def test_very_many_files_are_one_picture_and_a_clustered_table_is_a_staircase(show):
    page = show(grown(explain(delta_users(), "age > 15000", verbose=True), 20_000)).page

    # A file in the middle of the order lies in the middle of the axis, and nothing else is there.
    bars = [run for run in runs(page, 0, 5 + 150) if run[0] != NOTHING and run[2] - run[1] > 0.001]
    assert min(abs(run[1] - 0.5) for run in bars) < 0.02
    assert drawn(page, 0, RULER)[0][0] == pytest.approx(0.74, abs=0.01)


def days(count):
    """A file a day, in order."""
    return moments(DATE, *((19_000 + day, 19_000 + day) for day in range(count)))


def test_a_chart_of_many_files_shows_what_the_predicate_asks_for_and_the_whole_on_demand(show):
    page = show(explain(days(400), "x >= '2022-03-01' AND x < '2022-03-08'", verbose=True)).page
    near = page.locator(".chart output").inner_text()

    (band,) = drawn(page, 0, RULER)
    assert 0.3 < band[1] - band[0] < 0.4
    assert "19 of them reach into what is shown" in near

    page.get_by_role("button", name="Show the whole axis").click()
    (band,) = drawn(page, 0, RULER)
    assert band[1] - band[0] < 0.03
    assert "reach into what is shown" not in page.locator(".chart output").inner_text()
    assert page.locator("canvas").get_attribute("aria-valuemax") == "400"

    page.get_by_role("button", name="Zoom to what the predicate asks for").click()
    assert page.locator(".chart output").inner_text() == near


@pytest.mark.parametrize(
    ("table", "predicate"),
    [(days(40), "x = '2022-02-01'"), (days(400), "x >= '2022-01-20'"), (days(400), "abs(1) = 2")],
    ids=["few files", "most of the axis", "no range"],
)
def test_nothing_is_zoomed_where_it_would_leave_little_out(show, table, predicate):
    page = show(explain(table, predicate, verbose=True)).page

    assert page.locator(".zoom").filter(visible=True).count() == 0


def test_where_bars_are_thinner_than_a_pixel_a_strip_counts_the_files_at_each_value(show):
    overlapping = moments(INT, *((0, 1_000) for _ in range(200)), *((2_000, 3_000),) * 200)
    page = show(explain(overlapping, "abs(x) = 3", verbose=True)).page

    assert page.locator(".chart output").inner_text().endswith("at most 200.")
    # The strip has both groups, and nothing between them.
    assert drawn(page, 0, 5 + 20)[0] != drawn(page, 0, 5 + 20)[-1]


def test_files_that_look_the_same_are_one_block_of_each_outcome(show):
    """Else thin bars of two colours mix, and their shares cannot be seen."""
    bounds = [{"x": (i % 7, 99_000 + i % 9), "y": (i % 4,) * 2} for i in range(900)]
    files = [DataFile(f"{i}.parquet", {}, [RowGroup(1, b)]) for i, b in enumerate(bounds)]
    table = MemoryTable({"x": INT, "y": INT}, files, footers_describe_files=False)
    page = show(explain(table, "x > 10 AND y = 1", verbose=True), color_scheme="light").page

    widest = [
        max(runs(page, 0, 5 + 34 + y), key=lambda run: run[2] - run[1]) for y in range(0, 300, 10)
    ]
    colours = [run[0].rpartition(",")[0] for run in widest]
    changes = sum(a != b for a, b in pairwise(colours))

    assert changes == 1, colours
