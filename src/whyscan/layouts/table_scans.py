"""What a workload asks of each table: the predicate of every scan, with the runs of its query."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from whyscan.errors import UnknownTable, WhyscanError
from whyscan.predicate.syntax.session import Session
from whyscan.statements.scans import EVERYTHING, bind_statement, placed_scans, predicate_of
from whyscan.statements.sql.table_names import Catalogue

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from whyscan.planning.plan.scan_plan import Options
    from whyscan.tables.snapshot import Snapshot
    from whyscan.tree.nodes import Predicate


class WorkloadQuery(Protocol):
    """A query of a workload: its text, its dialect and how often it ran."""

    @property
    def text(self) -> str: ...
    @property
    def dialect(self) -> str: ...
    @property
    def times(self) -> int: ...


class TableScan(Struct, frozen=True):
    """One scan of a table in a query that ran `runs` times."""

    query: str
    runs: int
    predicate: Predicate

    @property
    def reads_everything(self) -> bool:
        """Whether the query asks for all rows, so that no layout reads less."""
        return self.predicate.conjuncts == (EVERYTHING,)


class TableScans(Struct, frozen=True):
    """The scans of each table by its name, and why queries cannot be read, by their text.

    `of_other_tables` are the queries that name a table which is not among them.
    """

    by_table: Mapping[str, tuple[TableScan, ...]]
    unread: Mapping[str, str]
    of_other_tables: frozenset[str]

    @property
    def reading_everything(self) -> frozenset[str]:
        """The queries that ask for all rows of a table."""
        scans = chain.from_iterable(self.by_table.values())
        return frozenset(scan.query for scan in scans if scan.reads_everything)


def scans_by_table(
    queries: Iterable[WorkloadQuery],
    tables: Mapping[str, Snapshot],
    timezone: str,
    options: Options,
) -> TableScans:
    """Bind every query and collect the scans of the tables; what joins supply is left out.

    A scan of another version of a table is left out, because a layout changes the newest one.
    """
    by_table: dict[str, list[TableScan]] = {name: [] for name in tables}
    unread: dict[str, str] = {}
    of_other_tables: set[str] = set()
    catalogue = Catalogue(tables)
    for query in queries:
        try:
            session = Session(query.dialect, timezone)
            statement = bind_statement(query.text, catalogue, session, options)
            leaves = placed_scans(statement)
        except UnknownTable:
            of_other_tables.add(query.text)
            continue
        except WhyscanError as error:
            unread[query.text] = error.message
            continue
        for leaf in leaves:
            if leaf.base.version is None:
                predicate = predicate_of(leaf.facts, statement)
                by_table[leaf.base.name].append(TableScan(query.text, query.times, predicate))
    scans = {name: tuple(of_table) for name, of_table in by_table.items()}
    return TableScans(scans, unread, frozenset(of_other_tables))
