"""The gates of the command line: for one table, or for a statement and its tables by name."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec import convert

from whyscan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.cli.options import GateOptions
    from whyscan.reports.gates import Gates, StatementGates


def thresholds_of_table(arguments: GateOptions) -> dict[str, float | bool]:
    """Return the values of the gates of `explain TABLE`; a table's name is an error there."""
    by_name = _by_name(arguments)
    thresholds = by_name.pop(None)
    for name in by_name:
        raise UsageError(
            f"a gate is for {name!r}, but names of tables before gates go with --sql",
            hint="without --sql, TABLE is the one table: leave the name out",
        )
    return thresholds


def gates_of_table(thresholds: dict[str, float | bool]) -> Gates:
    """Return the gates with these values. Their module imports the parser: it is called late."""
    from whyscan.reports.gates import Gates

    return convert(thresholds, Gates)


def gates_of_statement(arguments: GateOptions) -> StatementGates:
    """Return the gates of `explain --sql`."""
    from whyscan.reports.gates import Gates, StatementGates

    by_name = _by_name(arguments)
    statement_gates = convert(by_name.pop(None), Gates)
    return StatementGates(
        statement_gates, {str(name): convert(gates, Gates) for name, gates in by_name.items()}
    )


def _by_name(arguments: GateOptions) -> dict[str | None, dict[str, float | bool]]:
    """Return the gates by table name, those without a name under None; the last value wins."""
    by_name: dict[str | None, dict[str, float | bool]] = defaultdict(dict)
    by_name[None] = {
        "assert_stats": arguments.assert_stats or arguments.assert_stats_columns is not None,
        "require_partition_filter": arguments.require_partition_filter,
    }
    thresholds: dict[str, Sequence[tuple[str | None, float]]] = {
        "min_pruning": arguments.min_pruning,
        "min_pruning_bytes": arguments.min_pruning_bytes,
        "max_files": arguments.max_files,
        "max_bytes": arguments.max_bytes,
        "max_cost": arguments.max_cost,
    }
    for gate, values in thresholds.items():
        for name, threshold in values:
            by_name[name][gate] = threshold
    for name in arguments.assert_stats_of:
        by_name[name]["assert_stats"] = True
    for name in arguments.require_partition_filter_of:
        by_name[name]["require_partition_filter"] = True
    return by_name
