"""A run of dbt: the statements that its models execute, when, and what the warehouse read."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from whyscan.spark.stages.workload import read_workload
from whyscan.spark.stages.workload.query import Query

SCHEMA = "https://schemas.getdbt.com/dbt"
COMPILED = "select month, user from lake.raw.orders\nwhere month >= 3"


def node(name, materialized="table", kind="model", code=COMPILED, **config):
    return {
        "unique_id": f"{kind}.shop.{name}",
        "resource_type": kind,
        "name": name,
        "relation_name": f"`lake`.`mart`.`{name}`",
        "config": {"materialized": materialized, **config},
        "compiled_code": code,
    }


def result(name, kind="model", status="success", **more):
    return {
        "unique_id": f"{kind}.shop.{name}",
        "status": status,
        "timing": [
            {"name": "compile", "started_at": "2026-03-02T08:59:00.000000Z"},
            {"name": "execute", "started_at": "2026-03-02T09:00:00.000000Z"},
        ],
        "adapter_response": {},
        **more,
    }


def run(folder, nodes, results=None, adapter="spark", **arguments):
    manifest = {
        "metadata": {"dbt_schema_version": f"{SCHEMA}/manifest/v12.json", "adapter_type": adapter},
        "nodes": {one["unique_id"]: one for one in nodes},
    }
    target = folder / "target"
    target.mkdir()
    (target / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    if results is not None:
        done = {
            "metadata": {"dbt_schema_version": f"{SCHEMA}/run-results/v6.json"},
            "results": results,
            "args": arguments,
        }
        (target / "run_results.json").write_text(json.dumps(done), "utf-8")
    return read_workload([str(target)])


def test_a_model_is_its_compiled_query_with_when_it_ran_and_what_it_read(tmp_path):
    response = {"bytes_processed": 5_000, "code": "SELECT"}
    workload = run(
        tmp_path, [node("daily")], [result("daily", adapter_response=response)], adapter="bigquery"
    )

    nine = datetime(2026, 3, 2, 9, tzinfo=UTC)
    assert workload == type(workload)(
        (
            Query(
                COMPILED,
                "bigquery",
                1,
                nine,
                nine,
                {"2026-03-02": 1},
                5_000,
                ("target/model.shop.daily",),
                logs={"dbt": 1},
            ),
        )
    )


def test_an_incremental_model_is_the_statement_that_its_strategy_executes(tmp_path):
    merge = node("m", "incremental", incremental_strategy="merge", unique_key=["user"])

    (query,) = run(tmp_path, [merge], [result("m")]).queries

    assert query.text.startswith(
        "MERGE INTO `lake`.`mart`.`m` AS DBT_INTERNAL_DEST USING (select month, user"
    )
    assert query.notes[0] == "an incremental run of a dbt model, by the strategy merge"


def test_a_full_refresh_runs_the_query_alone(tmp_path):
    merge = node("m", "incremental", incremental_strategy="merge", unique_key=["user"])

    (query,) = run(tmp_path, [merge], [result("m")], full_refresh=True).queries

    assert query.text == COMPILED


def test_what_reads_nothing_is_listed_and_tests_are_queries(tmp_path):
    nodes = [
        node("v", "view"),
        node("e", "ephemeral"),
        node("s", "seed", "seed", code=None),
        node("never"),
        node("p", code="def model(dbt, session): ...") | {"language": "python"},
        node("t", "test", "test", code="select * from lake.mart.v where user is null"),
    ]
    results = [
        result("v"),
        result("e"),
        result("s", "seed"),
        result("never", status="skipped"),
        result("p"),
        result("t", "test", status="fail"),
    ]

    workload = run(tmp_path, nodes, results)

    assert [query.origins for query in workload.queries] == [("target/test.shop.t",)]
    assert [(entry.origin, entry.why) for entry in workload.unparsed] == [
        ("target/model.shop.v", "a view reads nothing when it is made"),
        ("target/model.shop.e", "it is written into the models that use it"),
        ("target/seed.shop.s", "a seed has no compiled SQL"),
        ("target/model.shop.never", "it was skipped"),
        ("target/model.shop.p", "a model in Python has no SQL"),
    ]


def test_without_results_every_compiled_node_counts_once(tmp_path):
    workload = run(tmp_path, [node("a"), node("b", code="select 1 as x"), node("c", code=None)])

    assert [(query.text, query.first) for query in workload.queries] == [
        (COMPILED, None),
        ("select 1 as x", None),
    ]


def test_results_alone_have_the_compiled_code_too(tmp_path):
    document = {
        "metadata": {"dbt_schema_version": f"{SCHEMA}/run-results/v6.json"},
        "results": [result("daily", compiled_code=COMPILED)],
    }
    (tmp_path / "run_results.json").write_text(json.dumps(document), "utf-8")

    (query,) = read_workload([str(tmp_path / "run_results.json")]).queries

    assert query.text == COMPILED


def test_a_manifest_that_is_cut_off_is_said_in_one_line(tmp_path):
    (tmp_path / "manifest.json").write_text('{"nodes": {', "utf-8")

    (entry,) = read_workload([str(tmp_path)]).unparsed

    assert entry.why.startswith("cannot read manifest.json: ")


@pytest.mark.parametrize("strategy", ["append", "delete+insert", "insert_overwrite"])
def test_the_statements_of_strategies_are_statements(tmp_path, strategy):
    model = node(
        "m", "incremental", incremental_strategy=strategy, unique_key="user", partition_by="month"
    )

    workload = run(tmp_path, [model], [result("m")])

    assert workload.unparsed == ()
    (query,) = workload.queries
    assert "`lake`.`mart`.`m`" in query.text
