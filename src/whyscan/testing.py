"""Pruning as a test: `assert_prunes` fails with the report if a predicate reads too much.

The pytest plugin of this package provides it as a fixture of the same name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.reports.report import Report
    from whyscan.table import Location, Table


def assert_prunes(
    table: Table | Location,
    where: str,
    *,
    min_pruning: float | None = None,
    min_pruning_bytes: float | None = None,
    max_files: int | None = None,
    max_bytes: int | None = None,
    assert_stats: bool | Sequence[str] = False,
    require_partition_filter: bool = False,
    select: Sequence[str] | None = None,
    dialect: str = "spark",
    timezone: str = "UTC",
    depth: str = "auto",
    full: bool = False,
    assume_no_nan: bool = False,
    verbose: bool = False,
    engines: str | Sequence[str] = (),
) -> Report:
    """Fail unless every gate holds; without a gate, fail unless the predicate skips a file.

    The gates are those of the command line:

    - `min_pruning` is the least share of files that is skipped, `min_pruning_bytes` of bytes, both
      in percent.
    - `max_files` and `max_bytes` are the most files and bytes that are read.
    - `assert_stats` fails if a file lacks statistics of the predicate's columns, or of the columns
      that it names.
    - `require_partition_filter` fails unless a condition on partition columns can skip files.

    The other parameters are those of `Table.explain`. Returns the report.
    """
    __tracebackhide__ = True
    from whyscan.reports.gates import Gates
    from whyscan.table import Table
    from whyscan.table import open as open_table

    gates = Gates(
        min_pruning=min_pruning,
        min_pruning_bytes=min_pruning_bytes,
        max_files=max_files,
        max_bytes=max_bytes,
        assert_stats=assert_stats is not False,
        require_partition_filter=require_partition_filter,
    )
    opened = table if isinstance(table, Table) else open_table(table)
    report = opened.explain(
        where,
        select=select,
        dialect=dialect,
        timezone=timezone,
        depth=depth,
        full=full,
        assume_no_nan=assume_no_nan,
        verbose=verbose,
        assert_stats=assert_stats,
        engines=engines,
    ).gated(gates)
    read = report.gated_reading
    removes_nothing = read.total > 0 and read.kept == read.total
    if not report.passed or (gates == Gates() and removes_nothing):
        raise AssertionError(f"{where!r} reads too much\n\n{report}")
    return report
