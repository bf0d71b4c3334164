"""The live entries of manifests, in batches of one spec and one layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from whyscan.errors import CorruptFile, TableError
from whyscan.tables.iceberg.manifests import read_entries

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.tables.iceberg.avro import Container
    from whyscan.tables.iceberg.decoding import Decoded
    from whyscan.tables.iceberg.layouts import Layout
    from whyscan.tables.iceberg.metadata import Spec
    from whyscan.tables.iceberg.metadata_files import MetadataFiles

DATA, POSITION_DELETES, EQUALITY_DELETES = 0, 1, 2
_EXISTING, _ADDED, _DELETED = 0, 1, 2
HELD = 1 << 24
"""How many bytes of manifests are held before their entries are decoded."""

MOST_ROWS = 1 << 48
"""No file has as many: a count beyond is taken for none at all."""


@dataclass(frozen=True, slots=True)
class Entries:
    """Live entries: the position of each one's manifest, and its partition values by field id."""

    spec: Spec
    manifest: npt.NDArray[np.int64]
    table: pa.Table
    partition: Mapping[int, pa.Array]

    @property
    def count(self) -> int:
        return len(self.table)

    def column(self, name: str) -> pa.Array:
        return self.table[name].combine_chunks()

    def counted(self, name: str) -> pa.Array:
        """A column of counts; null where one cannot be true."""
        counts = self.column(name)
        right = pc.and_(pc.greater_equal(counts, 0), pc.less(counts, MOST_ROWS))
        return pc.if_else(right, counts, pa.scalar(None, counts.type))


@dataclass(frozen=True, slots=True)
class EntryReader:
    """Reads manifests under their own specs."""

    files: MetadataFiles
    specs: Mapping[int, Spec]

    def spec(self, number: int) -> Spec:
        try:
            return self.specs[number]
        except KeyError:
            raise TableError(f"a manifest names partition spec {number}, which is none") from None

    def read(self, listed: pa.Table, asked: dict[str, pa.DataType]) -> Iterator[Entries]:
        """The live entries of the listed manifests, by spec and layout, not in the list's order."""
        numbers = listed["partition_spec_id"].to_pylist()
        held: dict[tuple[int, int], list[tuple[int, Container]]] = {}
        sizes: dict[tuple[int, int], int] = {}
        opened = self.files.open_many(
            listed["manifest_path"].to_pylist(), listed["manifest_length"].to_pylist()
        )
        for position, (number, container) in enumerate(zip(numbers, opened, strict=True)):
            key = (number, id(self.files.layout(container)))
            held.setdefault(key, []).append((position, container))
            sizes[key] = sizes.get(key, 0) + len(container.data)
            if sizes[key] >= HELD:
                yield from self._decode(number, held.pop(key), asked)
                sizes[key] = 0
        for (number, _), some in held.items():
            yield from self._decode(number, some, asked)

    def _decode(
        self, number: int, some: Sequence[tuple[int, Container]], asked: dict[str, pa.DataType]
    ) -> Iterator[Entries]:
        spec = self.spec(number)
        found = self.files.layout(some[0][1])
        positions = iter([position for position, _ in some])
        for decoded in read_entries([container for _, container in some], found, asked):
            mine = [next(positions) for _ in decoded.containers]
            manifest = np.repeat(np.array(mine, np.int64), decoded.counts)
            yield _live(spec, manifest, decoded, found)


def _live(spec: Spec, manifest: npt.NDArray[np.int64], decoded: Decoded, found: Layout) -> Entries:
    table, path = decoded.table, decoded.containers[0].path
    for name in ("status", "file_path"):
        if table[name].null_count:
            raise CorruptFile(path, f"an entry has no {name}")
    status = table["status"].combine_chunks().to_numpy()
    if ((status < _EXISTING) | (status > _DELETED)).any():
        raise CorruptFile(path, "an entry is neither existing nor added nor deleted")
    live = status != _DELETED
    if not live.all():
        table, manifest = table.filter(pa.array(live)), manifest[live]
    return Entries(spec, manifest, table, _partition(spec, table, found))


def _partition(spec: Spec, table: pa.Table, found: Layout) -> dict[int, pa.Array]:
    """The values of the spec's fields; without field ids they are in the spec's order."""
    values = {}
    for position, field in enumerate(spec.fields):
        name = found.partition.get(field.id, found.partition.get(position))
        if name is not None and name in table.column_names:
            values[field.id] = table[name].combine_chunks()
    return values


def sequence_numbers(
    entries: Entries, of_manifests: pa.Array, inherited: int
) -> npt.NDArray[np.int64]:
    """When each file was written; added ones inherit their manifest's number.

    An existing one without a number is as old or as new as `inherited` says: what is safe.
    """
    own = entries.column("sequence_number")
    manifests = of_manifests.take(pa.array(entries.manifest))
    added = pc.equal(entries.column("status"), _ADDED)
    rest = pc.if_else(added, pc.coalesce(manifests, 0), inherited)
    found: npt.NDArray[np.int64] = pc.coalesce(own, rest).to_numpy(zero_copy_only=False)
    return found
