"""SARIF: what code scanning needs of a result, and its identity from run to run."""

import json
from pathlib import Path
from typing import get_args

from support.lakes import users
from support.reports import explain
from whyscan.reports.findings import Code
from whyscan.reports.findings.rules import ABOUT, ABOUT_GATES, DOCUMENTATION, page
from whyscan.reports.gates import GateName, Gates
from whyscan.reports.sarif import sarif

BOTH = "country = 'DE' AND age > 40"


def run(report, source=None):
    document = json.loads(sarif(report, source))
    assert document["version"] == "2.1.0"
    (only_run,) = document["runs"]
    assert {r["ruleId"] for r in only_run["results"]} == {
        rule["id"] for rule in only_run["tool"]["driver"]["rules"]
    }
    return only_run


def test_a_failed_gate_is_an_error_and_one_that_passes_is_nothing():
    report = explain(users(), BOTH).gated(Gates(max_files=0, min_pruning=50))

    (result,) = run(report)["results"]
    assert (result["ruleId"], result["level"]) == ("gate/max_files", "error")
    assert result["message"]["text"] == "max_files: 1, at most 0 asked"


def test_a_finding_has_its_severity_and_its_fix():
    results = {r["ruleId"]: r for r in run(explain(users(), "age > 40"))["results"]}

    assert results["NO_PARTITION_FILTER"]["level"] == "warning"
    assert "\nfix: " in results["NO_PARTITION_FILTER"]["message"]["text"]


def test_it_points_at_the_querys_file_or_at_the_table():
    report = explain(users(), "age > 40")

    def uri(source):
        place = run(report, source)["results"][0]["locations"][0]
        assert place["logicalLocations"][0]["fullyQualifiedName"] == report.table.uri
        return place["physicalLocation"]["artifactLocation"]["uri"]

    assert uri("sql/by age.sql") == "sql/by%20age.sql"
    assert uri(None) == report.table.uri


def test_the_same_fact_has_the_same_fingerprint_and_another_has_another():
    def prints(predicate):
        results = run(explain(users(), predicate))["results"]
        return [r["partialFingerprints"]["whyscan/v1"] for r in results]

    assert prints("age > 40") == prints("age > 40")
    assert not set(prints("age > 40")) & set(prints("age > 41"))
    assert len(set(prints("age > 40"))) == len(prints("age > 40"))


def test_every_finding_and_every_gate_has_a_sentence_and_a_section_of_the_documentation():
    _, names = get_args(GateName)[1:]
    docs = Path(__file__).parents[2] / "docs"
    sections = (docs / "findings.md").read_text("utf-8")

    assert ABOUT.keys() == set(Code)
    assert ABOUT_GATES.keys() == set(names.extra_json_schema["enum"])
    assert [code for code in Code if f"## {code}\n" not in sections] == []
    assert page("SMALL_FILES") == f"{DOCUMENTATION}/findings.md#small_files"


def test_a_rule_says_what_it_is_about_and_where_that_is_explained():
    [rule] = [
        rule
        for rule in run(explain(users(), "age > 40"))["tool"]["driver"]["rules"]
        if rule["id"] == "NO_PARTITION_FILTER"
    ]

    assert rule["shortDescription"]["text"] == ABOUT[Code.NO_PARTITION_FILTER]
    assert rule["helpUri"].endswith("/docs/findings.md#no_partition_filter")
