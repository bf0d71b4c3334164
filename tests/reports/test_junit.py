"""JUnit XML as a reader of it sees it."""

from xml.etree import ElementTree as ET

from support.lakes import one_file, users
from support.memory_table import RowGroup
from support.reports import explain
from whyscan.reports.gates import Gates
from whyscan.reports.junit import junit
from whyscan.tree.types import INT

BOTH = "country = 'DE' AND age > 40"


def suite(report):
    return ET.fromstring(junit(report)).find("testsuite")


def test_a_gate_is_a_case_that_passes_or_fails():
    xml = suite(explain(users(), BOTH).gated(Gates(max_files=0, min_pruning=50)))

    cases = {case.get("name"): case for case in xml}
    assert xml.get("tests") == "3"
    assert xml.get("failures") == "1"
    assert cases["max_files"].find("failure").get("message") == "max_files: 1, at most 0 asked"
    assert [part.tag for part in cases["max_files"]] == ["failure", "system-out"]
    assert cases["min_pruning"].find("failure") is None


def test_without_a_gate_the_question_itself_is_the_case():
    (case,) = suite(explain(users(), BOTH))

    assert case.get("name") == BOTH
    assert case.find("system-out").text.startswith("reads 1 of 6 files")


def test_a_finding_is_shown_and_fails_nothing():
    xml = suite(explain(users(), "age > 40"))

    names = [case.get("name") for case in xml]
    assert "warning NO_PARTITION_FILTER" in names
    assert xml.get("failures") == "0"


def test_what_xml_cannot_hold_is_made_visible():
    xml = suite(
        explain(one_file(INT, RowGroup(1, {"x": (1, 2)})), "x = 1 AND '\x01]]><x>' = '\x01'")
    )

    assert "\\x01]]><x>" in xml[0].get("name")
