"""The row groups of a Delta table's data files, by the names that the files store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from whyscan.predicate.tree import Column
from whyscan.pruning.containers import Containers
from whyscan.tables.data_files import DataFiles
from whyscan.tables.parquet import schemas
from whyscan.tables.parquet.footers import read_footers
from whyscan.tables.parquet.metadata import Decoder
from whyscan.tables.parquet.statistics import measure
from whyscan.tables.snapshot import Files, RowGroups

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.predicate.tree import Path
    from whyscan.tables.data_files import Reached
    from whyscan.tables.delta.schema import DeltaColumn
    from whyscan.tables.parquet.footers import Footer
    from whyscan.tables.parquet.statistics import Measured
    from whyscan.tables.storage import Store


@dataclass(frozen=True, slots=True)
class Asked:
    """The columns of the predicate and of the result; `projection` None is every column."""

    columns: Sequence[Column]
    projection: Sequence[Path] | None


@dataclass(slots=True)
class _Watch:
    """Passes footers on, and keeps which columns some file did not have under their name."""

    columns: Sequence[Column]
    missing: set[Path] = field(default_factory=set)

    def over(self, footers: Iterator[Footer]) -> Iterator[Footer]:
        decoder = Decoder()
        for footer in footers:
            schema = decoder.schema(footer.data)
            self.missing |= {c.path for c in self.columns if schemas.find(schema, c.path) is None}
            yield footer


@dataclass(frozen=True, slots=True)
class StoredColumns:
    """How a table's columns are called in its files; `by_id`: a name is only a hint there."""

    columns: Mapping[Path, DeltaColumn]
    partitioned: frozenset[Path]
    by_id: bool

    def asked(self, columns: Sequence[Column]) -> dict[Path, Column]:
        """The columns that files store, by their logical path, under their stored one."""
        return {
            c.path: Column(self.columns[c.path].physical, c.type)
            for c in columns
            if c.path in self.columns and c.path not in self.partitioned
        }

    def projected(self, projection: Sequence[Path] | None) -> list[Path] | None:
        if projection is None:
            return None
        return [self.columns[p].physical for p in projection if p in self.columns]


def row_groups(
    store: Store, files: Files, opened: pa.Array, stored: StoredColumns, asked: Asked
) -> RowGroups:
    """The row groups of those files at `opened` that can be opened."""
    named = stored.asked(asked.columns)
    watch = _Watch(list(named.values()))

    def work(reached: Reached) -> Measured:
        footers = read_footers(store, reached.paths, reached.sizes)
        return measure(
            watch.over(footers) if stored.by_id else footers,
            watch.columns,
            stored.projected(asked.projection),
        )

    data = DataFiles(store, files, opened, lambda path: below(store, path))
    reached, found = data.read(work)
    # By id a column may stand under another name: that it is missing does not make it NULL.
    statistics = {
        path: found.statistics[column.path]
        for path, column in named.items()
        if column.path not in watch.missing
    }
    at = pa.array(reached.at, pa.int64())
    partition = files.containers.take(at.take(found.file)).partition
    return RowGroups(
        opened=at,
        file=found.file,
        ordinal=found.ordinal,
        bytes=found.bytes,
        ranges=found.ranges,
        containers=Containers(
            len(found.file), found.rows, partition=partition, statistics=statistics
        ),
        contradictions=found.contradictions,
        unchecked=reached.unchecked,
    )


def below(store: Store, path: str) -> str | None:
    """A data file's path below the table's folder, None for one that lies elsewhere."""
    local = path
    if path.startswith("file:"):
        local = "/" + path.removeprefix("file:").lstrip("/")
    if store.folder is not None and local.startswith("/"):
        local = local.removeprefix(store.folder.rstrip("/") + "/")
    elif path.startswith(store.uri.rstrip("/") + "/"):
        local = path.removeprefix(store.uri.rstrip("/") + "/")
    if local.startswith("/") or "://" in local or ".." in local.split("/"):
        return None
    return local
