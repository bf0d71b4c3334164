"""`--baseline` and `--update-baseline`: a report held against a file of earlier ones."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from whyscan.cli.output import write_file
from whyscan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from whyscan.explain.baseline import Baseline
    from whyscan.explain.report import Report


def against_baseline(report: Report, table: str, asked: Mapping[str, Any]) -> Report:
    """The report with what the baseline says of it, after that was brought up to date."""
    from whyscan.explain.baseline import Key, to_json

    path: Path | None = asked["baseline"]
    if path is None:
        raise UsageError("--update-baseline needs a file", hint="--baseline whyscan.json names it")
    put = report.question
    key = Key(table, put.predicate, put.dialect, put.timezone)
    baseline = _read(path, may_be_new=asked["update_baseline"])
    if asked["update_baseline"]:
        baseline = baseline.updated(key, report)
        write_file(to_json(baseline), path)
    outcomes = [*report.assertions, *baseline.check(key, report)]
    today = datetime.now(UTC).date()
    return report.held(baseline.excuse(key, outcome, today) for outcome in outcomes)


def _read(path: Path, *, may_be_new: bool) -> Baseline:
    from whyscan.explain.baseline import Baseline, read_baseline

    try:
        return read_baseline(path.read_text("utf-8"), str(path))
    except FileNotFoundError as error:
        if may_be_new:
            return Baseline()
        hint = "--update-baseline writes it"
        raise UsageError(f"there is no baseline {path}", hint=hint) from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the baseline {path}: {error}") from error
