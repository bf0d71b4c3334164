"""A generated lake by five writers, and generated queries: audit equals explain."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING

import pytest

import whyscan
from spark.stages.audit.lake import COUNTRIES, rows, write_delta, write_hive, write_iceberg
from whyscan.spark.pinned_tables import pin_all
from whyscan.spark.stages.audit.stage import explain_workload
from whyscan.spark.stages.workload.query import Query, Workload
from whyscan.spark.tables import NamedTable

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

BY_SPARK = 3


def by_spark(spark, folder: Path, months: int, how: str, name: str) -> str:
    """Its uri; one file a month."""
    warehouse = spark.conf.get("spark.sql.catalog.ice.warehouse")
    for month in range(months):
        frame = spark.createDataFrame(rows(month, 20)).coalesce(1)
        if how == "delta":
            frame.write.format("delta").mode("append").partitionBy("country").save(str(folder))
        elif month:
            frame.writeTo(f"ice.lake.{name}").append()
        else:
            frame.writeTo(f"ice.lake.{name}").partitionedBy(frame.country).create()
    return str(folder) if how == "delta" else f"{warehouse}/lake/{name}"


@pytest.fixture(scope="module")
def lake(request, spark, tmp_path_factory):
    """As many tables as the test asks for, by name."""
    folder, dice = tmp_path_factory.mktemp("generated"), random.Random(7)
    tables = {}
    for number in range(request.param):
        name, months = f"t{number:02}", dice.randint(1, 3)
        place = folder / name
        tables[name] = str(place)
        if number < BY_SPARK:
            by_spark(spark, place, months, "delta", name)
        elif number < 2 * BY_SPARK:
            tables[name] = by_spark(spark, place, months, "iceberg", name)
        else:
            dice.choice(WRITERS)(place, months)
    return tables


WRITERS = (
    write_delta,
    partial(write_delta, parts=()),
    partial(write_delta, parts=("country", "code")),
    write_iceberg,
    partial(write_iceberg, parts={"ts": "day"}),
    partial(write_iceberg, parts={"id": "bucket[4]"}),
    partial(write_iceberg, parts={"country": "identity", "ts": "year"}),
    write_hive,
    partial(write_hive, column="code"),
)
CONDITIONS = (
    "id < {n}",
    "id BETWEEN {n} AND {n} + 9",
    "country = '{c}'",
    "upper(country) = '{c}'",
    "country IN ('{c}', 'XX') AND amount > {n}",
    "country = '{c}' OR id = {n}",
    "ts >= TIMESTAMP '2024-0{m}-05 00:00:00'",
    "year(ts) = 2024 AND month(ts) = {m}",
    "date_trunc('month', ts) = '2024-0{m}-01'",
    "CAST(ts AS DATE) = DATE '2024-0{m}-11'",
    "code = 3",
    "code LIKE '0{m}%'",
    "amount IS NULL",
    "NOT (id > {n}) AND length(country) = 2",
    "id + 1 > {n}",
)
STATEMENTS = (
    "SELECT id, ts FROM {a} WHERE {where}",
    "SELECT * FROM {a} WHERE {where}",
    "SELECT count(*), max(id) FROM {a}",
    "SELECT x.id FROM {a} x JOIN {b} y ON x.id = y.id WHERE x.country = '{c}' AND y.id > {n}",
    "WITH w AS (SELECT * FROM {a} WHERE {where}) SELECT country, sum(amount) FROM w GROUP BY 1",
    "SELECT id FROM {a} WHERE {where} LIMIT 5",
    "SELECT id FROM {a} WHERE id IN (SELECT id FROM {b} WHERE id < {n})",
    "DELETE FROM {a} WHERE {where}",
    "SELECT id FROM {a} WHERE {where} UNION ALL SELECT id FROM {b} WHERE country = '{c}'",
)


def queries(tables, count):
    """Distinct texts; some of them name a column or a table that is not there."""
    dice, predicates = random.Random(11), {}
    while len(predicates) < count:
        values = {"n": dice.randrange(150), "c": dice.choice(COUNTRIES), "m": dice.randint(1, 4)}
        where = dice.choice(CONDITIONS).format(**values)
        a, b = dice.choices(list(tables), k=2)
        text = dice.choice(STATEMENTS).format(a=a, b=b, where=where, **values)
        if dice.random() < 0.01:
            text = text.replace("FROM t", "FROM no", 1)
        predicates[text] = Query(text, "spark", times=dice.randint(1, 9))
    return tuple(predicates.values())


def figures_of(report):
    return report.question.predicate, report.levels, report.conjuncts, report.findings


@pytest.mark.parametrize(
    ("lake", "count"),
    [(24, 250), pytest.param(50, 1_000, marks=pytest.mark.proof)],
    indirect=["lake"],
)
def test_every_query_of_a_generated_lake_is_explained_as_in_one_process(spark, lake, count):
    workload_queries = queries(lake, count)
    pinned = pin_all(NamedTable(name, uri) for name, uri in lake.items())

    audited, _ = explain_workload(spark, Workload(workload_queries), pinned)

    assert {table.format for table in audited.tables} == {"delta", "hive", "iceberg"}
    tables = {name: whyscan.open(uri) for name, uri in lake.items()}
    refused = {entry.text for entry in audited.unparsed}
    assert len(audited.queries) + len(refused) == count
    assert len(audited.queries) > 0.9 * count
    for line in audited.queries:
        report = whyscan.explain_sql(line.sql, tables)
        mine = [(t.name, *figures_of(t.scan.report)) for t in line.tables]
        alone = [(s.name, *figures_of(s.report)) for s in report.scans]
        assert (mine, line.findings) == (alone, report.findings), line.sql
    for text in refused:
        with pytest.raises(whyscan.WhyscanError):
            whyscan.explain_sql(text, tables)
