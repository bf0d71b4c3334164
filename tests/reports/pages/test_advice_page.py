"""`whyscan advise --format html`: bars from before to after, by layout and by query."""

from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from support.formats import page as rendered
from whyscan.spark import Workload
from whyscan.spark.stages.workload import Query

BROWSER = pytest.mark.xdist_group("browser")
SORTED_TODAY = "SELECT * FROM events WHERE day = 3"
SCATTERED = "SELECT * FROM events WHERE user_id = 77"


@pytest.fixture(scope="module")
def advice(tmp_path_factory):
    """A table in the order of days, with a workload that asks for users: days get worse."""
    folder, random = tmp_path_factory.mktemp("events"), Random(3)
    for number in range(12):
        rows = {"day": [number] * 400, "user_id": [random.randint(0, 999) for _ in range(400)]}
        path = folder / f"{number:02}.parquet"
        pq.write_table(pa.table(rows), path, compression=None, use_dictionary=False)
    queries = (Query(SCATTERED, "spark", 500), Query(SORTED_TODAY, "spark", 2))
    return whyscan.advise(Workload(queries, ()), {"events": folder})


def bars(row):
    """The lengths of the bars before and after, as shares of the longest."""
    kept = [
        row.locator(f"td:nth-child({column}) .kept").get_attribute("width") for column in (3, 4)
    ]
    return [int(width) / 1000 for width in kept]


@BROWSER
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_bars_show_which_queries_get_better_and_which_get_worse(show, advice, scheme, width):
    opened = show(advice, rendered, viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = opened.page

    queries = page.get_by_role("group", name="Queries").locator("tbody tr")
    assert queries.locator("th").all_inner_texts() == [SCATTERED, SORTED_TODAY]
    assert bars(queries.nth(0)) == pytest.approx([1, 1 / 12], abs=0.02)
    assert bars(queries.nth(1)) == pytest.approx([1 / 12, 1], abs=0.02)
    layouts = page.get_by_role("group", name="Layouts of events").locator("tbody tr")
    assert layouts.first.locator(".kept").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.console == []
    assert len(opened.requests) == 1
