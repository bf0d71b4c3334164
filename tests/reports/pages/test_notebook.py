"""What a notebook shows of a report: whole without a script."""

import pytest

from support.lakes import delta_users, empty, users
from support.markup import Elements
from support.reports import explain
from whyscan.reports.gates import Gates

BOTH = "country = 'DE' AND age > 40"


def test_a_report_shows_its_answer_its_funnel_and_its_conjuncts():
    shown = Elements(explain(delta_users(), BOTH)._repr_html_())

    said = " ".join(filter(None, shown.text))
    assert said.startswith("reads 1 of 6 files (16.7 %), 500 B of 3.0 kB: country = 'DE' removed 4")
    assert "files 1 of 6" in said
    assert "age > 40" in shown.text
    assert "script" not in shown.tags
    assert shown.open == []


@pytest.mark.parametrize("table", [users(), delta_users(), empty()], ids=["hive", "delta", "empty"])
def test_every_element_of_the_fragment_is_closed(table):
    predicate = "x = 1" if "x" in table.columns else "age > 40"
    report = explain(table, predicate, verbose=True).gated(Gates(max_files=0))

    assert Elements(report._repr_html_()).open == []
