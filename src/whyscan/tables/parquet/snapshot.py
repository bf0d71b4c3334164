"""A snapshot of a Hive table or of plain Parquet files: listing, folder names, footers."""

from __future__ import annotations

from collections import Counter
from itertools import repeat
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import CorruptFile, TableError
from whyscan.pruning.containers import Containers
from whyscan.pruning.transforms import IdentityTransform
from whyscan.tables.column_finder import Naming
from whyscan.tables.file_columns import DataFile, FileReading
from whyscan.tables.parquet import metadata_columns, partitions
from whyscan.tables.parquet.footers import read_footers
from whyscan.tables.parquet.levels_below import BelowParquetFooters
from whyscan.tables.parquet.paths import read_keys, visible
from whyscan.tables.parquet.statistics import read_schemas, read_statistics
from whyscan.tables.parquet.union import unite, with_partitions
from whyscan.tables.snapshot import Collected, Files, Recording, RowGroups, Traffic, Unreached
from whyscan.tree import zones
from whyscan.tree.names import folded
from whyscan.tree.types import OtherType, StructType

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from whyscan.tables.history import Registration
    from whyscan.tables.parquet.footers import Footer
    from whyscan.tables.parquet.partitions import Partitions
    from whyscan.tables.parquet.schemas import FileSchema
    from whyscan.tables.snapshot import Spec, SpecLine
    from whyscan.tables.storage.store import Store
    from whyscan.tree.nodes import Column, Path
    from whyscan.tree.types import Schema, Type
    from whyscan.tree.zones import Zone

_UTC = zones.zone("UTC")
_TRIED_FOR_SCHEMA = 3


class ParquetSnapshot(Struct, eq=False):
    """The listed files below one root folder, or those of a table that a catalog declares.

    The schema unites those of the first and the last file by path. All footers are read only if a
    query names a column that both files lack: partition pruning must not open every file. A catalog
    declares the columns (`declared`), and the format of each file (`formats`, None: all Parquet).
    """

    store: Store
    objects: pa.Table
    partitions: Partitions
    version: int | None = None
    footers_describe_files: bool = True
    notes: tuple[str, ...] = ()
    declared: Schema | None = None
    formats: pa.Array | None = None
    registration: Registration | None = None
    _schema: Schema | None = None
    _complete: bool = False

    @property
    def below(self) -> BelowParquetFooters:
        """Reads the indexes and filters of the data files."""
        return BelowParquetFooters(self.store)

    @property
    def uri(self) -> str:
        return self.store.uri

    @property
    def format(self) -> str:
        return "hive" if self.partitions.fields or self.declared is not None else "parquet"

    @property
    def partition_sources(self) -> tuple[Path, ...]:
        return tuple((f.name,) for f in self.partitions.fields)

    @property
    def specs(self) -> tuple[Spec, ...]:
        return ({path: (IdentityTransform(),) for path in self.partition_sources},)

    @property
    def numbered_specs(self) -> tuple[SpecLine, ...]:
        """Empty: Hive tables do not number partition specs."""
        return ()

    def schema(self, named: Sequence[str] = ()) -> Schema:
        """The columns of files and folders. For a name that is missing, all footers are read."""
        if self.declared is not None:
            return with_partitions(self.declared, self.partitions.fields)
        if self._schema is None:
            self._schema = self._sampled()
        if not self._complete and not self._schema.has_all(named):
            footers = self._footers(range(self.objects.num_rows))
            self._schema = unite([self._schema, *_distinct(read_schemas(footers))])
            self._complete = True
        return with_partitions(self._schema, self.partitions.fields)

    def _sampled(self) -> Schema:
        """The united schema of the first and the last file."""
        last = self.objects.num_rows - 1
        return unite([self._any_schema(range(last + 1)), self._any_schema(range(last, -1, -1))])

    def _any_schema(self, positions: Sequence[int]) -> Schema:
        """The first schema that can be read: a query may never scan a damaged file."""
        failures = []
        for at in positions[:_TRIED_FOR_SCHEMA]:
            try:
                return next(read_schemas(self._footers([at]))).schema()
            except CorruptFile as error:
                failures.append(error)
        raise failures[0]

    def _footers(self, at: Collection[int]) -> Iterator[Footer]:
        chosen = self.objects.take(pa.array(at, pa.int64()))
        return read_footers(self.store, chosen["path"].to_pylist(), chosen["size"].to_pylist())

    def manifests(self) -> None:
        """None: these tables have no manifests."""

    def files(
        self,
        columns: Sequence[Column],
        zone: Zone | None = None,
        manifests: pa.Array | None = None,  # noqa: ARG002 - there are none
    ) -> Files:
        """Every file with its partition values; `zone` is the session's, None if it is unknown."""
        paths = {column.path for column in columns}
        partition = self.partitions.intervals(zone)
        constant = metadata_columns.constants(self.store, self.objects, paths)
        return Files(
            read_paths=self.objects["path"].combine_chunks,
            bytes=self.objects["size"].combine_chunks(),
            rows=pa.nulls(self.objects.num_rows, pa.int64()),
            partition=self.partitions.table(zone or _UTC),
            formats=self.formats,
            containers=Containers(self.objects.num_rows, partition={**partition, **constant}),
        )

    def row_groups(
        self,
        files: Files,
        opened: pa.Array,
        columns: Sequence[Column],
        projection: Sequence[Path] | None,
        *,
        keep_footers: bool = False,
    ) -> RowGroups:
        """The row groups of the files at `opened`; `projection` None means every column."""
        elsewhere = {*folded(f.name for f in self.partitions.fields), metadata_columns.FILE_PATH[0]}
        in_files = [c for c in columns if c.path[0].lower() not in elsewhere]
        readable, unchecked = self._parquet_files(opened)
        footers = self._footers(readable.to_pylist())
        measured = read_statistics(footers, in_files, projection, keep_footers=keep_footers)
        return measured.row_groups(readable, files.containers, unchecked)

    def _parquet_files(self, at: pa.Array) -> tuple[pa.Array, tuple[Unreached, ...]]:
        """The Parquet files among those at these positions, and how many others there are."""
        if self.formats is None:
            return at, ()
        formats = self.formats.take(at)
        others = Counter(name for name in formats.to_pylist() if name != "parquet")
        unchecked = (
            Unreached(f"of the format {name}", count, len(at)) for name, count in others.items()
        )
        return at.filter(pc.equal(formats, "parquet")), tuple(unchecked)

    def reading(self, files: Files, at: pa.Array, zone: Zone) -> FileReading:
        """How to read the rows of the files at `at`, with the columns of all these files."""
        from whyscan.tables.parquet.file_columns import FooterSchemas, columns

        footers = FooterSchemas(self.declared or self._schema or self._sampled())
        at_least = [] if self.declared is not None else [self.objects.num_rows - 1]
        footers.add(self._footers(self._parquet_files(at)[0].to_pylist() or at_least))
        united, types = footers.columns()
        united = self.declared or united
        constants = self.partitions.constants(zone)
        paths = files.paths.take(at).to_pylist()
        formats = repeat("parquet") if self.formats is None else self.formats.take(at).to_pylist()
        data_files = (
            DataFile(*self.store.place(path), kind, {p: v[i] for p, v in constants.items()})
            for i, path, kind in zip(at.to_pylist(), paths, formats, strict=False)
        )
        schema = with_partitions(united, self.partitions.fields)
        return FileReading(columns(schema, types), tuple(data_files), Naming())

    def recording(self, column: Column) -> Recording:
        """Parquet writers decide themselves; nested and unsupported types have no bounds."""
        if isinstance(column.type, OtherType | StructType):
            return Recording(Collected.NEVER, f"footers keep no bounds of type {column.type}")
        return Recording(Collected.YES)

    def traffic(self) -> Traffic:
        return self.store.meter.traffic()

    def parts(self, files_each: int) -> tuple[ParquetSnapshot, ...]:
        """Snapshots of at most `files_each` files, in the order of the listing, with one schema."""
        self.schema()
        firsts = range(0, self.objects.num_rows, files_each)
        return tuple(self._part(first, files_each) for first in firsts)

    def _part(self, first: int, count: int) -> ParquetSnapshot:
        # A slice would be pickled with the buffers of all files.
        at = pa.array(range(first, min(first + count, self.objects.num_rows)), pa.int64())
        part = self.at(at)
        return replace(part, store=self.store.unread_copy(), partitions=part.partitions.compact())

    def at(self, files: pa.Array) -> ParquetSnapshot:
        """The snapshot with the files at these positions alone."""
        return replace(
            self,
            objects=self.objects.take(files).combine_chunks(),
            partitions=self.partitions.at(files),
            formats=None if self.formats is None else self.formats.take(files),
        )


def open_parquet(
    store: Store, objects: pa.Table, partition_types: Mapping[str, Type]
) -> ParquetSnapshot:
    """The snapshot of a listing. No file is opened."""
    objects = objects.filter(visible(objects["path"].combine_chunks())).combine_chunks()
    partitioned = partitions.typed(read_keys(objects["path"].combine_chunks()), partition_types)
    # A failed writer leaves an empty file behind: Spark does not read it.
    data = pc.and_(pc.greater(objects["size"], 0), partitioned.keys.folder.is_valid())
    at = pc.indices_nonzero(data).cast(pa.int64())
    if not len(at):
        if objects.num_rows and not pc.max(objects["size"]).as_py():
            one = store.shown(objects["path"][0].as_py()) if objects.num_rows == 1 else None
            raise TableError(
                f"every Parquet file of {store.uri} is empty" if one is None else f"{one} is empty",
                hint="a file of 0 bytes is what a failed writer leaves; Spark skips it, too",
            )
        raise TableError(
            f"{store.uri} holds no Parquet files",
            hint="names that begin with _ or . are not data; name the folder above the files",
        )
    return ParquetSnapshot(store, objects.take(at).combine_chunks(), partitioned.at(at))


def _distinct(schemas: Iterator[FileSchema]) -> Iterator[Schema]:
    """Each schema once: footers with the same bytes share one FileSchema object."""
    by_id: dict[int, FileSchema] = {}
    for schema in schemas:
        if id(schema) not in by_id:
            by_id[id(schema)] = schema
            yield schema.schema()
