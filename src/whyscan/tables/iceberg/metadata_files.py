"""Opens the Avro files of an Iceberg table: manifest lists and manifests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from whyscan.errors import CorruptFile, TableError
from whyscan.tables import budget
from whyscan.tables.avro.containers import Container, Headers
from whyscan.tables.iceberg.avro_schemas import RecordLayout, layout
from whyscan.tables.storage.store import ByteRange

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from whyscan.tables.iceberg.metadata_location import Places
    from whyscan.tables.storage.store import Store


_RECENT_BYTES = 1 << 22


class MetadataFiles(Struct, frozen=True):
    """Opens the manifest lists and manifests of one table, several in parallel.

    `recent` are the manifests of a store that were opened last, if they are small: they are opened
    once to plan and once more to read their files.
    """

    store: Store
    places: Places
    headers: Headers = field(default_factory=Headers)
    layouts: dict[bytes, RecordLayout] = field(default_factory=dict)
    recent: dict[ByteRange, pa.Buffer] = field(default_factory=dict)

    def open(self, recorded: str) -> Container:
        """One file, by its recorded path."""
        path = self.places.metadata(recorded)
        data = self.store.read_object(path, budget.largest_object() + 1)
        if data is None:
            raise TableError(
                f"{self.store.shown(path)} is missing, and the snapshot needs it",
                hint="copy the whole metadata folder, or name another snapshot",
            )
        budget.check_object_size(len(data), self.store.shown(path))
        return self.container(path, data.to_pybytes())

    def open_many(
        self, recorded: Sequence[str], sizes: Sequence[int], counts: Sequence[int | None]
    ) -> Iterator[Container]:
        """Several files in order, by their recorded paths, sizes and numbers of entries."""
        paths = [self.places.metadata(path) for path in recorded]
        for path, size in zip(paths, sizes, strict=True):
            if size <= 0:
                raise CorruptFile(self.store.shown(path), f"{size} bytes are no manifest")
            budget.check_object_size(size, self.store.shown(path))
        ranges = [ByteRange(path, 0, size) for path, size in zip(paths, sizes, strict=True)]
        contents = self._contents(ranges)
        for path, size, count, data in zip(paths, sizes, counts, contents, strict=True):
            container = self.container(path, data.to_pybytes())
            # A manifest truncated after a block reads as one with fewer files. Some writers
            # record a wrong size, but the right count of entries.
            if len(data) != size and sum(block.count for block in container.blocks()) != count:
                why = f"it has {len(data)} bytes, and its manifest list says {size}"
                raise CorruptFile(self.store.shown(path), why)
            yield container

    def _contents(self, ranges: Sequence[ByteRange]) -> Iterator[pa.Buffer]:
        if self.store.folder is not None or sum(r.length for r in ranges) > _RECENT_BYTES:
            return self.store.read_many(ranges)
        if any(r not in self.recent for r in ranges):
            contents = list(self.store.read_many(ranges))
            self.recent.clear()
            self.recent.update(zip(ranges, contents, strict=True))
        return iter([self.recent[r] for r in ranges])

    def container(self, path: str, data: bytes) -> Container:
        return self.headers.container(self.store.shown(path), data)

    def layout(self, container: Container) -> RecordLayout:
        """The layout of a file's records, computed once per schema."""
        schema = container.header.metadata["avro.schema"]
        if schema not in self.layouts:
            self.layouts[schema] = layout(container.path, container.header.schema)
        return self.layouts[schema]
