"""The JSON of a statement: its schema, and every scan in the shape of a report."""

import json

import pytest
from jsonschema import Draft202012Validator

from support import schemas
from support.statement_reports import STATEMENTS, statement, valid, validator
from whyscan.reports.document import document, to_json


@pytest.mark.parametrize("name", STATEMENTS)
def test_the_text_is_the_document_and_the_schema_allows_it(name):
    written = json.loads(to_json(statement(name)))

    assert valid(written) == json.loads(json.dumps(document(statement(name))))
    assert to_json(statement(name)).isascii()


def test_a_scan_has_every_member_of_a_single_report():
    (scan, _) = document(statement("joined_verbose"))["scans"]
    single = statement("joined_verbose").scans[0].report.to_dict()

    assert {k: scan[k] for k in single.keys() & scan.keys()} == {
        k: v for k, v in single.items() if k not in {"schema_version", "tool"}
    }


def test_the_schema_of_a_scan_follows_that_of_a_report():
    report = schemas.validator("report").schema
    scan = validator().schema["$defs"]["ScanReport"]

    shared = report["properties"].keys() - {"schema_version", "tool"}
    assert shared <= scan["properties"].keys()
    assert set(report["required"]) - {"schema_version", "tool"} <= set(scan["required"])
    assert set(scan["required"]) <= scan["properties"].keys()


def test_the_schema_is_one_and_refuses_what_it_does_not_know():
    Draft202012Validator.check_schema(validator().schema)
    rendered = document(statement("merged"))

    assert validator().is_valid(rendered)
    assert not validator().is_valid({**rendered, "more": 1})
    assert not validator().is_valid({**rendered, "scans": [{**rendered["scans"][0], "more": 1}]})
    assert not validator().is_valid(
        {**rendered, "scans": [{**rendered["scans"][0], "role": "other"}]}
    )


def test_a_verbose_document_has_one_line_a_file():
    lines = to_json(statement("joined_verbose")).splitlines()

    assert sum('"path": "month=' in line for line in lines) == 24
    assert all(line.count('"path":') <= 1 for line in lines)


def test_three_answers_and_what_supplies_them():
    target, _ = document(statement("merged"))["scans"]

    assert target["dynamic"]["static"] == {"files": 24, "bytes": 122_400, "rows": 1_200}
    assert target["dynamic"]["actual"] == {"files": 4, "bytes": 20_400, "rows": 200}
    assert target["dynamic"]["supplies"][0]["keys"] == 2
    assert target["role"] == "target"
    assert target["rewrite"]["rewritten"]["files"] == 4
