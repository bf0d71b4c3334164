"""Audits put together by hand: what renderers are tested on."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from msgspec.structs import replace

from support.lakes import delta_users, users
from support.memory_table import DataFile, MemoryTable, RowGroup
from support.statement_reports import orders, scan
from whyscan.reports.findings import Code, Finding, Severity
from whyscan.reports.findings.finding import Effect
from whyscan.spark.stages.audit.report import (
    Actual,
    Audit,
    AuditedScan,
    AuditRun,
    ColumnTotal,
    Drift,
    QueryLine,
    TableTotal,
    UnreadTable,
)
from whyscan.spark.stages.workload.query import Unparsed, shape_of
from whyscan.tree.types import INT, STRING

AT = datetime(2026, 3, 9, 8, 30, tzinfo=UTC)
RUN = AuditRun("20260309T083000Z-00c0ffee", AT, 12.5, "UTC", "auto", 0.1, ("a note of the run",))
KB = 1000


def line_of(report, **changes) -> AuditedScan:
    """A scan's report as the line of an audit."""
    kept = report.reading.bytes_kept
    line = AuditedScan(replace(report, plan=None), bytes_read=kept, bytes_needed=kept)
    return replace(line, **changes)


def altered(table: AuditedScan, **changes) -> AuditedScan:
    """A scan with changed fields: of the audit, of the scan, of its report, its table or files."""

    def changed(record):
        fields = [name for name in record.__struct_fields__ if name in changes]
        return replace(record, **{name: changes.pop(name) for name in fields})

    own, of_scan, report = changed(table), changed(table.scan), changed(table.scan.report)
    files = changed(report.files_level)
    report = replace(
        report,
        table=changed(report.table),
        levels=tuple(files if level.level == "files" else level for level in report.levels),
    )
    assert not changes, changes
    return replace(own, scan=replace(of_scan, report=report))


def wasteful_scan() -> AuditedScan:
    """A function hides the partition: everything is read, and a rewrite would spare most of it."""
    rewrite = "month >= 3 AND month < 4"
    finding = Finding(
        Code.FUNCTION_ON_PARTITION,
        Severity.WARNING,
        "abs(month) is a function of the partition column month",
        f"write {rewrite}",
        rewrite=rewrite,
        effect=Effect("files", 24, 2, 120 * KB, 10 * KB),
    )
    return altered(
        line_of(scan(orders(), "amount > 99", "orders", "o")),
        findings=(finding,),
        bytes_read=120 * KB,
        bytes_needed=10 * KB,
        actual=Actual(30, 720, 3_600 * KB, 36_000, None),
    )


def wasteful(**changes) -> QueryLine:
    sql = "SELECT sum(amount)\nFROM orders o\nWHERE abs(month) = 3 AND amount > 99"
    query = QueryLine(
        sql=sql,
        shape=shape_of(sql, "spark"),
        dialect="spark",
        times=30,
        first=datetime(2026, 3, 1, 7, tzinfo=UTC),
        last=datetime(2026, 3, 4, 7, tzinfo=UTC),
        days={"2026-03-01": 10, "2026-03-02": 15, "2026-03-04": 3},
        logs={"csv": 30},
        origins=("log.csv:12", "log.csv:90"),
        notes=("a note of the query",),
        operation="select",
        tables=(wasteful_scan(),),
        bytes_read=120 * KB,
        bytes_needed=10 * KB,
        wasted=3_300 * KB,
        ratio=0.5,
    )
    return replace(query, **changes)


def joined(**changes) -> QueryLine:
    """Two tables, one of them without rows to tell of, and nothing wasted."""
    sql = (
        "SELECT * FROM users u JOIN orders o ON u.age = o.user WHERE u.country = 'DE' AND age > 40"
    )
    scans = (
        line_of(scan(delta_users(), "country = 'DE' AND age > 40", "users", "u")),
        line_of(scan(orders(), "TRUE", "orders", "o")),
    )
    read = sum(line.bytes_read for line in scans)
    query = QueryLine(
        sql=sql,
        shape=shape_of(sql, "spark"),
        dialect="spark",
        times=2,
        days={"2026-03-02": 2},
        logs={"spark": 2},
        origins=("app-1/execution 7",),
        operation="select",
        tables=scans,
        bytes_read=read,
        bytes_needed=read,
        wasted=0,
        ratio=0.9,
    )
    return replace(query, **changes)


def iceberg() -> QueryLine:
    """A table of manifests, by its numbers alone."""
    sql = "SELECT id FROM events WHERE id = 4711 AND who = 'Ada Lovelace'"
    events = MemoryTable(
        {"id": INT, "who": STRING},
        [DataFile("a.parquet", {}, [RowGroup(1, {"id": (4_711, 4_711)})])],
        uri="s3://lake/db/events",
    )
    plain = line_of(scan(events, "id = 4711 AND who = 'Ada Lovelace'", "lake.events", "events"))
    files = plain.scan.report.files_level
    manifests = replace(files, level="manifests", total=10, kept=3)
    table = altered(
        altered(plain, levels=(manifests, files), findings=()),
        format="iceberg",
        version=8_001,
        total=200,
        kept=6,
        bytes_total=2_000 * KB,
        bytes_kept=60 * KB,
        rows_total=20_000,
        rows_kept=600,
        bytes_read=60 * KB,
        bytes_needed=45 * KB,
        actual=Actual(4, 24, 240 * KB, None, None, 12),
    )
    return QueryLine(
        sql=sql,
        shape=shape_of(sql, "trino"),
        dialect="trino",
        times=4,
        tables=(table,),
        bytes_read=60 * KB,
        bytes_needed=45 * KB,
        wasted=60 * KB,
        ratio=0.03,
    )


def failing() -> QueryLine:
    sql = "SELECT * FROM gone WHERE secret = 'xyzzy'"
    error = "no table at s3://lake/gone"
    table = UnreadTable("gone", "s3://lake/gone", error)
    return QueryLine(
        sql,
        shape_of(sql, "spark"),
        "spark",
        1,
        unread=(table,),
        error=f"gone: {error}",
        logs={"csv": 1},
    )


def totals() -> tuple[TableTotal, ...]:
    return (
        TableTotal(
            "orders",
            "lake/orders",
            "delta",
            3,
            2,
            32,
            3_700 * KB,
            3_300 * KB,
            (
                ColumnTotal("amount", 30, 3_600 * KB, 3_300 * KB),
                ColumnTotal("month", 30, 3_600 * KB, 3_300 * KB),
            ),
        ),
        TableTotal(
            "lake.events",
            "s3://lake/db/events",
            "iceberg",
            8_001,
            1,
            4,
            240 * KB,
            60 * KB,
            (ColumnTotal("id", 4, 240 * KB, 60 * KB), ColumnTotal("who", 4, 240 * KB, None)),
        ),
        TableTotal("users", "users", "delta", 5, 1, 2, 800, 0),
        TableTotal("gone", "s3://lake/gone", error="no table at s3://lake/gone"),
    )


def drifts() -> tuple[Drift, ...]:
    shape = "SELECT id FROM events WHERE id = ?"
    sql = "SELECT id FROM events WHERE id = 4711"
    before = AT - timedelta(days=7)
    run = "20260302T083000Z-0000cafe"
    return (
        Drift(shape, sql, "lake.events", 0.02, 0.8, run, before, 7_000, 8_001, 7_500, 7_400),
        Drift(
            shape, sql, "users", 0.1, 0.5, run, before, 3, 5, unknown="its old versions are gone"
        ),
    )


def audit(**changes) -> Audit:
    """Four queries, four tables, and something of everything else."""
    record = Audit(
        RUN,
        (wasteful(), iceberg(), joined(), failing()),
        totals(),
        (Unparsed("log.csv:7", "SELEC 1", "no statement: SELEC 1", 3, log="csv"),),
        drifts(),
    )
    return replace(record, **changes)


def many(count: int) -> Audit:
    """Very many queries with texts of their own, over 300 days."""
    queries, models = [], (joined(), wasteful())
    for n in range(count):
        model = models[n % 2]
        sql = f"{model.sql} AND id = {n}"
        day = date(2026, 1, 1) + timedelta(days=n % 300)
        vain = (count - n) * KB if n % 2 else 0
        queries.append(
            replace(
                model,
                sql=sql,
                shape=f"{model.shape} AND id{n % 50} = ?",
                times=3,
                days={day.isoformat(): 3},
                bytes_needed=model.bytes_read - min(vain, model.bytes_read),
                wasted=3 * min(vain, model.bytes_read),
            )
        )
    return audit(queries=tuple(sorted(queries, key=lambda q: -q.wasted)))


def nothing() -> Audit:
    return Audit(RUN)


def plain_users() -> AuditedScan:
    """A Parquet table whose footers tell of row groups."""
    return altered(line_of(scan(users(), "age > 40", "users")), format="parquet", version=None)
