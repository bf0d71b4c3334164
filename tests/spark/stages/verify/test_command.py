"""`whyscan verify`: its exit codes, and what it prints."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spark.stages.verify.test_lies import add, values
from support.commands import whyscan
from tables.delta.conftest import Lake

pytestmark = pytest.mark.spark


@pytest.fixture
def lake(tmp_path):
    honest = tmp_path / "honest"
    honest.mkdir()
    pq.write_table(values([1, 2, 3]), honest / "a.parquet")
    lying = Lake(tmp_path / "lying").create({"x": "long", "s": "string"})
    lying.commit(add(lying, "a.parquet", values([1, 99]), upper=5))
    return tmp_path


def test_a_table_that_holds_ends_with_0(spark, lake):
    done = whyscan("verify", "honest", "-w", "x > 1", "-w", "x < 0", "--engines", "none", cwd=lake)

    assert done.code == 0, done.err
    assert done.out.startswith("2 predicates held against 3 rows of 1 file")


def test_a_lie_ends_with_1_and_is_in_the_document(spark, lake):
    done = whyscan("verify", "lying", "-w", "x = 99", "--format", "json", cwd=lake)
    document = json.loads(done.out)

    assert done.code == 1
    assert document["tables"][0]["lies"][0]["column"] == "x"
    assert document["tables"][0]["predicates"][0]["lost"][0]["rows"] == 1


def test_the_predicates_of_a_workload(spark, lake):
    (lake / "log.sql").write_text(
        "SELECT * FROM good WHERE x = 1; SELECT s FROM good WHERE x < 0;\n"
        "SELECT * FROM bad WHERE x = 99; SELECT nothing FROM nowhere;"
    )
    tables = ("--table", "good=honest", "--table", "bad=lying")
    form = ("--engines", "none", "--format", "json")
    done = whyscan("verify", "--workload", "log.sql", *tables, *form, cwd=lake)
    document = json.loads(done.out)
    proofs = {table["name"]: table["result"] for table in document["tables"]}

    assert done.code == 1
    assert proofs == {"good": "pass", "bad": "fail"}
    assert len(document["failures"]) == 1


@pytest.mark.parametrize(
    "words",
    [
        ("honest",),
        ("-w", "x = 1"),
        ("honest", "-w", "x = 1", "--sample", "3"),
        ("--workload", "log.sql", "honest"),
        ("honest", "-w", "x = 1", "--dialect", "klingon"),
        ("honest", "-w", "x = 1", "--engines", "presto"),
    ],
)
def test_a_missing_or_superfluous_argument_is_an_error(lake, words):
    done = whyscan("verify", *words, cwd=lake)

    assert done.code == 2
    assert done.err.startswith("error: ")


@pytest.mark.parametrize("depth", ["pages", "dictionary"])
def test_plans_down_to_pages_are_proven(spark, tmp_path, depth):
    table = pa.table({"a": range(200), "s": [str(n % 7) for n in range(200)]})
    pages = {"write_page_index": True, "max_rows_per_page": 10, "write_batch_size": 1}
    (tmp_path / "t").mkdir()
    pq.write_table(table, tmp_path / "t" / "f.parquet", row_group_size=100, **pages)
    predicates = ("-w", "a = 3", "-w", "s = 'x'", "-w", "a IN (5, 150) AND s < '4'")

    done = whyscan("verify", "t", *predicates, "--depth", depth, "--engines", "none", cwd=tmp_path)

    assert done.code == 0, done.err
    assert done.out.startswith("3 predicates held against 200 rows of 1 file")
