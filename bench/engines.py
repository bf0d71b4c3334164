"""DuckDB and DataFusion through whyscan, against other ways to the same tables.

One percent of a clustered table of 1,000 files, from opening the table to the answer; and all of
it, against PyArrow's own dataset of the same files.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import datafusion
import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
from clustered import FIRST, WANTED, Clustered, clustered
from deltalake import DeltaTable
from duckdb_peer import PYTHON, OwnReaders
from measure import Ratio, compare
from pyiceberg.table import StaticTable

import whyscan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PREDICATE = f"id >= {FIRST} AND id < {FIRST + WANTED}"
SQL = f"SELECT sum(user_id), max(note), count(*) FROM t WHERE {PREDICATE}"
COLUMNS = ("user_id", "note", "id")
Options = dict[str, str] | None


def measurements(folder: Path) -> Iterator[Ratio]:
    """Both engines over both formats; the peers' budgets are the issue's."""
    table = clustered(folder / "engines")
    for engine, ask in ASK.items():
        for name, ours, peers in cases(table.delta, table.iceberg, None):
            for peer, theirs in peers.items():
                assert ask(ours) == ask(theirs)
                work = f"1 % of 1,000 files, {engine}, {name}"
                yield compare(work, peer, 1.0, partial(ask, ours), partial(ask, theirs))
    yield from _own_readers(table)
    yield compare(
        "all of 1,000 files",
        "PyArrow's dataset",
        1.1,
        lambda: whyscan.open(table.delta).to_dataset().to_table(),
        lambda: ds.dataset(list(table.files)).to_table(),
    )


def _own_readers(table: Clustered) -> Iterator[Ratio]:
    """DuckDB through whyscan against DuckDB's own readers; nothing where they are not installed."""
    if not PYTHON.exists():
        return
    own = OwnReaders()
    readers = {
        "delta_scan": ("Delta", table.delta, f"delta_scan('{table.delta}')"),
        "iceberg_scan": ("Iceberg", table.iceberg, f"iceberg_scan('{table.iceberg}')"),
    }
    for peer, (name, place, reader) in readers.items():
        sql = SQL.replace("FROM t", f"FROM {reader}")

        def through(place: str = place) -> list[object]:
            return by_duckdb(lambda: whyscan.open(place).to_dataset())

        assert own.ask(sql) == str(through())
        work = f"1 % of 1,000 files, DuckDB, {name}"
        yield compare(work, f"DuckDB's {peer}", 1.0, through, partial(own.ask, sql))
    own.close()


Source = ds.Dataset | pa.Table


def cases(
    delta: str, iceberg: str, options: Options, of_pyiceberg: Options = None
) -> Iterator[tuple[str, Callable[[], Source], dict[str, Callable[[], Source]]]]:
    """A format, the table through whyscan, and through each peer."""

    def through(place: str) -> ds.Dataset:
        return whyscan.open(place, storage=options).to_dataset()

    def by_delta_rs() -> ds.Dataset:
        return DeltaTable(delta, storage_options=options).to_pyarrow_dataset()

    def by_pyiceberg() -> pa.Table:
        table = StaticTable.from_metadata(iceberg, of_pyiceberg or {})
        return table.scan(row_filter=PREDICATE, selected_fields=COLUMNS).to_arrow()

    yield "Delta", partial(through, delta), {"delta-rs": by_delta_rs}
    yield "Iceberg", partial(through, iceberg), {"PyIceberg": by_pyiceberg}


def by_duckdb(source: Callable[[], Source]) -> list[object]:
    """The answer of DuckDB."""
    connection = duckdb.connect()
    connection.register("t", source())
    return connection.sql(SQL).fetchall()


def by_datafusion(source: Callable[[], Source]) -> list[object]:
    """The answer of DataFusion."""
    context = datafusion.SessionContext()
    table = source()
    dataset = ds.InMemoryDataset(table) if isinstance(table, pa.Table) else table
    context.register_dataset("t", dataset)
    return [tuple(row.values()) for row in context.sql(SQL).to_arrow_table().to_pylist()]


ASK = {"DuckDB": by_duckdb, "DataFusion": by_datafusion}
