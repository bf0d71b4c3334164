"""What engines read: a report with profiles against one without, and page indexes of many files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import datafusion
import pyarrow as pa
import pyarrow.parquet as pq
from delta_tables import checkpointed
from measure import Ratio, compare

import whyscan
from whyscan.planning.plan.planner import make_plan
from whyscan.planning.plan.request import bind_request
from whyscan.reports.report import make_report
from whyscan.terms import PlanTerms

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ENGINES = ("spark-delta", "trino", "duckdb")
PREDICATE = "country = 'DE' AND age + 1 > 86"
FILES, PAGES, ROWS_A_PAGE = 1_000, 20, 100
BETWEEN_PAGES = f"v = {ROWS_A_PAGE * 21 + 1}"
"""The bounds of every row group have this value, and those of no page."""


def measurements(folder: Path) -> Iterator[Ratio]:
    """Three profiles on a Delta table in memory, then the page indexes of a thousand files."""
    snapshot = whyscan.open(str(checkpointed(folder, 100_000))).snapshot

    def report(engines: tuple[str, ...] | None) -> object:
        terms = PlanTerms(depth="files", engines=engines)
        predicate, options = bind_request(snapshot, PREDICATE, (), terms)
        return make_report(make_plan(snapshot, predicate, options), verbose=False)

    yield compare(
        "a report with three profiles, 100,000 files",
        "without one",
        2.0,
        lambda: report(ENGINES),
        lambda: report(None),
    )
    lake = folder / "pages"
    if not lake.exists():
        _write(lake)

    def theirs() -> object:
        # A context keeps the metadata of files: each round has its own.
        context = datafusion.SessionContext()
        context.register_parquet("t", str(lake))
        return context.sql(f"SELECT count(*) FROM t WHERE {BETWEEN_PAGES}").collect()

    yield compare(
        "page indexes of 1,000 files, every page pruned",
        "DataFusion, same filter",
        1.0,
        lambda: whyscan.open(str(lake)).plan(BETWEEN_PAGES, depth="pages").summary,
        theirs,
    )


def _write(lake: Path) -> None:
    """Twenty pages a file, whose values lie apart."""
    lake.mkdir(parents=True)
    values = [page * 2 * ROWS_A_PAGE + row for page in range(PAGES) for row in range(ROWS_A_PAGE)]
    columns = {f"c{n}": pa.array(values, pa.int64()) for n in range(4)}
    table = pa.table({"v": pa.array(values, pa.int64()), **columns})
    for number in range(FILES):
        pq.write_table(
            table,
            lake / f"{number:04}.parquet",
            use_dictionary=False,
            write_page_index=True,
            max_rows_per_page=ROWS_A_PAGE,
            write_batch_size=ROWS_A_PAGE,
        )
