"""A baseline: what was skipped once must be skipped again, but for what is let off."""

from datetime import date

import pytest

from support.lakes import delta_users
from support.reports import explain
from whyscan.errors import UsageError
from whyscan.reports.baseline import Baseline, Key, read_baseline, to_json
from whyscan.reports.gates import Exemption, Gates

BOTH = "country = 'DE' AND age > 40"
KEY = Key("users", BOTH, "spark", "UTC")
TODAY = date(2026, 11, 15)


def outcomes(baseline, predicate=BOTH, key=KEY):
    return {a.name: a for a in baseline.check(key, explain(delta_users(), predicate))}


def test_what_is_written_is_read_again():
    written = Baseline(
        exemptions=(Exemption("users", "max_files", "backfill", TODAY, BOTH),),
        tolerance_files=1.5,
    ).updated(KEY, explain(delta_users(), BOTH))

    assert read_baseline(to_json(written), "b.json") == written


def test_the_same_passes_and_less_does_not():
    baseline = Baseline().updated(KEY, explain(delta_users(), BOTH))

    assert all(a.passed for a in outcomes(baseline).values())
    worse = outcomes(baseline, "country = 'DE'")
    assert not worse["baseline"].passed
    assert (worse["baseline"].threshold, worse["baseline"].actual) == (83.333, 66.7)
    assert not worse["baseline_bytes"].passed


@pytest.mark.parametrize(("points", "passed"), [(16.0, False), (17.0, True)])
def test_a_tolerance_is_points_of_the_share(points, passed):
    baseline = Baseline(tolerance_files=points).updated(KEY, explain(delta_users(), BOTH))

    assert outcomes(baseline, "country = 'DE'")["baseline"].passed is passed


def test_a_question_without_an_exemption_does_not_pass():
    (unknown,) = outcomes(Baseline()).values()

    assert (unknown.name, unknown.actual, unknown.passed) == ("baseline", None, False)


@pytest.mark.parametrize(
    ("exemption", "holds"),
    [
        (Exemption("users", "max_files", "why", TODAY), True),
        (Exemption("users", "max_files", "why", TODAY, BOTH), True),
        (Exemption("users", "max_files", "why", TODAY, "age > 1"), False),
        (Exemption("others", "max_files", "why", TODAY), False),
        (Exemption("users", "max_bytes", "why", TODAY), False),
        (Exemption("users", "max_files", "why", date(2026, 11, 14)), False),
    ],
    ids=["table", "question", "another question", "another table", "another gate", "expired"],
)
def test_an_exemption_lets_off_one_gate_until_its_day(exemption, holds):
    report = explain(delta_users(), BOTH).gated(Gates(max_files=0))
    baseline = Baseline(exemptions=(exemption,))
    (outcome,) = (baseline.excuse(KEY, a, TODAY) for a in report.assertions)

    assert outcome.result == "fail"
    assert outcome.holds is holds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        '{"schema_version": "9"}',
        '{"schema_version": "1.0", "question": []}',
        '{"schema_version": "1.0", "questions": [{"table": "t"}]}',
        (
            '{"schema_version": "1.0", "exemptions": [{"table": "t", "gate": "g", "reason": " ",'
            ' "until": "2026-01-01"}]}'
        ),
        (
            '{"schema_version": "1.0", "exemptions": [{"table": "t", "gate": "g", "reason": "r",'
            ' "until": "soon"}]}'
        ),
        (
            '{"schema_version": "1.0", "exemptions": [{"table": "t", "gate": "g", "reason": "r",'
            ' "until": "2026-01-01", "predicat": "x"}]}'
        ),
        "[" * 100_000,
    ],
)
def test_what_is_no_baseline_is_refused(text):
    with pytest.raises(UsageError, match=r"b\.json is no baseline"):
        read_baseline(text, "b.json")
