"""Engines read what their profiles predict: on real tables, by the engines that are installed.

The normal run takes for every rule the first predicate that it concerns, and some others; the
marker `proof` takes all, and the engines on Spark.
"""

from __future__ import annotations

import pytest

from profiles.cases import CASES
from profiles.lakes import LAKES
from profiles.matrix import IN_PROCESS, ON_A_SERVER, ON_SPARK, VERSIONS, format_of, rules_of, run
from whyscan.profiles.engine_names import ENGINES, named_profiles
from whyscan.profiles.rule import RuleEvidence
from whyscan.spark.stages.verify.engines.duckdb_engine import BESIDE

EVERY = 12
"""Of the predicates that show no rule, this share is run."""


def pairs(engines):
    """Every engine with every table that it reads."""
    return [
        (engine, table)
        for engine in engines
        for table in LAKES
        if named_profiles([engine])[0].reads(format_of(table))
    ]


OF_EXTENSIONS = [
    (engine, table) for engine, table in pairs(IN_PROCESS) if (engine, format_of(table)) in VERSIONS
]
ONE_TABLE_EACH = [
    ("spark-delta", "delta"),
    ("spark-iceberg", "iceberg"),
    ("spark-parquet", "hive"),
]
IN_THIS_PYTHON = [pair for pair in pairs(IN_PROCESS) if pair not in OF_EXTENSIONS]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    root = tmp_path_factory.mktemp("profiles")
    return {name: write(root / name) for name, write in LAKES.items()}


def of_rules(engine, address):
    """For each rule its first predicate."""
    by_rule = {}
    for sql, rules in rules_of(engine, address).items():
        for rule in rules:
            by_rule.setdefault(rule, sql)
    return list(dict.fromkeys(by_rule.values()))


def sample(engine, address):
    """For each rule its first predicate, and a share of the others."""
    return list(dict.fromkeys((*of_rules(engine, address), *CASES[::EVERY])))


@pytest.mark.parametrize(("engine", "table"), IN_THIS_PYTHON)
def test_engines_read_what_is_predicted(tables, engine, table):
    cell = run(engine, table, tables[table], None, sample(engine, tables[table]))

    assert not cell.under, "\n".join(map(str, cell.under))
    assert cell.hits >= 0.9 * cell.answered, "\n".join(map(str, (cell, *cell.misses)))


@pytest.mark.skipif(not BESIDE.exists(), reason="make duckdb installs DuckDB's extensions")
@pytest.mark.proof
@pytest.mark.parametrize(("engine", "table"), OF_EXTENSIONS)
def test_extensions_read_what_is_predicted(tables, engine, table):
    cell = run(engine, table, tables[table], None, sample(engine, tables[table]))

    assert not cell.under, "\n".join(map(str, cell.under))


@pytest.mark.proof
@pytest.mark.parametrize(("engine", "table"), IN_THIS_PYTHON)
def test_engines_read_what_is_predicted_for_all_predicates(tables, engine, table):
    cell = run(engine, table, tables[table], None)

    assert cell.fits, "\n".join(map(str, (cell, *cell.misses)))


@pytest.mark.spark
@pytest.mark.parametrize(("engine", "table"), ONE_TABLE_EACH)
def test_spark_reads_what_is_predicted_by_each_rule(spark, tables, engine, table):
    cell = run(engine, table, tables[table], spark, of_rules(engine, tables[table]))

    assert not cell.under, "\n".join(map(str, cell.under))
    assert cell.hits >= 0.9 * cell.answered, "\n".join(map(str, (cell, *cell.misses)))


@pytest.mark.proof
@pytest.mark.spark
@pytest.mark.parametrize(("engine", "table"), pairs(ON_SPARK))
def test_spark_reads_what_is_predicted_for_all_predicates(spark, tables, engine, table):
    cell = run(engine, table, tables[table], spark)

    assert cell.fits, "\n".join(map(str, (cell, *cell.misses)))


def test_every_measured_rule_concerns_a_predicate_of_the_matrix(tables):
    """A rule without a predicate was never compared with its engine."""
    measured = {
        rule.id
        for engine in ENGINES
        for rule in engine.rules
        if rule.evidence is RuleEvidence.MEASURED
    }
    concerned = {
        rule
        for engine, table in pairs((*IN_PROCESS, *ON_SPARK, ON_A_SERVER))
        for rules in rules_of(engine, tables[table]).values()
        for rule in rules
    }

    assert sorted(measured - concerned) == []
