"""A redacted report: no literal and no value in any format, and the figures as they were."""

import json

import pytest

from support.formats import text as diff_text
from support.memory_table import DataFile, MemoryTable, RowGroup
from support.reports import explain, valid
from whyscan.cli.formats import FORMS, rendered
from whyscan.predicate.syntax.redact import HIDDEN, without_literals
from whyscan.reports.diff import compare
from whyscan.reports.document import to_json
from whyscan.reports.redaction import new_key, redacted
from whyscan.reports.text_layout import Page
from whyscan.tree.types import DATE, INT, STRING

SECRETS = ("Zanzibar", "Quito", "Xerxes", "Yolanda", "771177", "882288", "2031-07-09")


def lake():
    """Every value of it is a secret."""
    rows = [
        ("Zanzibar", ("Xerxes", "Yolanda"), (771177, 882288)),
        ("Quito", ("Xerxes", "Yolanda"), (771177, 771177)),
        (None, ("Xerxes", "Xerxes"), (882288, 882288)),
    ]
    files = [
        DataFile(
            f"city={city}/f{i}.parquet",
            {"city": city},
            [RowGroup(4, {"name": names, "amount": amounts})],
        )
        for i, (city, names, amounts) in enumerate(rows)
    ]
    columns = {"city": STRING, "name": STRING, "amount": INT, "day": DATE}
    return MemoryTable(columns, files, ("city",), footers_describe_files=False, uri="lake")


QUESTIONS = [
    "city = 'Zanzibar' AND amount > 771177",
    "city = 'Zanzibar' OR name < 'Yolanda'",
    "upper(city) = 'Quito' AND day > DATE '2031-07-09'",
    "secretly(name, 'Xerxes', 771177) = 882288 /* Zanzibar */",
    "amount NOT IN (771177, 882288) AND city <> 'Quito'",
    "name LIKE 'Xerxes%' OR amount = '771177'",
    "city IS NULL AND amount BETWEEN 771177 AND 882288",
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_no_literal_and_no_value_is_left(question, form):
    report = redacted(explain(lake(), question, verbose=True))
    shown = rendered(report, form, Page())

    assert [secret for secret in SECRETS if secret.lower() in shown.lower()] == []


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_figures_stay(question):
    report = explain(lake(), question, verbose=True)
    plain, hidden = (json.loads(to_json(r)) for r in (report, redacted(report)))

    valid(hidden)
    for part in ("levels", "rows_matched", "survivors", "statistics", "mechanisms"):
        assert hidden[part] == plain[part]
    assert [f["verdict"] for f in hidden["files"]] == [f["verdict"] for f in plain["files"]]
    assert [f["code"] for f in hidden["findings"]] == [f["code"] for f in plain["findings"]]


def test_bounds_become_ranks_that_overlap_as_before():
    report = redacted(explain(lake(), QUESTIONS[0], verbose=True))

    assert [line.bounds["amount"] for line in report.listing.lines()] == [(1, 2), (1, 1), (2, 2)]


def test_a_value_has_one_name_in_one_run_and_another_in_the_next():
    report = explain(lake(), QUESTIONS[0], verbose=True)

    def names(hidden):
        return [line.partition["city"] for line in hidden.listing.lines()]

    first, again = redacted(report), redacted(report)
    assert names(first)[2] is None
    assert names(first)[0] != names(again)[0]
    assert names(redacted(report, key := new_key())) == names(redacted(report, key))
    (path, *_) = (line.path for line in first.listing.lines())
    assert path == f"city={names(first)[0]}/f0.parquet"


def test_redacted_reports_with_one_key_can_be_compared():
    report = explain(lake(), QUESTIONS[0], verbose=True)
    key = new_key()
    difference = compare(redacted(report, key), redacted(report, key))

    assert not list(difference.files.changed())
    assert "Zanzibar" not in diff_text(difference)


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("a = 5L AND b = 'x y'", "a = ? AND b = ?"),
        ("d > DATE '2024-01-01' -- why", "d > DATE ?"),
        ("a IN (1, 2.5e3, -3)", "a IN (?, ?, -?)"),
        ("`odd 'name'` = X'00ff'", "`odd 'name'` = ?"),
        ("flag AND x IS NULL", "flag AND x IS NULL"),
        ("a = 'never closed", HIDDEN),
        ("", HIDDEN),
    ],
)
def test_sql_without_its_literals(sql, shown):
    assert without_literals(sql, "spark") == shown


def test_from_the_command_line(tmp_path):
    from support.commands import whyscan
    from whyscan.demo.lake import write_lake

    write_lake(tmp_path, force=False)
    done = whyscan("explain", "users", "-w", "country = 'DE'", "-v", "--redact", cwd=tmp_path)

    assert done.code == 0
    assert "DE" not in done.out
    assert "country = ?" in done.out
