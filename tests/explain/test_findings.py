"""Findings: when each is raised, and with which numbers."""

import pytest

from lakes import delta_users, one_file, prices, users
from memory_table import RowGroup
from reports import explained
from whyscan.predicate.types import DOUBLE, INT

CASES = {
    "a plain predicate": (users(), "country = 'DE' AND age > 40", {}),
    "no condition on the partition": (
        users(),
        "age > 40",
        {"NO_PARTITION_FILTER": "partitioned by country, and no conjunct names"},
    ),
    "an unsplittable conjunct names the partition": (
        delta_users(),
        "country = 'DE' OR age > 4",
        {"UNSPLITTABLE_OR": "reads 6 of 6 files; country = 'DE' leaves 2, age > 4 leaves 6"},
    ),
    "nothing can match": (users(), "country = 'FR'", {"NOTHING_KEPT": "any of the 6 files"}),
    "no bounds at all": (
        one_file(INT, RowGroup(5)),
        "x > 1",
        {"NO_STATISTICS": "1 of 1 file cannot be skipped by x"},
    ),
    "NaN keeps a row group": (
        prices(DOUBLE, nan=True),
        "x > 1000",
        {"NAN_UNCOUNTED": "kept for that alone: 1 row group of 3"},
    ),
    "NaN keeps nothing": (prices(DOUBLE, nan=True), "x < 1000", {}),
    "a statistic that cannot be true": (
        one_file(INT, RowGroup(5, {"x": (9, 1)})),
        "x > 1",
        {"CONTRADICTORY_STATISTICS": "1 statistic cannot be true"},
    ),
    "a function that nobody knows": (
        one_file(INT, RowGroup(5, {"x": (1, 9)})),
        "my_function(x) = 1",
        {"UNINTERPRETED": "my_function"},
    ),
}


@pytest.mark.parametrize(("table", "predicate", "expected"), CASES.values(), ids=CASES)
def test_findings_have_their_code_and_their_numbers(table, predicate, expected):
    findings = {f["code"]: f["message"] for f in explained(table, predicate)["findings"]}

    # Whatever hides the bounds may also be reported as such.
    findings = {code: m for code, m in findings.items() if code in expected or not expected}
    assert findings.keys() == expected.keys()
    for code, part in expected.items():
        assert part in findings[code]
