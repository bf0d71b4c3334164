"""Reports on statements, put together by hand: what renderers are tested on."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from support import schemas
from support.lakes import delta_users, empty, users
from support.memory_table import DataFile, MemoryTable, RowGroup
from whyscan.reports.findings import Code, Finding, Severity
from whyscan.reports.report import make_report
from whyscan.statements.records import (
    Amount,
    Dynamic,
    Edge,
    Placed,
    Rewrite,
    ScanReport,
    StatementReport,
    Stayed,
    Supply,
)
from whyscan.statements.roles import Origin, Role
from whyscan.statements.stay_reasons import StayReason
from whyscan.table import Table
from whyscan.tree.types import DOUBLE, INT

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator


def validator() -> Draft202012Validator:
    return schemas.validator("statement")


def valid(document: dict) -> dict:
    """The document, once the schema has nothing to say against it."""
    return schemas.valid("statement", document)


def orders(months: int = 12) -> MemoryTable:
    """Two files a month; amounts from 0 to 99 and from 100 to 999."""
    files = [
        DataFile(
            f"month={month}/{part}.parquet",
            {"month": month},
            [RowGroup(50, {"user": (10 * month, 10 * month + 9), "amount": ends})],
        )
        for month in range(1, months + 1)
        for part, ends in (("a", (0.0, 99.0)), ("b", (100.0, 999.0)))
    ]
    columns = {"month": INT, "user": INT, "amount": DOUBLE}
    return MemoryTable(
        columns, files, ("month",), footers_describe_files=False, uri="lake/orders", version=3
    )


def scan(snapshot, predicate, name, alias=None, *, verbose=False, **terms) -> ScanReport:
    """A scan of a table, with a place for every conjunct: written, unless `placed` says more."""
    plan = Table(snapshot).plan(predicate, depth="files")
    report = make_report(plan, verbose=verbose)
    written = (Placed(line.sql, Origin.WRITTEN, line.sql) for line in report.conjuncts)
    terms.setdefault("placed", tuple(written))
    columns = terms.pop("columns", tuple(snapshot.columns))
    return ScanReport(name, alias or name, columns, plan, report, **terms)


def joined(*, verbose=False) -> StatementReport:
    """Two tables, one condition that spread, one that stayed above, and a dynamic filter."""
    sql = """SELECT u.country, sum(o.amount) AS total FROM orders o
LEFT JOIN users u ON o.user = u.age AND o.month = u.month
WHERE u.month = 3 AND o.amount > 99 AND coalesce(u.country, 'none') <> 'US' GROUP BY u.country"""
    amounts = scan(
        orders(),
        "month = 3 AND amount > 99",
        "orders",
        "o",
        verbose=verbose,
        columns=("amount", "month", "user"),
        placed=(
            Placed("month = 3", Origin.SPREAD, "u.month = 3", "o.month = u.month"),
            Placed("amount > 99", Origin.WRITTEN, "o.amount > 99"),
        ),
        dynamic=Dynamic(
            (Supply("o.user = u.age", "user", 1, "20", "60"),),
            Amount(2, 10_200, 100),
            Amount(1, 5_100, 50),
            None,
        ),
    )
    people = scan(
        delta_users(),
        "country <> 'US'",
        "users",
        "u",
        verbose=verbose,
        columns=("age", "country"),
        placed=(Placed("country <> 'US'", Origin.PART, "u.country <> 'US' OR o.amount > 99"),),
        above=(
            Stayed(
                "coalesce(u.country, 'none') <> 'US'",
                StayReason.JOIN_KEEPS_ROWS,
                "a row of NULLs, which a LEFT JOIN makes up, passes it",
            ),
        ),
    )
    return StatementReport(
        sql,
        "spark",
        "UTC",
        "select",
        (amounts, people),
        joins=(Edge("left", 0, 1, "o.user = u.age AND o.month = u.month"),),
        findings=(
            Finding(
                Code.WEAK_PRUNING,
                Severity.WARNING,
                "users is the larger side of the join and nothing filters it",
                "add a condition on users.country",
            ),
        ),
        seconds=0.25,
    )


def merged() -> StatementReport:
    """A change: what it rewrites, and a filter whose values were read."""
    target = scan(
        orders(),
        "month IN (3, 4)",
        "orders",
        "t",
        role=Role.TARGET,
        placed=(Placed("month IN (3, 4)", Origin.JOIN, "t.month = s.month"),),
        dynamic=Dynamic(
            (
                Supply("t.month = s.month", "month", 1, "1", "12", 2),
                Supply("t.user = s.user", "user", None),
            ),
            Amount(24, 122_400, 1_200),
            Amount(24, 122_400, None),
            Amount(4, 20_400, 200),
        ),
        rewrite=Rewrite("merge", Amount(0, 0, 0), Amount(4, 20_400, 200)),
    )
    source = scan(orders(), "month IN (3, 4)", "updates", "s")
    sql = "MERGE INTO orders t USING updates s ON t.month = s.month AND t.user = s.user WHEN …"
    joins = (Edge("merge", 0, 1, "t.month = s.month AND t.user = s.user"),)
    return StatementReport(sql, "spark", "UTC", "merge", (target, source), joins)


def answered() -> StatementReport:
    """Nothing is scanned: metadata knows it, or LIMIT needs little; and a table without files."""
    scans = (
        scan(users(), "TRUE", "users", answer="count(*) is 24"),
        scan(orders(), "TRUE", "orders", limit="LIMIT 10: 1 of 24 files has enough rows"),
        scan(empty(), "x > 1", "nothing", "n"),
    )
    edges = (Edge("cross", 0, 1, ""), Edge("cross", 1, 2, ""))
    return StatementReport("SELECT …", "spark", "UTC", "select", scans, edges, notes=("a note",))


def tableless() -> StatementReport:
    return StatementReport("SELECT 1", "spark", "UTC", "select", ())


STATEMENTS = {
    "joined": joined,
    "joined_verbose": lambda: joined(verbose=True),
    "merged": merged,
    "answered": answered,
    "tableless": tableless,
}


@cache
def statement(name: str) -> StatementReport:
    return STATEMENTS[name]()
