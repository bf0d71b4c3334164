"""A real audit in every form: the command writes what the records say."""

from __future__ import annotations

import base64
import gzip
import json
import re

import duckdb
import pytest

from support.commands import whyscan

pytestmark = pytest.mark.spark

LOG = """query,times
"SELECT id FROM sales WHERE upper(country) = 'FR' AND id < 4711",9
"SELECT e.id FROM sales s JOIN events e ON s.id = e.id WHERE e.ts < TIMESTAMP '2024-01-09'",2
SELECT id FROM sales WHERE id = 4712,3
SELEC 4713,1
SELECT id FROM gone WHERE id = 4714,1
"""


@pytest.fixture(scope="module")
def made(spark, lake, tmp_path_factory):
    """The page, the metrics, the lineage and the tables of one run."""
    folder = tmp_path_factory.mktemp("outputs")
    (folder / "log.csv").write_text(LOG, "utf-8")
    tables = [f"--table={name}={uri}" for name, uri in lake.items()]
    more = ("--format=html", "--output=a.html", "--metrics=m.txt", "--lineage=l.jsonl")
    more = (*more, f"--results={folder}/results")
    run = whyscan("audit", "--workload=log.csv", *tables, *more, cwd=folder)
    assert (run.code, run.out, run.err) == (0, "", "")
    return folder


def test_the_page_has_every_query_and_what_could_not_be_explained(made):
    html = (made / "a.html").read_text("utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', html)[1])

    assert (data["count"], sorted(data["times"])) == (3, [2, 3, 9])
    assert data["wasted"] == sorted(data["wasted"], reverse=True)
    (pieces,) = (json.loads(gzip.decompress(base64.b64decode(pack))) for pack in data["packs"])
    assert all('class="funnel"' in piece for piece in pieces)
    assert "manifests" in next(piece for piece in pieces if "events" in piece)
    assert "SELEC 4713" in html


def test_metrics_and_lineage_agree_and_hold_no_literal(made):
    metrics = (made / "m.txt").read_text("utf-8")
    lineage = (made / "l.jsonl").read_text("utf-8")

    files = re.findall(r"iceberg_scan_result_data_files_total\{.*events.*\} (\d+)\n", metrics)
    events = [json.loads(line) for line in lineage.splitlines()]
    reports = [
        table["inputFacets"]["icebergScanReport"]["scanMetrics"]
        for event in events
        for table in event["inputs"]
        if "icebergScanReport" in table["inputFacets"]
    ]
    assert [int(number) for number in files] == [2 * one["resultDataFiles"] for one in reports]
    assert all(one["scannedDataManifests"] <= one["totalDataManifests"] for one in reports)
    assert not re.search(r"471[1-4]|'FR'|2024-01-09", metrics + lineage)


def test_the_tables_of_a_run_join_by_their_digests_and_hold_no_literal(made):
    read = {
        name: duckdb.sql(f"FROM '{made}/results/{name}/*/*.parquet'").arrow().read_all().to_pylist()
        for name in ("queries", "scans", "findings")
    }

    assert sorted(row["times"] for row in read["queries"]) == [2, 3, 9]
    by_digest = {row["digest"]: row for row in read["queries"]}
    wasted = dict.fromkeys(by_digest, 0)
    for row in read["scans"]:
        wasted[row["digest"]] += row["wasted"]
    assert wasted == {digest: row["wasted"] for digest, row in by_digest.items()}
    codes = {(row["table"], row["code"], row["times"]) for row in read["findings"]}
    assert ("sales", "FUNCTION_ON_PARTITION", 9) in codes
    assert all(row["digest"] in by_digest for row in read["findings"])
    assert not re.search(r"471[1-4]|'FR'|2024-01-09", str(read))
