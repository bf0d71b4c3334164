"""Advice on some tables of a workload. The parts of several processes make one advice."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from whyscan.errors import TableError, WhyscanError
from whyscan.layouts.advice import Advice, UnadvisedTable, UnreadQuery, advice_on
from whyscan.layouts.replay import TableReplay
from whyscan.layouts.table_scans import scans_by_table
from whyscan.planning.plan.request import options_of
from whyscan.profiles.engine_names import named_profiles
from whyscan.reports.words import counted
from whyscan.tables import open_snapshot
from whyscan.tables.cached_snapshot import CachedSnapshot
from whyscan.tables.inventory.snapshot import InventorySnapshot
from whyscan.tables.time_travel import Travel
from whyscan.terms import PlanTerms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from whyscan.layouts.advice import TableAdvice
    from whyscan.layouts.table_scans import WorkloadQuery
    from whyscan.tables.snapshot import Snapshot


class UnparsedEntry(Protocol):
    """An entry of a log that is no query, or none that can be parsed."""

    @property
    def origin(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def why(self) -> str: ...


class AdvicePart(Struct, frozen=True):
    """What one process says of some tables; queries are named by their texts."""

    tables: tuple[TableAdvice, ...]
    failed: tuple[UnadvisedTable, ...]
    unread: Mapping[str, str]
    reading_everything: frozenset[str]
    of_other_tables: frozenset[str]


def advise_on_tables(
    names: Iterable[str],
    queries: Iterable[WorkloadQuery],
    tables: Mapping[str, Snapshot],
    timezone: str,
    sample_bytes: int,
    *,
    engines: Sequence[str] = (),
    storage: Mapping[str, object] = MappingProxyType({}),
    progress: Callable[[str], None] = lambda _: None,
) -> AdvicePart:
    """Advise on the tables of these names; queries may name the other tables, too.

    A table that cannot be read is listed with the reason. `storage` opens a table of an inventory
    for its sample.
    """
    profiles = named_profiles(engines)
    options = options_of(PlanTerms())
    scans = scans_by_table(queries, tables, timezone, options)
    advised, failed = [], []
    for name in names:
        try:
            snapshot = tables[name]
            of_table = scans.by_table[name]
            if not all(scan.reads_everything for scan in of_table):
                progress(f"laying out {name}")
                sampled = _table_itself(snapshot, storage) if sample_bytes else None
                replay = TableReplay(
                    snapshot, of_table, options, sample_bytes, profiles, sampled=sampled
                )
                advised.append(advice_on(name, replay, progress))
        except WhyscanError as error:
            hint = "" if error.hint is None else f" ({error.hint})"
            failed.append(UnadvisedTable(name, " ".join(f"{error.message}{hint}".split())))
    return AdvicePart(
        tuple(advised),
        tuple(failed),
        scans.unread,
        scans.reading_everything,
        scans.of_other_tables,
    )


def _table_itself(snapshot: Snapshot, storage: Mapping[str, object]) -> Snapshot | None:
    """The table behind the containers of an inventory, at their version; None for any other."""
    if isinstance(snapshot, CachedSnapshot):
        snapshot = snapshot.snapshot
    if not isinstance(snapshot, InventorySnapshot):
        return None
    has_versions = snapshot.format == "delta"
    travel = Travel(
        snapshot.version if has_versions else None,
        None if has_versions else snapshot.version,
        None,
        None,
    )
    return open_snapshot([snapshot.uri], {}, dict(storage), travel)


def joined(
    parts: Sequence[AdvicePart], unparsed: Iterable[UnparsedEntry], engines: Sequence[str] = ()
) -> Advice:
    """Join the parts; an error if there is nothing to advise on."""
    unread = {text: why for part in parts for text, why in part.unread.items()}
    everything = frozenset[str]().union(*(part.reading_everything for part in parts))
    elsewhere = frozenset[str]().union(*(part.of_other_tables for part in parts))
    lines = (
        *(UnreadQuery(text, why) for text, why in unread.items()),
        *(UnreadQuery(entry.text or entry.origin, entry.why) for entry in unparsed),
    )
    tables = [table for part in parts for table in part.tables]
    failed = tuple(table for part in parts for table in part.failed)
    if not tables:
        reasons = [
            *(f"table {table.table} could not be read: {table.why}" for table in failed[:1]),
            *_numbers(
                {
                    "read everything on purpose": len(everything),
                    "of other tables": len(elsewhere),
                    "could not be read": len(lines),
                }
            ),
        ] or ["the workload has no query"]
        conditions = "a layout helps queries with conditions; name the tables as the queries do"
        raise TableError(
            f"nothing to advise on: {', '.join(reasons)}", hint=None if failed else conditions
        )
    return Advice(
        tuple(sorted(tables, key=_change)),
        lines,
        len(everything),
        len(elsewhere),
        failed,
        tuple(f"{profile.name} {profile.version}" for profile in named_profiles(engines)),
    )


def _numbers(of_reasons: Mapping[str, int]) -> Iterator[str]:
    for reason, number in of_reasons.items():
        if number:
            yield f"{counted(number, 'query')} {reason}"


def _change(table: TableAdvice) -> int:
    """The bytes that the best layout reads more than today: a negative number."""
    return table.advice[0].bytes.after - table.today.bytes if table.advice else 0
