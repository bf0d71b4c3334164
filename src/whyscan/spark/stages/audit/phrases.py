"""The sentences of an audit, for every renderer; control codes in them do nothing."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from whyscan.planning.plan.planner import plus_all
from whyscan.reports.levels import in_order
from whyscan.reports.words import (
    counted,
    inert,
    inert_sql,
    level_name,
    money,
    percent,
    size,
    sizes,
    unit,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.prices import WorkloadCost
    from whyscan.spark.stages.audit.actions import Action
    from whyscan.spark.stages.audit.report import (
        Actual,
        Audit,
        AuditedScan,
        Drift,
        QueryLine,
        TableTotal,
    )
    from whyscan.spark.stages.audit.spending import EarlierRun
    from whyscan.spark.stages.workload.query import Unparsed

FINE = 10**12
"""A share is rounded to this many parts: a share greater than 0 stays greater than 0."""


def answer(audit: Audit) -> str:
    """`12 queries, 1,204 runs: 1.4 TB read, 1.3 TB of it wasted`."""
    runs = sum(line.times for line in audit.queries)
    totals_text = f"{counted(len(audit.queries), 'query')}, {counted(runs, 'run')}"
    measured = [line for line in audit.queries if line.wasted is not None]
    read = plus_all((line.bytes_read or 0) * line.times for line in measured) or 0
    wasted = plus_all(line.wasted for line in measured) or 0
    share = f" ({percent(wasted, read)})" if read else ""
    share += _spent(audit.cost)
    text = f"{totals_text}: {size(read)} read, {size(wasted)} of it wasted{share}"
    unknown = len(audit.queries) - len(measured)
    return text if not unknown else f"{text}; of {counted(unknown, 'query')} that is unknown"


def _spent(cost: WorkloadCost | None) -> str:
    """Write `; it costs 7.00, 95.00 a month, and 6.50 (88.00 a month) of it is wasted`."""
    if cost is None:
        return ""
    month = "" if cost.month is None else f", {money(cost.month.read)} a month"
    text = f"; it costs {money(cost.log.read)}{month}"
    if cost.log.wasted is None:
        return text
    month = "" if cost.month is None else f" ({money(cost.month.wasted)} a month)"
    return f"{text}, and {money(cost.log.wasted)}{month} of it is wasted"


def sized(amount: int | None, cost: float | None, *, priced: bool) -> str:
    """Write bytes, with what they cost behind them if there is a price: `4.3 MB (0.02)`."""
    return f"{size(amount)} ({money(cost)})" if priced else size(amount)


def could_read(line: QueryLine) -> str | None:
    """`this query reads 1.4 TB and could read 14 GB`; None where it could not, or it is unknown."""
    if line.bytes_read is None or line.bytes_needed is None or not line.wasted:
        return None
    return f"this query reads {size(line.bytes_read)} and could read {size(line.bytes_needed)}"


def heading(line: QueryLine | AuditedScan) -> str:
    """Write `reads 1.4 TB and could read 14 GB`, as the title of a query or of a scan."""
    if line.bytes_read is None or line.bytes_needed is None:
        return "what it reads is unknown"
    if line.bytes_read == line.bytes_needed:
        return f"reads {size(line.bytes_read)}, nothing of it is wasted"
    return f"reads {size(line.bytes_read)} and could read {size(line.bytes_needed)}"


def by_layout(line: QueryLine) -> str | None:
    """`an estimated 1.2 TB …`; None where no other layout is estimated to spare anything."""
    if not line.layout_bytes:
        return None
    return (
        f"another layout would spare all runs {size(line.layout_bytes)} at most (an estimate from "
        "bounds: WIDE_BOUNDS names the column)"
    )


def action(one: Action) -> str:
    """`saves 1.3 TB: sales, FUNCTION_ON_PARTITION: …; 3 queries, 720 runs, most by ann`."""
    amount = size(one.saves)
    if one.cost is not None:
        month = "" if one.cost.month is None else f", {money(one.cost.month)} a month"
        amount += f" ({money(one.cost.log)}{month})"
    amount += " at most (an estimate)" if one.is_estimate else ""
    text = f"saves {amount}: {inert(one.table)}, {one.code.value}: {inert_sql(one.fix)}"
    text += f"; {counted(one.queries, 'query')}, {counted(one.times, 'run')}"
    users = ", ".join(map(inert, one.users))
    return f"{text}, most by {users}" if users else text


def rewrites(line: QueryLine) -> Iterator[str]:
    """What to write instead, table by table."""
    for table in line.tables:
        if table.write_instead is not None and table.wasted_per_run:
            yield f"rewrite for {inert(table.name)}: {inert_sql(table.write_instead)}"


def remedies(line: QueryLine) -> Iterator[str]:
    """Yield the change to try first, for a query that wastes bytes and has no rewrite."""
    change = line.statement("").try_first
    if line.wasted and change is not None and not any(True for _ in rewrites(line)):
        yield f"{change.code.value}: {inert_sql(change.fix)}"


def compared(line: QueryLine) -> Iterator[str]:
    """What the engine reported and what was predicted, for one run."""
    for table in line.tables:
        if table.actual is not None:
            yield f"{inert(table.name)}: {engine(table.actual)} a run; {predicted(table)}"


def engine(actual: Actual) -> str:
    """`the engine read 3 manifests, 12 files, 1.4 GB, 300 rows`, on average."""
    parts = []
    if actual.manifests is not None:
        parts.append(counted(round(actual.manifests / actual.runs), "manifest"))
    if actual.files is not None:
        parts.append(counted(round(actual.files / actual.runs), "file"))
    if actual.bytes is not None:
        parts.append(size(round(actual.bytes / actual.runs)))
    if actual.rows is not None:
        parts.append(counted(round(actual.rows / actual.runs), "row"))
    return f"the engine read {', '.join(parts) or 'what it does not tell'}"


def predicted(table: AuditedScan) -> str:
    """`predicted 3 of 8 manifests, 12 of 40 files, 1.4 GB of 5.1 GB, 300 of 900 rows`."""
    report = table.scan.report
    files = report.files_level
    parts = [
        f"{level.kept:,} of {counted(level.total, unit(level.level))}"
        for level in (*(one for one in report.levels if one.level == "manifests"), files)
    ]
    parts.append(sizes(table.bytes_kept, files.bytes_total) or size(None))
    if files.rows_kept is not None and files.rows_total is not None:
        parts.append(f"{files.rows_kept:,} of {counted(files.rows_total, 'row')}")
    return f"predicted {', '.join(parts)}"


def kept(ratio: float | None) -> str:
    """A share of the bytes, in percent."""
    return "unknown" if ratio is None else percent(round(ratio * FINE), FINE)


def unchecked(audit: Audit) -> Iterator[str]:
    """The levels that were not looked at, and in how many scans."""
    scans = [table.scan.report for query in audit.queries for table in query.tables]
    numbers = Counter(level for t in scans for level in {entry.level for entry in t.unchecked})
    for level in in_order(sorted(numbers)):
        yield (
            f"not checked: {level_name(level)}, in {numbers[level]:,} of"
            f" {counted(len(scans), 'scan')}, all or some of them; --format json says why"
        )


def earlier_run(run: EarlierRun) -> str:
    """`2026-03-01 09:00 UTC: 1.4 TB read, 1.3 TB of it wasted`."""
    text = f"{run.at:%Y-%m-%d %H:%M} UTC: {size(run.bytes_read)} read"
    text += f", {size(run.wasted)} of it wasted"
    return text if not run.layout_bytes else f"{text}, {size(run.layout_bytes)} by the layout"


def failed(table: TableTotal) -> str:
    return f"{inert(table.name)} ({inert(table.uri)}): {inert_sql(table.error or '')}"


def left_out(line: Unparsed) -> str:
    times = "" if line.times == 1 else f", {line.times:,} times"
    return f"{inert(line.origin)}{times}: {inert_sql(line.why)}"


def drifted(line: Drift) -> str:
    """`events: 2.0 % of its bytes were kept, now 80 %: it fell at 7 (4 was still good)`."""
    text = f"{inert(line.table)}: {kept(line.before)} of its bytes were kept in the run of "
    text += f"{line.before_at:%Y-%m-%d %H:%M} UTC, now {kept(line.after)}"
    if line.fell_at is None:
        return f"{text}; at which snapshot it fell is not known: {inert(line.unknown or '')}"
    good = "" if line.last_good is None else f"; {line.last_good} was still as good"
    return f"{text}: it fell at snapshot {line.fell_at}{good}"
