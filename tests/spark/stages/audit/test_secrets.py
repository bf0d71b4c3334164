"""No output of the pipeline holds a credential that stands in a location of a query."""

import json
from itertools import product

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.commands import whyscan

pytestmark = pytest.mark.spark

SECRET = "sEcReT0123456789"
LOCATIONS = (
    f"s3://AKIAKEY:{SECRET}@bucket/t",
    f"https://user:{SECRET}@host/t",
    f"az://container/t?sig={SECRET}",
    f"https://host/t?X-Amz-Signature={SECRET}&X-Amz-Credential={SECRET}",
    f"jdbc:postgresql://u:{SECRET}@host/db",
    f"jdbc:sqlserver://host;password={SECRET}",
    f"lake/t?access_token={SECRET}",
)
QUERIES = (
    "SELECT * FROM parquet.`{}` WHERE a = 1",
    "SELECT * FROM urls WHERE url = '{}'",
    "SELECT * FROM urls JOIN delta.`{}` d ON urls.n = d.n",
    "SELECT * FROM urls WHERE nope = '{}'",
    "SELECT * FROM urls WHERE url = '{}' AND (",
)
COMMANDS = {
    "audit": ("audit", "--workload", "log.sql", "--table", "urls=urls"),
    "audit of a CSV": ("audit", "--workload", "log.csv", "--table", "urls=urls"),
    "audit of an event log": ("audit", "--workload", "events", "--table", "urls=urls"),
    "audit of a dbt run": ("audit", "--workload", "target", "--table", "urls=urls"),
    "audit of a bad table": ("audit", "--workload", "log.sql", "--table", f"urls={LOCATIONS[0]}"),
    "verify": ("verify", "urls", "-w", f"url = '{LOCATIONS[3]}'", "--engines", "none"),
    "verify of a workload": ("verify", "--workload", "log.sql", "--table", "urls=urls"),
    "inventory": ("inventory", "urls=urls", f"bad={LOCATIONS[0]}"),
}
FORMS = {"audit": ("text", "json", "markdown", "html")}
CASES = [
    (name, form, redact)
    for name in COMMANDS
    for form, redact in product(FORMS.get(name, ("json",)), ((), ("--redact",)))
    if name in FORMS or not redact
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("secrets")
    (folder / "urls").mkdir()
    for number, location in enumerate(LOCATIONS):
        rows = pa.table({"url": [location], "n": [number]})
        pq.write_table(rows, folder / "urls" / f"{number}.parquet")
    texts = [query.format(location) for query, location in product(QUERIES, LOCATIONS)]
    (folder / "log.sql").write_text(";\n".join(texts))
    lines = [json.dumps({"query": text}) for text in texts]
    (folder / "log.jsonl").write_text("\n".join(lines))
    quoted = "\n".join('"' + text.replace('"', '""') + '"' for text in texts)
    (folder / "log.csv").write_text(f"query\n{quoted}\n")
    events = [{"Event": "SparkListenerLogStart", "Spark Version": "4.1.0"}]
    events += [execution(number, text) for number, text in enumerate(texts)]
    (folder / "events").write_text("\n".join(json.dumps(event) for event in events))
    (folder / "target").mkdir()
    (folder / "target" / "manifest.json").write_text(json.dumps(dbt_manifest(texts)))
    return folder


def execution(number, text):
    """What Spark logs of a query: its text, and the printed plan of its scan."""
    location = LOCATIONS[number % len(LOCATIONS)]
    scan = {
        "nodeName": "Scan parquet ",
        "simpleString": f"FileScan parquet [url] {location}",
        "children": [],
        "metadata": {
            "Format": "Parquet",
            "Location": f"InMemoryFileIndex(1 paths)[{location}]",
            "PushedFilters": f"[IsNotNull(url), EqualTo(url,{location})]",
            "ReadSchema": "struct<url:string>",
        },
        "metrics": [],
    }
    return {
        "Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart",
        "executionId": number,
        "description": text if number % 2 else "nightly report",
        "details": location,
        "physicalPlanDescription": f"== Physical Plan ==\nFileScan {location}",
        "sparkPlanInfo": scan,
        "time": 1_767_225_600_000 + number,
    }


def dbt_manifest(texts):
    schema = "https://schemas.getdbt.com/dbt/manifest/v12.json"
    nodes = {
        f"model.shop.m{number}": {
            "unique_id": f"model.shop.m{number}",
            "resource_type": "model",
            "name": f"m{number}",
            "relation_name": f"`lake`.`mart`.`m{number}`",
            "config": {"materialized": "table", "location_root": LOCATIONS[0]},
            "compiled_code": text,
        }
        for number, text in enumerate(texts)
    }
    return {"metadata": {"dbt_schema_version": schema, "adapter_type": "spark"}, "nodes": nodes}


def written(folder):
    """Every file that a command wrote."""
    inputs = {"log.sql", "log.csv", "log.jsonl", "events", "manifest.json"}
    return [
        path
        for path in folder.rglob("*")
        if path.is_file() and path.name not in inputs and path.parent.name != "urls"
    ]


@pytest.mark.parametrize(("name", "form", "redact"), CASES)
def test_no_output_of_the_pipeline_holds_a_secret(spark, folder, name, form, redact):
    words = COMMANDS[name]
    more = ()
    if words[0] == "audit":
        files = ("--metrics", "m.txt", "--lineage", "l.json", "--dashboard", "d.html")
        # Whole: the session reads a relative path from where it was started.
        more = (*files, "--history", str(folder / "history"), *redact)

    if words[0] == "inventory":
        more = ("-o", str(folder / "inventory"))
    run = whyscan(*words, "--format", form, *more, cwd=folder)

    assert SECRET not in run.out
    assert SECRET not in run.err
    assert "whyscan itself failed" not in run.out + run.err
    assert run.out or run.err
    for path in written(folder):
        if path.suffix != ".parquet":
            assert SECRET.encode() not in path.read_bytes(), path
        elif "inventory" not in path.parts:
            assert SECRET not in str(pq.read_table(path).to_pylist()), path
