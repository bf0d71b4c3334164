"""The sentences of a statement's report, for every output format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports.phrases import in_whole_files, why
from whyscan.reports.view import JoinedScans
from whyscan.reports.words import counted, inert, inert_sql, percent, size, sizes
from whyscan.statements.roles import Origin, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.statements.records import (
        Amount,
        Dynamic,
        DynamicOfEngine,
        Placed,
        Rewrite,
        ScanReport,
        StatementReport,
        Stayed,
        Supply,
    )

LONGEST_CONDITION = 400


def answer(report: StatementReport) -> str:
    """Write the answer in one line: how much is read, and which scan reads most of it."""
    return ": ".join(filter(None, headline(report)))


def headline(report: StatementReport) -> tuple[str, str | None]:
    """Write how much is read, and apart from it what removed the rest or reads the most."""
    read = report.reading
    if not report.scans:
        return "reads nothing", "the statement scans no table"
    if all(scan.answer is not None for scan in report.scans):
        return "reads nothing", "metadata answers it"
    if not read.total:
        return "reads nothing", "there are no files"
    removals = [
        scan.rewrite for scan in report.scans if scan.rewrite and scan.rewrite.removed.files
    ]
    if removals and not read.kept:
        return "reads nothing", changed(removals[0])
    scans = "" if len(report.scans) == 1 else f" in {counted(len(report.scans), 'scan')}"
    reasons = "; ".join(filter(None, (_mostly(report), _less(report))))
    in_layouts = any(scan.report.hypothetical is not None for scan in report.scans)
    verb = "would read" if in_layouts else "reads"
    return f"{verb} {share_read(report)}{scans}", reasons or None


def share_read(report: StatementReport) -> str:
    """`14 of 230 files (6.1 %), 1.2 GB of 40 GB in whole files (90 MB in the selected columns)`."""
    read = report.reading
    share = f"{read.kept:,} of {counted(read.total, 'file')} ({percent(read.kept, read.total)})"
    weight = sizes(read.bytes_kept, read.bytes_total)
    return f"{share}, {weight}{_selected_part(report)}" if weight else share


def _selected_part(report: StatementReport) -> str:
    """The bytes of the columns that all scans read, beside the bytes of whole files."""
    scans = [scan for scan in report.scans if scan.answer is None]
    selections = [scan.report.selection for scan in scans]
    if None in selections:
        return ""
    parts = [
        None if scan.rewrite is not None or selection is None else selection.bytes
        for scan, selection in zip(scans, selections, strict=True)
    ]
    sized = [part for part in parts if part is not None]
    return in_whole_files(sum(sized) if len(sized) == len(parts) else None)


def _mostly(report: StatementReport) -> str:
    """Write the reason for one scan, else which scan reads most; empty if none reads anything."""
    if len(report.scans) == 1:
        return why(report.scans[0].report)
    at = heaviest(report)
    if at is None:
        return ""
    read = report.scans[at].reading
    weight = "" if read.bytes_kept is None else f"{size(read.bytes_kept)} in "
    return f"most by {inert(report.titles[at])}, {weight}{counted(read.kept, 'file')}"


def _less(report: StatementReport) -> str:
    """Write how many files remain in an engine that passes joined values to the scans."""
    least = sum(_with_joins(scan) for scan in report.scans)
    if least >= report.reading.kept:
        return ""
    files = f"at most {counted(least, 'file')}" if least else "no file"
    return f"{files} with what joins supply"


def _with_joins(scan: ScanReport) -> int:
    supplied = None if scan.dynamic is None else scan.dynamic.bounded
    kept = scan.reading.kept
    return kept if supplied is None else min(kept, supplied.files)


def heaviest(report: StatementReport) -> int | None:
    """The position of the scan with the most bytes, or files where bytes are unknown."""
    readings = [scan.reading for scan in report.scans]
    all_sized = all(read.bytes_kept is not None for read in readings)
    weights = [(read.bytes_kept or 0) if all_sized else read.kept for read in readings]
    return weights.index(max(weights)) if weights and any(weights) else None


def target(scan: ScanReport) -> str | None:
    """`the target` for the table that is changed, else None."""
    return "the target" if scan.role is Role.TARGET else None


def conditions_above(scan: ScanReport, report: StatementReport) -> Iterator[Stayed]:
    """The conditions above the scan, without the conditions of joins, which are listed apart."""
    if not scan.above:
        return
    joins = {edge.sql for edge in report.joins}
    yield from (condition for condition in scan.above if condition.sql not in joins)


def condition(sql: str) -> str:
    """A condition on one line; a very long one is cut."""
    shown = inert_sql(sql)
    return shown if len(shown) <= LONGEST_CONDITION else f"{shown[: LONGEST_CONDITION - 1]}…"


def origin_text(placed: Placed) -> str | None:
    """The origin of a condition that is not in the statement as it is, else None."""
    written = inert_sql(placed.written)
    match placed.origin:
        case Origin.WRITTEN:
            return None
        case Origin.SPREAD:
            way = "" if placed.via is None else f", by {inert_sql(placed.via)}"
            return f"from {written}{way}"
        case Origin.PART:
            return f"part of {written}"
        case Origin.JOIN:
            way = "" if placed.via is None else f", by {inert_sql(placed.via)}"
            return f"the values of {written}{way}"


def answers(dynamic: Dynamic) -> Iterator[tuple[str, str, Amount | None]]:
    """The three amounts with their names and meanings."""
    yield "static", "without the values that joins supply", dynamic.static
    yield "bounded", "with what metadata guarantees of them", dynamic.bounded
    yield "actual", "with the values themselves", dynamic.actual


def amount_cells(amount: Amount | None) -> tuple[str, str, str]:
    """The cells of files, bytes and rows."""
    if amount is None:
        return "-", "-", "-"
    rows = "unknown" if amount.rows is None else f"{amount.rows:,}"
    return f"{amount.files:,}", size(amount.bytes), rows


def amount(read: Amount) -> str:
    """`4 files (20 kB, 200 rows)`."""
    details = [size(read.bytes)] if read.bytes is not None else []
    details += [counted(read.rows, "row")] if read.rows is not None else []
    return counted(read.files, "file") + (f" ({', '.join(details)})" if details else "")


def supplied(supply: Supply, report: StatementReport) -> str:
    """`month by o.month = d.month, from days d: 1 to 3, 2 values read`."""
    empty = supply.source is not None and not report.scans[supply.source].reading.kept
    details = ["no value, because it reads no file"] if empty else []
    if supply.low is not None or supply.high is not None:
        details.append(f"{inert(supply.low or 'anything')} to {inert(supply.high or 'anything')}")
    if supply.keys is not None:
        details.append(f"{counted(supply.keys, 'value')} read")
    source = "" if supply.source is None else f", from {inert(report.titles[supply.source])}"
    values = ", ".join(details) or "nothing is known of the values"
    return f"{inert_sql(supply.column)} by {inert_sql(supply.sql)}{source}: {values}"


def reached(engine: DynamicOfEngine) -> str:
    """`duckdb reaches bounded: a hash join gives … (by its documentation)`."""
    name, why = inert(engine.engine), inert(engine.why)
    return f"{name} reaches {engine.reaches}: {why} (by its documentation)"


def changed(rewrite: Rewrite) -> str:
    """`merge removes 2 files (…) whole and rewrites at most 4 files (…)`."""
    parts = []
    if rewrite.removed.files:
        parts.append(f"removes {amount(rewrite.removed)} whole")
    if rewrite.rewritten.files:
        parts.append(f"rewrites at most {amount(rewrite.rewritten)}")
    return f"{inert(rewrite.operation)} {' and '.join(parts) or 'rewrites no file'}"


def joins(report: StatementReport) -> list[JoinedScans]:
    """Return the joins, with all conditions between two scans in one entry."""
    conditions: dict[tuple[str, int, int], list[str]] = {}
    for edge in report.joins:
        conditions.setdefault((edge.kind, edge.left, edge.right), []).append(edge.sql)
    return [JoinedScans(*ends, " AND ".join(filter(None, sql))) for ends, sql in conditions.items()]


def unresolved(report: StatementReport) -> bool:
    """Whether values of joins could be read, and were not."""
    return any(scan.dynamic is not None and scan.dynamic.actual is None for scan in report.scans)
