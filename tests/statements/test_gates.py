"""Gates on a statement: sums for the whole, names for single tables."""

import pytest

from support.lakes import one_file
from support.memory_table import RowGroup
from support.statement_reports import orders, scan, statement
from whyscan.errors import UsageError
from whyscan.reports.gates import Gates, StatementGates
from whyscan.statements.records import StatementReport
from whyscan.tree.types import INT


def outcomes(assertions):
    return [(a.name, a.threshold, a.actual, a.passed) for a in assertions]


def over(*scans):
    return StatementReport("…", "spark", "UTC", "select", scans)


def test_amounts_are_sums_of_all_scans():
    report = statement("joined").gated(
        StatementGates(Gates(max_files=4, max_bytes=7200, min_pruning=80, min_pruning_bytes=90))
    )

    assert outcomes(report.assertions) == [
        ("min_pruning", 80, 83.3, True),
        ("min_pruning_bytes", 90, 94.3, True),
        ("max_files", 4, 5, False),
        ("max_bytes", 7200, 7200, True),
    ]
    assert not report.passed


@pytest.mark.parametrize("name", ["orders", "o", "ORDERS"])
def test_a_name_or_an_alias_picks_the_scans_of_a_table(name):
    report = statement("joined").gated(StatementGates(Gates(), {name: Gates(max_files=0)}))
    orders_, users = report.scans

    assert outcomes(orders_.report.assertions) == [("max_files", 0, 1, False)]
    assert users.report.assertions == report.assertions == ()
    assert not report.passed


def test_every_scan_of_a_table_must_meet_its_gate():
    report = over(scan(orders(), "month = 3", "orders", "a"), scan(orders(), "TRUE", "orders", "b"))
    report = report.gated(StatementGates(Gates(), {"orders": Gates(max_files=2)}))

    assert [s.report.passed for s in report.scans] == [True, False]


def test_a_gate_for_a_table_that_is_not_scanned_is_refused():
    with pytest.raises(UsageError, match="'lines', which the statement does not scan") as raised:
        statement("joined").gated(StatementGates(Gates(), {"lines": Gates(max_files=1)}))

    assert raised.value.hint == "its tables are orders, users"


def test_a_partition_filter_is_required_where_there_are_partitions():
    plain = one_file(INT, RowGroup(5, {"x": (1, 9)}))
    report = over(
        scan(orders(), "amount > 5", "orders"),
        scan(orders(), "month = 1", "orders", "o"),
        scan(plain, "x > 1", "plain"),
    )

    gated = report.gated(StatementGates(Gates(require_partition_filter=True)))
    assert [s.report.passed for s in gated.scans] == [False, True, True]
    assert [len(s.report.assertions) for s in gated.scans] == [1, 1, 0]
    named = report.gated(StatementGates(Gates(), {"plain": Gates(require_partition_filter=True)}))
    assert [s.report.passed for s in named.scans] == [True, True, False]


def test_statistics_are_asserted_scan_by_scan():
    bare = one_file(INT, RowGroup(5))
    report = over(scan(orders(), "amount > 5", "orders"), scan(bare, "x > 1", "bare"))
    report = report.gated(
        StatementGates(Gates(assert_stats=True), {"bare": Gates(assert_stats=True)})
    )

    assert [outcomes(s.report.assertions) for s in report.scans] == [
        [("stats_complete", 100, 100.0, True)],
        [("stats_complete", 100, 0.0, False)],
    ]


def test_what_metadata_answers_reads_nothing():
    report = statement("answered")

    assert (report.scans[0].reading.kept, report.reading.kept) == (0, 24)
    assert report.gated(StatementGates(Gates(max_files=24))).passed
