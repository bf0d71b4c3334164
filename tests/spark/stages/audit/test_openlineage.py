"""Run events of an audit against the rules of OpenLineage 2-0-2, as its specification has them."""

import json
import re
import uuid
from datetime import datetime

import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from support.audit_reports import (
    altered,
    audit,
    failing,
    iceberg,
    joined,
    nothing,
    wasteful,
    wasteful_scan,
)
from support.markup import NAMES
from whyscan.spark.stages.audit.by_shape import digest
from whyscan.spark.stages.audit.openlineage import dataset, openlineage

NUMBER, TEXT = {"type": "integer", "minimum": 0}, {"type": "string"}
URI = {"type": "string", "pattern": "^[a-z][a-z0-9+.-]*:[^ ]+$"}


def facet(version, name, required=(), **properties):
    """A facet's fields, and the address of its schema."""
    address = f"https://openlineage.io/spec/facets/{version}/{name}.json#/$defs/{name}"
    return {
        "type": "object",
        "required": ["_producer", "_schemaURL", *required],
        "properties": {"_producer": URI, "_schemaURL": {"const": address}, **properties},
    }


def own(kind):
    address = f"https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/{kind}"
    return {"required": ["_producer"], "properties": {"_schemaURL": {"const": address}}}


def facets(**properties):
    """These and no others."""
    return {"type": "object", "properties": properties, "additionalProperties": False}


JOB = {
    "type": "object",
    "required": ["namespace", "name"],
    "properties": {
        "namespace": TEXT,
        "name": TEXT,
        "facets": facets(
            sql=facet("1-1-0", "SQLJobFacet", ["query"], query=TEXT, dialect=TEXT),
            jobType=facet(
                "2-0-3",
                "JobTypeJobFacet",
                ["processingType", "integration"],
                processingType={"enum": ["BATCH", "STREAMING"]},
                integration=TEXT,
                jobType=TEXT,
            ),
        ),
    },
}
RUN = {
    "type": "object",
    "required": ["runId"],
    "properties": {
        "runId": {"type": "string", "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"},
        "facets": facets(
            parent=facet("1-0-1", "ParentRunFacet", ["run", "job"]),
            errorMessage=facet(
                "1-0-1", "ErrorMessageRunFacet", ["message", "programmingLanguage"], message=TEXT
            ),
            whyscan_query=own("RunFacet"),
        ),
    },
}
METRICS = (
    "resultDataFiles skippedDataFiles totalFileSizeInBytes totalDataManifests "
    "scannedDataManifests skippedDataManifests"
)
INPUT = {
    "type": "object",
    "required": ["namespace", "name"],
    "properties": {
        "namespace": TEXT,
        "name": TEXT,
        "facets": facets(
            version=facet(
                "1-0-1", "DatasetVersionDatasetFacet", ["datasetVersion"], datasetVersion=TEXT
            ),
            storage=facet(
                "1-0-1",
                "StorageDatasetFacet",
                ["storageLayer"],
                storageLayer={"enum": ["iceberg", "delta"]},
                fileFormat={"enum": ["parquet"]},
            ),
        ),
        "inputFacets": facets(
            inputStatistics=facet(
                "1-0-0",
                "InputStatisticsInputDatasetFacet",
                rowCount=NUMBER,
                size=NUMBER,
                fileCount=NUMBER,
            ),
            icebergScanReport=facet(
                "1-0-1",
                "IcebergScanReportInputDatasetFacet",
                snapshotId=NUMBER,
                filter=TEXT,
                projectedFieldNames={"type": "array", "items": TEXT},
                scanMetrics=facets(**dict.fromkeys(METRICS.split(), NUMBER)),
            ),
            whyscan_scan=own("InputDatasetFacet"),
        ),
    },
}
EVENT = {
    "type": "object",
    "required": ["eventTime", "producer", "schemaURL", "run", "job"],
    "properties": {
        "eventType": {"enum": ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"]},
        "eventTime": TEXT,
        "producer": URI,
        "schemaURL": {
            "const": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
        },
        "run": RUN,
        "job": JOB,
        "inputs": {"type": "array", "items": INPUT},
        "outputs": {"type": "array", "maxItems": 0},
    },
}


def events(report):
    """Every event, each of them valid, and every run begun once and ended once."""
    documents = [json.loads(line) for line in openlineage(report).splitlines()]
    rules = Draft202012Validator(EVENT)
    assert [
        f"{e.json_path}: {e.message}" for one in documents for e in rules.iter_errors(one)
    ] == []
    runs = {}
    for one in documents:
        datetime.fromisoformat(one["eventTime"])
        runs.setdefault(one["run"]["runId"], []).append(one["eventType"])
    assert all(
        kinds[0] == "START" and kinds[1:] in (["COMPLETE"], ["FAIL"]) for kinds in runs.values()
    )
    return documents


def ended(report):
    """The event with which each query ended, in the order of the ranking."""
    return [e for e in events(report)[1:-1] if e["eventType"] != "START"]


def test_an_audit_is_a_run_and_its_queries_are_runs_below_it():
    documents = events(audit())

    assert [documents[0]["job"]["name"], documents[-1]["eventType"]] == ["audit", "COMPLETE"]
    parents = {e["run"]["facets"]["parent"]["run"]["runId"] for e in documents[1:-1]}
    assert parents == {documents[0]["run"]["runId"]}
    assert documents[0]["eventTime"] == "2026-03-09T08:30:00.000Z"
    assert documents[-1]["eventTime"] == "2026-03-09T08:30:12.500Z"
    assert uuid.UUID(documents[0]["run"]["runId"])


def test_a_scan_of_iceberg_has_icebergs_own_report():
    (event,) = ended(audit(queries=(iceberg(),)))
    (table,) = event["inputs"]
    report = table["inputFacets"]["icebergScanReport"]

    assert (table["namespace"], table["name"]) == ("s3://lake", "db/events")
    assert event["job"]["name"] == f"audit.{digest(iceberg().shape)}"
    assert report["scanMetrics"] == {
        "resultDataFiles": 6,
        "skippedDataFiles": 194,
        "totalFileSizeInBytes": 60_000,
        "totalDataManifests": 10,
        "scannedDataManifests": 3,
        "skippedDataManifests": 7,
    }
    assert (report["snapshotId"], report["filter"]) == (8_001, "id = ? AND who = ?")
    assert report["projectedFieldNames"] == ["id", "who"]


def test_a_scan_of_delta_has_the_standard_statistics_and_what_the_engine_said():
    (event,) = ended(audit(queries=(wasteful(),)))
    (table,) = event["inputs"]
    statistics = table["inputFacets"]["inputStatistics"]

    assert [statistics[k] for k in ("rowCount", "size", "fileCount")] == [600, 61_200, 12]
    assert table["facets"]["version"]["datasetVersion"] == "3"
    assert table["facets"]["storage"]["storageLayer"] == "delta"
    assert table["inputFacets"]["whyscan_scan"]["engineBytes"] == 3_600_000
    assert "icebergScanReport" not in table["inputFacets"]
    assert event["run"]["facets"]["whyscan_query"]["bytesWasted"] == 3_300_000


def test_a_table_that_is_scanned_twice_is_one_input_with_both_scans():
    twice = (wasteful_scan(), altered(wasteful_scan(), alias="again", actual=None))
    (event,) = ended(audit(queries=(wasteful(tables=twice),)))
    (table,) = event["inputs"]

    assert table["inputFacets"]["inputStatistics"]["fileCount"] == 24
    assert "engineBytes" not in table["inputFacets"]["whyscan_scan"]


def test_what_is_not_known_is_left_out():
    unknown = altered(wasteful_scan(), bytes_kept=None, bytes_read=None)
    (event,) = ended(audit(queries=(wasteful(tables=(unknown,), bytes_read=None),)))

    assert "size" not in event["inputs"][0]["inputFacets"]["inputStatistics"]
    assert "bytesRead" not in event["run"]["facets"]["whyscan_query"]


def test_a_query_that_was_not_audited_has_failed_and_says_why_without_its_literals():
    quoting = replace(failing(), error="no column 'xyzzy' in gone")
    (event,) = ended(audit(queries=(quoting,)))

    assert event["eventType"] == "FAIL"
    message = event["run"]["facets"]["errorMessage"]["message"]
    assert re.fullmatch("no column .* in gone", message)
    assert "xyzzy" not in message


@pytest.mark.parametrize("secret", ["4711", "Ada", "xyzzy", "'DE'", "> 99"])
def test_no_literal_is_in_it(secret):
    assert secret in "".join(line.sql for line in audit().queries)
    text = openlineage(audit())
    assert secret not in re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{12}", "", text)


def test_what_is_no_sql_is_not_quoted():
    broken = wasteful(
        sql="SELECT 'never closed", shape="SELECT 'never closed", error="never closed"
    )
    (event,) = ended(audit(queries=(broken,)))

    assert "never closed" not in json.dumps(event)


@pytest.mark.parametrize(
    ("uri", "named"),
    [
        ("s3://lake/db/t", ("s3://lake", "db/t")),
        ("s3a://lake/db/t/", ("s3://lake", "db/t")),
        ("gs://lake/t", ("gs://lake", "t")),
        ("abfss://c@a.dfs.core.windows.net/x/t", ("abfss://c@a.dfs.core.windows.net", "x/t")),
        ("hdfs://name:8020/db/t", ("hdfs://name:8020", "/db/t")),
        ("file:///lake/t", ("file", "/lake/t")),
        ("file:/lake/t", ("file", "/lake/t")),
        ("/lake/t", ("file", "/lake/t")),
    ],
)
def test_tables_are_named_as_the_specification_names_them(uri, named):
    assert dataset(uri) == named


def test_two_runs_name_their_queries_apart_and_one_run_always_the_same():
    first, again = openlineage(audit()), openlineage(audit())
    later = openlineage(audit(run=replace(audit().run, id="another")))

    assert first == again
    assert not set(re.findall(r'"runId": "([^"]+)"', first)) & set(
        re.findall(r'"runId": "([^"]+)"', later)
    )


def test_hostile_names_are_text():
    queries = tuple(
        wasteful(
            sql=name,
            shape=name,
            tables=(altered(wasteful_scan(), name=name, uri=f"s3://b/{name}"),),
        )
        for name in NAMES
    )
    names = [e["inputs"][0]["name"] for e in ended(audit(queries=(*queries, joined())))[:-1]]

    assert names == NAMES


def test_an_empty_audit_begins_and_ends():
    assert [e["eventType"] for e in events(nothing())] == ["START", "COMPLETE"]
