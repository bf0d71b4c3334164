"""The change to try first: it is the one that saves most, and what it promises is planned."""

import pytest

import whyscan
from support.lakes import delta_users, users
from support.reports import explain
from support.statement_reports import joined
from whyscan.reports.findings import Code, Effect, Finding, Severity
from whyscan.reports.first_change import first_change
from whyscan.table import Table


def finding(code, severity=Severity.WARNING, fix="change it", rewrite=None, effect=None, at=None):
    return Finding(code, severity, "because", fix, rewrite=rewrite, effect=effect, conjunct=at)


SMALL = finding(Code.SMALL_FILES, Severity.INFO, effect=Effect("files", 90, 2))
FEW = finding(Code.FUNCTION_ON_PARTITION, rewrite="b = 1", effect=Effect("files", 9, 8, 90, 80))
MANY = finding(
    Code.LITERAL_TYPE, Severity.INFO, rewrite="a = 1", effect=Effect("files", 9, 2, 90, 20), at=0
)
HINT = finding(Code.NO_PARTITION_FILTER)
NOTHING = finding(Code.NOTHING_KEPT)
NO_FIX = finding(Code.WEAK_PRUNING, fix=None)
NOTE = finding(Code.WEAK_PRUNING, Severity.INFO)


@pytest.mark.parametrize(
    ("findings", "code"),
    [
        ((HINT, FEW, MANY), Code.LITERAL_TYPE),
        ((SMALL, FEW), Code.FUNCTION_ON_PARTITION),
        ((SMALL, HINT), Code.NO_PARTITION_FILTER),
        ((SMALL,), Code.SMALL_FILES),
        ((NOTHING, HINT), Code.NO_PARTITION_FILTER),
    ],
    ids=["most bytes", "bytes before files", "a warning before files", "files", "not of nothing"],
)
def test_the_change_that_saves_most_bytes_is_first_and_then_a_warning(findings, code):
    assert first_change(findings).code is code


@pytest.mark.parametrize("findings", [(), (NO_FIX,), (NOTE,), (NOTHING,)])
def test_without_a_fix_that_helps_there_is_none(findings):
    assert first_change(findings) is None


def test_the_predicate_to_copy_has_the_other_conjuncts_and_an_or_in_parentheses():
    change = first_change((MANY,), ["cast(a as text) = '1'", "c = 1 OR c = 2"])

    assert change.predicate == "a = 1 AND (c = 1 OR c = 2)"


def test_the_predicate_to_copy_reads_what_was_planned():
    table = users()
    report = explain(table, "age > 40 AND substr(country, 1, 1) = 'D'")
    change = report.try_first

    again = Table(table).explain(change.predicate, depth="files")

    assert (change.code, change.changes) == (Code.FUNCTION_ON_PARTITION, "query")
    assert change.predicate == "age > 40 AND country = 'DE'"
    assert again.files_level.kept == change.effect.after


def test_a_statement_names_the_scan_of_its_first_change():
    document = joined().to_dict()["try_first"]
    sql = "SELECT * FROM users WHERE age > 40"
    alone = whyscan.explain_sql(sql, {"users": Table(delta_users())})

    assert (document["scan"], document["code"]) == (None, "WEAK_PRUNING")
    assert (alone.try_first.scan, alone.try_first.code) == (0, Code.NO_PARTITION_FILTER)
    assert "(users: NO_PARTITION_FILTER)" in " ".join(alone.to_text().split())


def test_redaction_leaves_no_literal_in_the_predicate_to_copy():
    report = explain(users(), "age > 4711 AND substr(country, 1, 1) = 'D'")

    assert "4711" not in report.redacted().to_json()
