"""Pruning as a test: `assert_prunes` fails with the report if a predicate reads too much.

The pytest plugin of this package provides it as a fixture of the same name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whyscan.reports.report import Report
    from whyscan.table import Location, Table

GATES = (
    "min_pruning",
    "min_pruning_bytes",
    "max_files",
    "max_bytes",
    "assert_stats",
    "require_partition_filter",
)


def assert_prunes(table: Table | Location, predicate: str, **arguments: Any) -> Report:
    """Fail unless every gate holds; without a gate, fail unless the predicate skips a file.

    `arguments` are the gates of the command line (`min_pruning=90`, `max_files=10`, …) and the
    keyword arguments of `Table.explain`; `assert_stats` may be a list of columns. Returns the
    report.
    """
    __tracebackhide__ = True
    from whyscan.reports.gates import Gates
    from whyscan.table import Table
    from whyscan.table import open as open_table

    gates = {name: arguments.pop(name) for name in GATES if name in arguments}
    if asserted := gates.get("assert_stats"):
        arguments["assert_stats"], gates["assert_stats"] = asserted, True
    opened = table if isinstance(table, Table) else open_table(table)
    report = opened.explain(predicate, **arguments).gated(Gates(**gates))
    if not report.passed or (not gates and _removes_nothing(report)):
        raise AssertionError(f"{predicate!r} reads too much\n\n{report!r}")
    return report


def _removes_nothing(report: Report) -> bool:
    files = report.files_level
    return files.total > 0 and files.kept == files.total
