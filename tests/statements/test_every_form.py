"""Real reports, on statements of the dialects' cases and on changes, in every form."""

import json
import re
from xml.etree import ElementTree as ET

import pytest

import whyscan
from statements.dialects import lake
from statements.dialects.cases import cases
from support.formats import fragment, markdown, page, text
from support.markup import Elements
from support.statement_reports import valid
from whyscan.reports.document import to_json
from whyscan.reports.junit import junit
from whyscan.reports.sarif import sarif
from whyscan.reports.text_layout import Page, columns

CHANGES = {
    "a delete": "DELETE FROM orders WHERE month = 2 AND amount > 10",
    "an update": "UPDATE orders SET note = 'x' WHERE day < DATE '2024-02-10'",
    "a merge": "MERGE INTO orders t USING (SELECT * FROM orders WHERE month = 3) s ON t.id = s.id "
    "WHEN MATCHED THEN DELETE",
    "an answer": "SELECT count(*), max(month) FROM orders",
    "the first rows": "SELECT * FROM orders ORDER BY amount DESC LIMIT 3",
    "no table": "SELECT 'secret' AS word",
}
STATEMENTS = CHANGES | {case.title: case.texts["spark"] for case in cases()[::3]}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lake")
    lake.make(folder)
    return {name: whyscan.open(folder / name) for name in lake.NAMES}


@pytest.mark.parametrize("title", STATEMENTS)
def test_every_form_of_a_report_is_whole(tables, title):
    report = whyscan.explain_sql(STATEMENTS[title], tables, resolve_joins=True)

    assert valid(json.loads(to_json(report)))["sql"] == STATEMENTS[title]
    shown = text(report, Page(60))
    assert [line for line in shown.splitlines() if columns(line) > 60] == []
    rendered = markdown(report)
    assert rendered.count("<details") == rendered.count("</details>")
    assert ET.fromstring(junit(report)).tag == "testsuites"
    assert json.loads(sarif(report))["version"] == "2.1.0"
    for html in (fragment(report), page(report)):
        assert Elements(html).open == []
    hidden = to_json(report.redacted())
    assert [quoted for quoted in re.findall(r"'[^']{2,}'", report.sql) if quoted in hidden] == []
