"""Pages, bloom filters and dictionaries of files that Spark, DuckDB and DataFusion wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

import datafusion
import duckdb
import pytest

import whyscan
from spark.stages.verify.proofs import proven

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 3_000
PREDICATES = (
    "i = 1500", "i BETWEEN 700 AND 720", "i < 40 OR i > 2960", "i IN (3, 2999)", "i = 99999",
    "k = 1001", "k = 1000", "k IN (1001, 3003)", "s = 'v0700'", "s > 'v2900'", "s LIKE 'v01%'",
    "x = 7.25", "x > 740.00", "d = DATE '2020-02-01'", "d > DATE '2027-12-01'", "n IS NULL",
    "n = 12", "n IS NOT NULL AND i < 100", "f = 1.5D", "f > 1400.0D", "i = 5 AND k <> 4",
    "ts < TIMESTAMP '2020-01-02 00:00:00'", "long_x = 12.5", "c = 'blue'", "c = 'grey'",
)  # fmt: skip
COLUMNS = """
    id AS i, id * 7919 % 3000 * 2 AS k, concat('v', lpad(CAST(id AS STRING), 4, '0')) AS s,
    CAST(id / 4 AS DECIMAL(9, 2)) AS x, CAST(id / 4 AS DECIMAL(30, 2)) AS long_x,
    date_add(DATE '2020-01-01', CAST(id AS INT)) AS d,
    CASE WHEN id % 5 = 0 OR id > 2000 THEN NULL ELSE CAST(id AS INT) END AS n,
    CAST(id / 2 AS DOUBLE) AS f, timestamp_seconds(1577836800 + id * 3600) AS ts,
    element_at(array('red', 'blue', 'green'), CAST(id % 3 + 1 AS INT)) AS c
"""


def by_spark(spark, folder: Path) -> None:
    """Row groups and pages as parquet-java writes them, with bloom filters of `k`."""
    frame = spark.range(0, ROWS, 1, 1).selectExpr(*_split(COLUMNS))
    writer = frame.write.option("parquet.bloom.filter.enabled#k", "true")
    writer = writer.option("parquet.bloom.filter.expected.ndv#k", "3000")
    writer.option("parquet.page.row.count.limit", "100").parquet(str(folder))


def _split(columns: str) -> list[str]:
    """The columns of a SELECT list: commas inside parentheses divide nothing."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(columns):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append(columns[begin:at])
            begin = at + 1
    return [*parts, columns[begin:]]


@pytest.fixture(scope="module")
def written(spark, tmp_path_factory) -> dict[str, Path]:
    """The same rows by each of the three."""
    root = tmp_path_factory.mktemp("written")
    by_spark(spark, root / "spark")
    for name in ("duckdb", "datafusion"):
        (root / name).mkdir()
    source = f"{root}/spark/*.parquet"
    with duckdb.connect() as connection:
        connection.sql("SET TimeZone = 'UTC'")
        connection.sql(
            f"COPY (SELECT * FROM '{source}') TO '{root}/duckdb/f.parquet' (ROW_GROUP_SIZE 2048)"
        )
    config = datafusion.SessionConfig(
        {
            "datafusion.execution.parquet.max_row_group_size": "1000",
            "datafusion.execution.parquet.data_page_row_count_limit": "100",
            "datafusion.execution.parquet.write_batch_size": "50",
            "datafusion.execution.parquet.bloom_filter_on_write": "true",
        }
    )
    context = datafusion.SessionContext(config)
    context.register_parquet("t", f"{root}/spark")
    instant = "arrow_cast(ts, 'Timestamp(Microsecond, Some(\"UTC\"))') AS ts"
    columns = f"i, k, s, x, long_x, d, n, f, {instant}, c"
    target = f"{root}/datafusion/f.parquet"
    context.sql(f"COPY (SELECT {columns} FROM t) TO '{target}' STORED AS PARQUET").collect()
    return {name: root / name for name in ("spark", "duckdb", "datafusion")}


@pytest.mark.spark
@pytest.mark.parametrize("writer", ["spark", "duckdb", "datafusion"])
def test_levels_below_row_groups_lose_no_row(spark, written, writer):
    proof = proven(spark, written[writer], *PREDICATES, depth="dictionary")

    assert [one.lost for one in proof.predicates] == [()] * len(PREDICATES)
    assert all(one.why is None for one in proof.predicates)


@pytest.mark.spark
def test_pages_and_filters_of_these_writers_are_used(written):
    def level(writer: str, sql: str, name: str) -> tuple[int, int, dict[str, int]]:
        report = whyscan.open(str(written[writer])).explain(sql, depth="dictionary")
        counts = next(one for one in report.levels if one.level == name)
        return counts.total, counts.kept, dict(counts.pruned_by)

    for writer in ("spark", "datafusion"):
        total, kept, _ = level(writer, "i = 1500", "pages")
        assert kept <= 2 < total, writer
    # DuckDB writes bloom filters of columns with dictionaries alone.
    for writer in ("spark", "datafusion"):
        total, kept, by = level(writer, "k = 1001", "row_groups")
        assert (kept, by.get("bloom")) == (0, total), writer
    for writer in ("spark", "duckdb", "datafusion"):
        _, kept, by = level(writer, "c = 'grew'", "row_groups")
        assert kept == 0, writer
        assert by.get("dictionary") or by.get("bloom"), writer
