"""The gates of the command line: for one table, or for a statement and its tables by name."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from whyscan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whyscan.reports.gates import Gates
    from whyscan.statements.reports.gates import StatementGates

THRESHOLDS = ("min_pruning", "min_pruning_bytes", "max_files", "max_bytes")
FLAGS = ("assert_stats", "require_partition_filter")


def gates_of_table(arguments: Mapping[str, Any]) -> Gates:
    """Return the gates of `explain TABLE`; a name before a threshold is an error there."""
    from whyscan.reports.gates import Gates

    by_name = _by_name(arguments)
    gates = by_name.pop(None)
    for name in by_name:
        raise UsageError(
            f"a gate is for {name!r}, which is a table of no statement",
            hint="names before gates go with --sql",
        )
    return Gates(**gates)


def gates_of_statement(arguments: Mapping[str, Any]) -> StatementGates:
    """Return the gates of `explain --sql`."""
    from whyscan.reports.gates import Gates
    from whyscan.statements.reports.gates import StatementGates

    by_name = _by_name(arguments)
    statement_gates = Gates(**by_name.pop(None))
    return StatementGates(
        statement_gates, {str(name): Gates(**gates) for name, gates in by_name.items()}
    )


def _by_name(arguments: Mapping[str, Any]) -> dict[str | None, dict[str, Any]]:
    """Return the gates by table name, those without a name under None; the last value wins."""
    by_name: dict[str | None, dict[str, Any]] = defaultdict(dict)
    by_name[None].update({flag: arguments[flag] for flag in FLAGS})
    by_name[None]["assert_stats"] |= arguments["assert_stats_columns"] is not None
    for gate in THRESHOLDS:
        for name, threshold in arguments[gate]:
            by_name[name][gate] = threshold
    for flag in FLAGS:
        for name in arguments[f"{flag}_of"]:
            by_name[name][flag] = True
    return by_name
