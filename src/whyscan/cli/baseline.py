"""`--baseline` and `--update-baseline`: compare a report with a file of earlier reports."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.cli.options import read_regular
from whyscan.cli.output import write_file
from whyscan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from whyscan.cli.options import GateOptions
    from whyscan.reports.baseline import Baseline, Key
    from whyscan.reports.gates import Assertion
    from whyscan.reports.report import Report
    from whyscan.statements.records import StatementReport

WHOLE = "*"
"""The table name of exemptions from gates on a whole statement."""


def against_baseline(report: Report, table: str, arguments: GateOptions) -> Report:
    """Add the outcomes of the baseline to a report, after an update of the file if asked for."""
    from whyscan.reports.baseline import Key

    question = report.question
    key = Key(table, question.predicate, question.dialect, question.timezone)
    return _checked(report, key, _read_or_update({key: report}, arguments))


def statement_against_baseline(report: StatementReport, arguments: GateOptions) -> StatementReport:
    """Do the same for a statement, of which each scan is one question."""
    from whyscan.reports.baseline import Key

    def key(table: str) -> Key:
        return Key(table, report.sql, report.dialect, report.timezone)

    scans = dict(zip(map(key, report.titles), report.scans, strict=True))
    baseline = _read_or_update({key: scan.report for key, scan in scans.items()}, arguments)
    return replace(
        report,
        scans=tuple(
            replace(scan, report=_checked(scan.report, key, baseline))
            for key, scan in scans.items()
        ),
        assertions=tuple(_excused(report.assertions, key(WHOLE), baseline)),
    )


def _read_or_update(reports: Mapping[Key, Report], arguments: GateOptions) -> Baseline:
    """Read the baseline; with --update-baseline, write these reports into it first."""
    from whyscan.reports.baseline import to_json

    path = arguments.baseline
    if path is None:
        raise UsageError("--update-baseline needs a file", hint="--baseline whyscan.json names it")
    baseline = _read(path, may_be_new=arguments.update_baseline)
    if arguments.update_baseline:
        for key, report in reports.items():
            baseline = baseline.updated(key, report)
        write_file(to_json(baseline), path)
    return baseline


def _checked(report: Report, key: Key, baseline: Baseline) -> Report:
    outcomes = [*report.assertions, *baseline.check(key, report)]
    return report.with_assertions(_excused(outcomes, key, baseline))


def _excused(outcomes: Iterable[Assertion], key: Key, baseline: Baseline) -> Iterable[Assertion]:
    today = datetime.now(UTC).date()
    return (baseline.excuse(key, outcome, today) for outcome in outcomes)


def _read(path: Path, *, may_be_new: bool) -> Baseline:
    from whyscan.reports.baseline import Baseline, read_baseline

    try:
        return read_baseline(read_regular(path), str(path))
    except FileNotFoundError as error:
        if may_be_new:
            return Baseline()
        hint = "--update-baseline writes it"
        raise UsageError(f"there is no baseline {path}", hint=hint) from error
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        why = "it is not UTF-8" if isinstance(error, UnicodeError) else why
        raise UsageError(f"cannot read the baseline {path}: {why}") from error
