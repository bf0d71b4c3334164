"""An audit in Markdown: short enough for a comment, and inert whatever it quotes."""

import re

from msgspec.structs import replace

from support.audit_reports import altered, audit, many, nothing, wasteful, wasteful_scan
from support.formats import markdown
from support.markup import NAMES
from whyscan.reports.findings import Code, Finding, Severity
from whyscan.spark.stages.audit.report import TableTotal
from whyscan.spark.stages.workload.query import Unparsed

ROOM = 65_536


def rows(text):
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]


def test_the_answer_the_ranking_and_what_to_write_instead():
    text = markdown(audit())

    assert text.startswith("**4 queries, 37 runs: 4.1 MB read, 3.4 MB of it wasted (82.2 %)")
    assert rows(text)[2][:6] == ["1", "30", "120 kB", "10 kB", "3.3 MB", "50.0 %"]
    assert "<summary>1: reads 120 kB and could read 10 kB</summary>" in text
    assert "- write instead: `month >= 3 AND month < 4`" in text
    assert (
        "the engine read 24 files, 120 kB, 1,200 rows a run; predicted 12 of 24 files, 61 kB"
        in text
    )


def test_sums_by_table_drift_and_whatever_failed_are_there():
    text = markdown(audit())

    assert ["`orders`", "2", "32", "3.7 MB", "3.3 MB", "amount, month"] in rows(text)
    assert "**drift: 2**" in text
    assert "it fell at snapshot 7500" in text
    assert "**tables that could not be read: 1**" in text
    assert "**queries that were not audited: 1**" in text
    assert "- log.csv:7, 3 times: no statement: SELEC 1: `SELEC 1`" in text


def test_nothing_audited_is_short():
    assert markdown(nothing()).startswith("**0 queries, 0 runs")


def test_a_comment_has_room_for_thousands_of_long_queries_and_the_rest_is_counted():
    long = "x" * 50_000
    finding = Finding(Code.CROSS_JOIN, Severity.WARNING, long, long, rewrite=long)
    scan = altered(wasteful_scan(), name=long, findings=(finding,) * 50)
    heavy = wasteful(sql=f"SELECT '{long}'", tables=(scan,) * 30, error=long)
    report = replace(
        many(2_000),
        unparsed=(Unparsed(long, long, long),) * 100,
        tables=(TableTotal(long, long, error=long),) * 100 + (TableTotal(long, long),) * 100,
    )
    report = replace(report, queries=(heavy,) * 40 + report.queries)
    text = markdown(report)

    assert len(text) < ROOM
    lists = re.split(r"… and ([0-9,]+) more: --format json has all of them", text)
    ranking, more_queries = lists[0], int(lists[1].replace(",", ""))
    assert len(re.findall(r"(?m)^\| +[0-9]+ +\|", ranking)) + more_queries == 2_040
    for title, number in (
        ("tables that could not be read", 100),
        ("entries of the workload that could not be explained", 100),
    ):
        listed, more = re.split(rf"\*\*{title}: {number}\*\*", text)[1].split("… and ", 1)
        assert listed.count("\n- ") - 1 + int(more.split()[0]) == number


def test_nothing_that_it_quotes_is_markup():
    queries = tuple(
        wasteful(sql=name, tables=(altered(wasteful_scan(), name=name),)) for name in NAMES
    )
    tables = tuple(TableTotal(name, name, error=name) for name in NAMES)
    unparsed = tuple(Unparsed(name, name, name) for name in NAMES)
    text = markdown(audit(queries=queries, tables=tables, unparsed=unparsed))

    outside = re.sub(r"(`+)[^`].*?(?<!`)\1(?!`)", "", re.sub(r"(?s)```.*?```", "", text))
    tags = set(re.findall(r"(?<!\\)<[^>]*>", outside))
    assert tags <= {"<details>", "</details>", "<summary>", "</summary>", "<!-- -->", "<br>"}
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e\u2028]", text)
    for grid in re.findall(r"(?m)(?:^\|.*\n)+", text):
        assert len({len(row) for row in rows(grid)}) == 1, grid
