"""A statement as Markdown, SARIF and JUnit, and without the values of anybody."""

import json
from xml.etree import ElementTree as ET

import pytest

from support.formats import fragment, markdown
from support.markup import NAMES
from support.statement_reports import STATEMENTS, joined, orders, scan, statement
from whyscan.reports.document import document
from whyscan.reports.gates import Gates, StatementGates
from whyscan.reports.junit import junit
from whyscan.reports.sarif import sarif
from whyscan.statements.records import Edge, StatementReport

GATES = StatementGates(Gates(max_files=1), {"users": Gates(max_files=4)})


def test_markdown_names_every_scan_and_folds_its_details():
    text = markdown(statement("joined"))

    assert text.startswith("**reads 5 of 30 files (16.7 %), 7.2 kB of 125 kB in 2 scans: ")
    assert "| `orders o` | 1 of 24 | 4.2 % | 5.1 kB of 122 kB |" in text
    assert "- left: `orders o` and `users u`: `o.user = u.age AND o.month = u.month`" in text
    assert "| `month = 3`<br>from u.month = 3, by o.month = u.month | spread | exact |" in text
    assert text.count("<details>") == text.count("</details>") == 2


def test_markdown_opens_the_scan_that_fails_a_gate():
    text = markdown(joined().gated(StatementGates(Gates(), {"u": Gates(max_files=1)})))

    assert "<details open><summary>users u</summary>" in text
    assert "- ❌ fail: max\\_files: 4, at most 1 asked" in text


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_no_markup_in_markdown(name):
    rendered = markdown(
        StatementReport(name, "spark", "UTC", "select", (scan(orders(), "TRUE", name),))
    )
    usual = markdown(StatementReport("a", "spark", "UTC", "select", (scan(orders(), "TRUE", "a"),)))

    assert rendered.count("<details") == usual.count("<details")
    assert "<summary><" not in rendered
    assert rendered.count("\n|") == usual.count("\n|")


def test_a_list_of_very_many_keys_is_cut():
    keys = f"month IN ({', '.join(map(str, range(1, 5_000)))})"
    report = StatementReport("…", "spark", "UTC", "select", (scan(orders(), keys, "orders"),))

    assert len(markdown(report)) < 2_500
    assert len(fragment(report)) < 15_000


def test_markdown_of_very_many_scans_fits_into_a_comment():
    scans = tuple(scan(orders(), "month = 3 AND amount > 5", f"orders_{n}") for n in range(100))
    edges = tuple(Edge("inner", n, n + 1, f"a{n} = b{n}") for n in range(99))
    long = "SELECT\n" + "\n".join(f"  column_{n}," for n in range(5_000)) + "\n1"
    text = markdown(StatementReport(long, "spark", "UTC", "select", scans, edges))

    assert len(text) < 65_536
    assert "\n…\n```\n" in text
    assert "| `orders_99` |" in text
    shown = text.count("<summary>orders_")
    assert shown > 20
    assert text.endswith(f"{100 - shown} more sections left out: --format json has all of them\n")


def test_sarif_has_the_findings_of_the_statement_and_of_each_scan_at_its_table():
    rendered = json.loads(sarif(joined().gated(GATES), "query.sql"))
    results = rendered["runs"][0]["results"]

    located = [
        (r["ruleId"], r["locations"][0]["logicalLocations"][0]["fullyQualifiedName"])
        for r in results
    ]
    assert located[:2] == [("WEAK_PRUNING", "lake/orders"), ("gate/max_files", "lake/orders")]
    places = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in results}
    assert places == {"query.sql"}
    rules = [rule["id"] for rule in rendered["runs"][0]["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules))
    prints = [r["partialFingerprints"]["whyscan/v1"] for r in results]
    assert len(prints) == len(set(prints))


def test_junit_has_a_case_for_the_statement_each_scan_and_each_gate():
    suite = ET.fromstring(junit(joined().gated(GATES)))[0]

    cases = [(case.get("classname"), case.get("name")) for case in suite]
    assert ("statement", "max_files") in cases
    assert ("users u", "max_files") in cases
    assert ("orders o", "month = 3 AND amount > 99") in cases
    assert suite.get("failures") == "1"


@pytest.mark.parametrize("name", STATEMENTS)
def test_sarif_and_junit_are_whole(name):
    assert json.loads(sarif(statement(name)))["version"] == "2.1.0"
    assert ET.fromstring(junit(statement(name))).tag == "testsuites"


def test_a_redacted_report_has_no_literal_bound_or_answer():
    report = joined(verbose=True).redacted()
    text = json.dumps(document(report))

    assert "?" in report.sql
    for secret in ("'US'", "'none'", '"20"', '"60"', "> 99", "= 3"):
        assert secret not in text
    assert "country=US" not in text
    assert (report.scans[0].dynamic.supplies[0].low) == "?"
    assert statement("answered").redacted().scans[0].answer == "?"


def test_a_value_has_one_pseudonym_in_all_scans():
    both = tuple(scan(orders(), "month = 3", "orders", alias, verbose=True) for alias in "ab")
    report = StatementReport("…", "spark", "UTC", "select", both).redacted()
    first, second = (s.report.listing.paths.to_pylist() for s in report.scans)

    assert first == second
    assert all("month=3/" not in path for path in first)
