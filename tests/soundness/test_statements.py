"""The cases of soundness-cases.md about joins, filters of a join's other side, Top-N and counts.

The rows of a statement on the files that its scans keep are its rows on all files.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan

NULL = "__HIVE_DEFAULT_PARTITION__"
MILLIS, MICROS = pa.timestamp("ms"), pa.timestamp("us")


@dataclass(frozen=True)
class Case:
    """Tables as files by path; a statement, and how many files of each table it keeps.

    `answer`: what metadata answers, so that no file is read.
    """

    name: str
    tables: dict[str, dict[str, pa.Table]]
    sql: str
    kept: dict[str, int]
    answer: str | None = None


def files(kind: pa.DataType, *values: list) -> dict[str, pa.Table]:
    """One file for each list of values of `k`; `v` numbers the files."""
    return {
        f"{at}.parquet": pa.table({"k": pa.array(part, kind), "v": [at] * len(part)})
        for at, part in enumerate(values)
    }


def hive(*values: str) -> dict[str, pa.Table]:
    return {f"k={value}/f.parquet": pa.table({"v": [at]}) for at, value in enumerate(values)}


INTS = files(pa.int64(), [1, 2], [3, 4], [5, None])
CASES = [
    Case(
        "g18_a_join_of_two_precisions",
        {"a": files(MILLIS, [1_000], [2_000], [None]), "b": files(MICROS, [2_000_000])},
        "SELECT a.v, b.v FROM a JOIN b ON a.k = b.k",
        {"a": 1, "b": 1},
    ),
    Case(
        "h22_a_join_on_a_partition_that_is_null",
        {"a": hive(NULL, "1", "2"), "b": files(pa.int64(), [2, None])},
        "SELECT a.v, b.v FROM a JOIN b ON a.k = b.k",
        {"a": 1, "b": 1},
    ),
    Case(
        "h22_a_null_safe_join_on_a_partition_that_is_null",
        {"a": hive(NULL, "1", "2"), "b": files(pa.int64(), [2, None])},
        "SELECT a.v, b.v FROM a JOIN b ON a.k IS NOT DISTINCT FROM b.k",
        {"a": 3, "b": 1},
    ),
    Case(
        "i18_the_first_rows_behind_groups_of_nulls",
        {"a": files(pa.int64(), [None, None], [None, None], [1, 2])},
        "SELECT k, v FROM a ORDER BY k NULLS LAST, v LIMIT 2 OFFSET 1",
        {"a": 3},
    ),
    Case(
        "i18_nulls_first",
        {"a": files(pa.int64(), [None, None], [None, 7], [1, 2])},
        "SELECT k, v FROM a ORDER BY k NULLS FIRST, v LIMIT 4",
        {"a": 3},
    ),
    Case(
        "j8_a_count_of_one_partition",
        {"a": hive("1", "2", "3")},
        "SELECT count(*) FROM a WHERE k = 2",
        {"a": 0},
        "count(*) = 1",
    ),
    Case(
        "o2_a_join_on_a_struct_of_the_key",
        {"a": INTS, "b": files(pa.int64(), [3])},
        "SELECT a.v FROM a JOIN b ON row(a.k) = row(b.k) WHERE b.k = 3",
        {"a": 3, "b": 1},
    ),
    Case(
        "o4_an_aggregate_with_a_filter",
        {"a": INTS},
        "SELECT max(v) FROM a WHERE k BETWEEN 2 AND 4",
        {"a": 0},
        "max(v) = 1",
    ),
    Case(
        "o6_a_filter_outside_of_a_query_and_a_case",
        {"a": INTS, "b": files(pa.int64(), [1, 3, 5])},
        """WITH c AS (SELECT k, CASE WHEN v > 100 THEN 'x' ELSE 'y' END AS w FROM a)
           SELECT c.w, b.v FROM c JOIN b ON c.k = b.k WHERE c.k > 4""",
        {"a": 1, "b": 1},
    ),
    Case(
        "k26_a_join_on_days_of_another_clock",
        {"a": files(pa.date32(), [0, 1], [5]), "b": files(MICROS, [5 * 86_400_000_000])},
        "SELECT a.v FROM a JOIN b ON a.k = b.k",
        {"a": 1, "b": 1},
    ),
]


@pytest.mark.parametrize("resolve", [True, False], ids=["resolved", "static"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_kept_files_have_the_rows_of_the_statement(tmp_path, case, resolve):
    for table, contents in case.tables.items():
        for name, rows in contents.items():
            path = tmp_path / table / name
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(rows, path)
    tables = {name: str(tmp_path / name) for name in case.tables}

    report = whyscan.explain_sql(
        case.sql, tables, dialect="duckdb", depth="files", resolve_joins=resolve
    )

    kept = {scan.name: [file.path for file in scan.plan] for scan in report.scans}
    everything = {name: list(contents) for name, contents in case.tables.items()}
    expected = rows_of(tmp_path, case.sql, everything)
    assert report.scans[0].answer == case.answer
    if case.answer is None:
        assert rows_of(tmp_path, case.sql, kept) == expected
    else:
        assert expected == Counter([(int(case.answer.partition(" = ")[2]),)])
    if resolve:
        assert {name: len(paths) for name, paths in kept.items()} == case.kept


def rows_of(folder, sql, files_by_table) -> Counter:
    with duckdb.connect() as connection:
        for name, paths in files_by_table.items():
            place = f"'{folder}/{name}/**/*.parquet'"
            whole = f"read_parquet({place}, filename = true, hive_partitioning = true)"
            chosen = [str(folder / name / path) for path in paths]
            connection.execute(
                f"CREATE VIEW {name} AS SELECT * FROM {whole}"
                f" WHERE list_contains({chosen}::VARCHAR[], filename)"
            )
        return Counter(connection.execute(sql).fetchall())
