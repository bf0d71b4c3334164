"""Gates on a statement: on the sum of its scans, and on single tables."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - `help` resolves the types of fields
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import UsageError
from whyscan.reports.gates import Gates, assertions, assertions_on

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.gates import Assertion
    from whyscan.statements.records import ScanReport, StatementReport


class StatementGates(Struct, frozen=True):
    """The gates of a statement.

    `whole` applies to the statement: limits on amounts to the sum of its scans, all other gates to
    each scan. `tables` has gates by name or alias of a table; they apply to every scan of it.
    """

    whole: Gates = Gates()
    tables: Mapping[str, Gates] = MappingProxyType({})


def gated(report: StatementReport, gates: StatementGates) -> StatementReport:
    """The report with the outcome of each gate, for the statement and for each scan."""
    for name in gates.tables:
        if not any(_called(scan, name) for scan in report.scans):
            names = ", ".join(dict.fromkeys(scan.name for scan in report.scans))
            raise UsageError(
                f"a gate is for {name!r}, which the statement does not scan",
                hint=f"its tables are {names}" if names else "it scans no table",
            )
    return replace(
        report,
        scans=tuple(
            replace(scan, report=scan.report.with_assertions(_on_scan(scan, gates)))
            for scan in report.scans
        ),
        assertions=tuple(assertions_on(report.reading, gates.whole)),
    )


def _on_scan(scan: ScanReport, gates: StatementGates) -> Iterator[Assertion]:
    """The outcomes of the gates on every scan, then of the gates on this scan's table."""
    every_scan = Gates(
        assert_stats=gates.whole.assert_stats,
        # A table without partitions cannot be filtered by them.
        require_partition_filter=gates.whole.require_partition_filter
        and bool(scan.report.table.partitioned_by),
    )
    scan_gates = [
        every_scan,
        *(gates_of_table for name, gates_of_table in gates.tables.items() if _called(scan, name)),
    ]
    yielded = set()
    for one_gates in scan_gates:
        for outcome in _outcomes(scan, one_gates):
            if (outcome.name, outcome.threshold) not in yielded:
                yielded.add((outcome.name, outcome.threshold))
                yield outcome


def _outcomes(scan: ScanReport, gates: Gates) -> Iterator[Assertion]:
    yield from assertions_on(scan.reading, gates)
    rest = Gates(
        assert_stats=gates.assert_stats, require_partition_filter=gates.require_partition_filter
    )
    yield from assertions(scan.report, rest)


def _called(scan: ScanReport, name: str) -> bool:
    """Whether the name is the name or alias of the scan's table, in any case."""
    return name.lower() in {scan.name.lower(), scan.alias.lower()}
