"""Money beside bytes: prices are the user's, and what is unknown is not invented."""

import json

import pytest
from msgspec.structs import replace

from support.audit_reports import audit, failing, joined, nothing, wasteful
from support.lakes import users
from support.reports import explain
from support.schemas import valid
from support.statement_reports import joined as statement
from whyscan.errors import UsageError
from whyscan.reports.gates import GatedAmount, Gates, StatementGates
from whyscan.reports.prices import Prices
from whyscan.reports.words import money
from whyscan.spark.stages.audit.report import UserRuns

READ = GatedAmount(1_000, 10, 4 * 10**12, 10**12)
UNKNOWN = GatedAmount(1_000, 10, None, None)


@pytest.mark.parametrize(
    ("price", "request_price", "read", "costs"),
    [
        ("5/TB", None, READ, (5.0, None, 5.0, 20.0)),
        ("5 / TiB", None, READ, (5e12 / 2**40, None, 5e12 / 2**40, 20e12 / 2**40)),
        ("0.5/100 GB", None, READ, (5.0, None, 5.0, 20.0)),
        (None, "0.0004/1000", READ, (None, 0.000004, 0.000004, 0.0004)),
        ("5/TB", "0.0004/1,000", READ, (5.0, 0.000004, 5.000004, 20.0004)),
        ("0/TB", None, READ, (0.0, None, 0.0, 0.0)),
        ("5/TB", "0.0004/1000", UNKNOWN, (None, 0.000004, None, None)),
        (None, "0.0004/1000", UNKNOWN, (None, 0.000004, 0.000004, 0.0004)),
    ],
)
def test_a_cost_is_the_sum_of_what_has_a_price_and_unknown_bytes_have_none(
    price, request_price, read, costs
):
    cost = Prices.of(price, request_price).cost(read)

    shown = (cost.bytes, cost.requests, cost.total, cost.without_pruning)
    assert shown == pytest.approx(costs)
    assert (cost.price, cost.request_price) == (price, request_price)


@pytest.mark.parametrize(
    ("price", "request_price"),
    [
        ("5", None),
        ("$5/TB", None),
        ("five/TB", None),
        ("-5/TB", None),
        ("nan/TB", None),
        ("inf/TB", None),
        ("5/", None),
        ("5/query", None),
        ("5/0GB", None),
        (None, "0.0004"),
        (None, "0.0004/0"),
        (None, "0.0004/TB"),
        (None, "0.0004/-1"),
    ],
)
def test_what_is_no_price_is_an_error_with_a_hint(price, request_price):
    with pytest.raises(UsageError) as refused:
        Prices.of(price, request_price)

    assert refused.value.message == f"not a price: {price or request_price!r}"
    assert "a number and" in refused.value.hint


def test_without_a_price_no_report_has_a_cost():
    reports = (explain(users(), "age > 40"), statement(), audit())

    for report in reports:
        assert "cost" not in json.loads(report.to_json())
        assert report.priced().to_dict() == report.to_dict()
        assert "cost" not in report.to_text()


@pytest.mark.parametrize("write", ["to_text", "to_markdown", "to_html", "to_json", "_repr_html_"])
@pytest.mark.parametrize(
    ("report", "shown"),
    [
        (explain(users(), "age > 40"), "0.0065"),
        (statement(), "0.036"),
    ],
    ids=["table", "statement"],
)
def test_every_format_has_the_cost_beside_the_bytes(report, shown, write):
    assert shown in getattr(report.priced("5/MB"), write)()


def test_the_costs_of_scans_add_up_to_that_of_the_statement():
    report = statement().priced("5/MB", "1/1000")

    document = valid("statement", json.loads(report.to_json()))
    scans = [scan["cost"]["total"] for scan in document["scans"]]
    assert document["cost"]["total"] == pytest.approx(sum(scans)) == pytest.approx(0.041)


def test_a_gate_on_the_cost_passes_fails_and_fails_where_the_cost_is_unknown():
    table = explain(users(), "age > 40").priced("5/MB")
    unpriced = explain(users(), "age > 40")

    outcomes = [
        report.gated(Gates(max_cost=limit)).assertions[0]
        for report, limit in ((table, 0.01), (table, 0.001), (unpriced, 0.01))
    ]
    assert [outcome.result for outcome in outcomes] == ["pass", "fail", "fail"]
    assert outcomes[1].actual == pytest.approx(0.0065)
    whole = statement().priced("5/MB").gated(StatementGates(Gates(max_cost=0.03)))
    assert "fail  max_cost: 0.036, at most 0.03 asked" in whole.to_text()
    assert "max_cost" in whole.to_junit()
    assert "gate/max_cost" in whole.to_sarif()


def test_a_table_that_metadata_has_no_bytes_of_costs_an_unknown_amount():
    report = explain(users(), "age > 40")
    files = replace(report.files_level, bytes_kept=None, bytes_total=None)
    unsized = replace(report, levels=(files,)).priced("5/TB")

    assert unsized.cost.total is None
    assert "cost       unknown, without pruning unknown" in unsized.to_text()


def test_an_audit_costs_its_runs_and_scales_their_days_to_a_month():
    report = audit(queries=(wasteful(), failing())).priced("5/MB", "1/1000")

    document = valid("audit", json.loads(report.to_json()))
    runs, size, wasted, files = 30, 0.12, 0.11, 12
    read = runs * (5 * size + files / 1000)
    dated = 28 / 30  # Of two runs no day is known.
    assert document["queries"][0]["cost"] == pytest.approx(
        {"read": read, "wasted": runs * 5 * wasted}
    )
    assert document["queries"][1]["cost"] == {"read": None, "wasted": None}
    assert document["cost"]["log"]["read"] == pytest.approx(read)
    assert document["cost"]["days"] == 4
    assert document["cost"]["month"]["read"] == pytest.approx(read * dated * 30 / 4)
    assert "it costs 18.36, 128.52 a month, and 16.50 (115.50 a month)" in " ".join(
        report.to_text().split()
    )


def test_changes_users_days_and_columns_of_an_audit_have_their_costs():
    line = wasteful(users=(UserRuns("ann", 20), UserRuns("bob", 10)))
    report = audit(queries=(line,)).priced("5/MB", "1/1000")

    document = valid("audit", json.loads(report.to_json()))
    of_a_run = {"read": 5 * 0.12 + 12 / 1000, "wasted": 5 * 0.11}

    def runs(number):
        return pytest.approx({name: cost * number for name, cost in of_a_run.items()})

    assert [(one["name"], one["cost"]) for one in document["users"]] == [
        ("ann", runs(20)),
        ("bob", runs(10)),
    ]
    assert [one["cost"] for one in document["days"]] == [runs(10), runs(15), runs(3)]
    [change] = document["actions"]
    assert change["cost"] == pytest.approx({"log": 16.5, "month": 16.5 * 28 / 30 * 30 / 4})
    # How many files were read for a column is not counted, and so their requests are unknown.
    assert document["tables"][0]["columns"][0]["cost"] == {"read": None, "wasted": 16.5}
    printed = " ".join(report.to_text().split())
    assert "1: saves 3.3 MB (16.50, 115.50 a month): orders" in printed
    assert "ann 20 2.4 MB (12.24) 2.2 MB (11.00)" in printed


def test_a_log_without_days_has_no_month_and_without_a_price_of_bytes_nothing_is_wasted():
    undated = audit(queries=(joined(days={}),)).priced(None, "1/1000")

    assert (undated.cost.month, undated.cost.days) == (None, 0)
    assert undated.cost.log.wasted is None
    assert nothing().priced("5/TB").cost.log.read is None


def test_the_gate_of_an_audit_is_on_the_cost_of_all_runs():
    report = audit(queries=(wasteful(),)).priced("5/MB")

    outcomes = [report.gated(max_cost=limit).assertions[0] for limit in (17, 19)]
    assert [(outcome.name, outcome.result) for outcome in outcomes] == [
        ("max_cost", "fail"),
        ("max_cost", "pass"),
    ]


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (None, "unknown"),
        (0.0, "0"),
        (0.0000123, "0.000012"),
        (0.5, "0.5"),
        (1, "1.00"),
        (1204.5, "1,204.50"),
    ],
)
def test_money_has_two_figures_at_least(amount, text):
    assert money(amount) == text
