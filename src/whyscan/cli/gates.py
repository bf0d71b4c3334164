"""Gates from the command line: for one table, or for a statement and tables of it by name."""

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


def gates_of_table(asked: Mapping[str, Any]) -> Gates:
    """Those of `explain TABLE`: a name before a threshold has no meaning there."""
    from whyscan.reports.gates import Gates

    found = _by_name(asked)
    whole = found.pop(None)
    for name in found:
        raise UsageError(
            f"a gate is for {name!r}, which is a table of no statement",
            hint="names before gates go with --sql",
        )
    return Gates(**whole)


def gates_of_statement(asked: Mapping[str, Any]) -> StatementGates:
    """Those of `explain --sql`."""
    from whyscan.reports.gates import Gates
    from whyscan.statements.reports.gates import StatementGates

    found = _by_name(asked)
    whole = Gates(**found.pop(None))
    return StatementGates(whole, {str(name): Gates(**gates) for name, gates in found.items()})


def _by_name(asked: Mapping[str, Any]) -> dict[str | None, dict[str, Any]]:
    """The gates without a name under None, and those of each name; the last one said holds."""
    found: dict[str | None, dict[str, Any]] = defaultdict(dict)
    found[None].update({flag: asked[flag] for flag in FLAGS})
    found[None]["assert_stats"] |= asked["assert_stats_columns"] is not None
    for gate in THRESHOLDS:
        for name, threshold in asked[gate]:
            found[name][gate] = threshold
    for flag in FLAGS:
        for name in asked[f"{flag}_of"]:
            found[name][flag] = True
    return found
