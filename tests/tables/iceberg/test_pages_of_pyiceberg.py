"""Pages, bloom filters and dictionaries of tables that PyIceberg writes, held against the rows."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import whyscan
from tables.iceberg.pyiceberg_lakes import create, rows

COUNT = 80
CASES = {
    "i = -16": lambda t: pc.equal(t["i"], -16),
    "i > 5 AND n < 100": lambda t: pc.and_kleene(pc.greater(t["i"], 5), pc.less(t["n"], 100)),
    "s = 'nothing' OR i = 3": lambda t: pc.or_kleene(
        pc.equal(t["s"], "nothing"), pc.equal(t["i"], 3)
    ),
    "i IN (1, 2, 77777)": lambda t: pc.is_in(t["i"], pa.array([1, 2, 77777], pa.int32())),
    "s IS NULL": lambda t: t["s"].is_null(),
}


@pytest.fixture(scope="module", params=["as written", "with indexes and filters"])
def lake(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("lake") / "t"
    table = create(folder, {})
    for seed in range(3):
        table.append(rows(seed, COUNT))
    files = sorted(folder.rglob("*.parquet"))
    if request.param != "as written":
        fill = {"ndv": 50, "fpp": 0.01}
        for file in files:
            pq.write_table(
                pq.read_table(file),
                file,
                write_page_index=True,
                max_rows_per_page=5,
                write_batch_size=1,
                row_group_size=COUNT // 2,
                bloom_filter_options={"i": fill, "s": fill},
            )
    return folder, pa.concat_tables(map(pq.read_table, files))


@pytest.mark.parametrize("depth", ["pages", "dictionary"])
@pytest.mark.parametrize("sql", CASES)
def test_no_row_is_lost_below_row_groups(lake, sql, depth):
    folder, table = lake
    matching = table.filter(CASES[sql](table)).num_rows

    read = whyscan.open(folder)
    report = read.explain(sql, depth=depth).to_dict()

    assert report["levels"][-1]["level"] == "pages"
    counted = report["rows_matched"]
    assert counted["at_least"] <= matching <= counted["at_most"]
    assert read.plan(sql, depth=depth).to_arrow().num_rows == matching


def test_filters_of_a_table_of_pyiceberg_remove_row_groups(lake):
    folder, _ = lake

    report = whyscan.open(folder).explain("s = 'nothing'", depth="dictionary").to_dict()

    removed = report["levels"][2]["pruned_by"]
    assert removed.get("bloom", 0) + removed.get("dictionary", 0) == report["levels"][2]["total"]
