"""A value that is not boolean is refused wherever a statement has a condition, as in Spark."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from whyscan.errors import NoCondition, SyntaxProblem

REFUSED = """
SELECT 1 FROM {t} WHERE age
SELECT 1 FROM {t} WHERE age >> 1
SELECT 1 FROM {t} WHERE flag AND age & 1
SELECT 1 FROM {t} WHERE CASE WHEN age THEN true END
SELECT count(*) FROM {t} GROUP BY age HAVING age
SELECT count(*) FROM {t} GROUP BY age HAVING count(*) & 1
SELECT 1 FROM {t} x JOIN {t} y ON x.age
SELECT 1 FROM {t} x LEFT JOIN {t} y ON x.age = y.age AND x.age + 1
SELECT 1 FROM {t} WHERE EXISTS (SELECT 1 FROM {t} WHERE age)
""".strip().splitlines()


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    pq.write_table(pa.table({"age": [1], "outer": [1], "flag": [True]}), folder / "0.parquet")
    return f"parquet.`{folder}`"


@pytest.mark.parametrize("sql", REFUSED)
def test_what_is_not_boolean_is_refused(table, sql):
    with pytest.raises(NoCondition, match="boolean"):
        whyscan.explain_sql(sql.format(t=table))


def test_an_operator_with_a_blank_in_it_is_refused(table):
    with pytest.raises(SyntaxProblem):
        whyscan.explain_sql(f"SELECT 1 FROM {table} WHERE age > > 1")


def test_a_keyword_is_a_column(table):
    scan = whyscan.explain_sql(f"SELECT 1 FROM {table} WHERE outer > 5").to_dict()["scans"][0]

    assert scan["levels"][0]["kept"] == 0
