"""The live entries of manifests, in batches of the same spec and the same Avro layout."""

from __future__ import annotations

from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.errors import CorruptFile, TableError
from whyscan.tables import budget
from whyscan.tables.counts import plausible
from whyscan.tables.iceberg.decoding import (
    NO_RECORDS,
    AvroBatch,
    DecodedSizes,
    anticipate,
    decoded,
    one_array,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from whyscan.tables.avro.containers import Container
    from whyscan.tables.iceberg.avro_schemas import RecordLayout
    from whyscan.tables.iceberg.metadata import Spec
    from whyscan.tables.iceberg.metadata_files import MetadataFiles

DATA, POSITION_DELETES, EQUALITY_DELETES = 0, 1, 2
_EXISTING, _ADDED, _DELETED = 0, 1, 2


class Entries(Struct, frozen=True):
    """Live entries of one spec.

    `manifest` is the position of each entry's manifest in the list; `partition` are the partition
    values by field id.
    """

    spec: Spec
    manifest: npt.NDArray[np.int64]
    table: pa.Table
    partition: Mapping[int, pa.Array]

    @property
    def count(self) -> int:
        return len(self.table)

    def column(self, name: str) -> pa.Array:
        return one_array(self.table[name])

    def counted(self, name: str) -> pa.Array:
        """A column of counts; null where a count is impossible."""
        return plausible(self.column(name))


class EntryReader(Struct, frozen=True):
    """Reads the entries of manifests, each with its own spec."""

    files: MetadataFiles
    specs: Mapping[int, Spec]

    def spec(self, number: int) -> Spec:
        try:
            return self.specs[number]
        except KeyError:
            raise TableError(f"a manifest names partition spec {number}, which is none") from None

    def read(self, listed: pa.Table, fields: dict[str, pa.DataType]) -> Iterator[Entries]:
        """The live entries of the listed manifests in batches, not in the order of the list."""
        repeats = Repeats.of(listed)
        distinct = listed if repeats is None else listed.take(repeats.first)
        numbers = distinct["partition_spec_id"].to_pylist()
        sizes = distinct["manifest_length"].to_pylist()
        anticipate(sum(sizes))
        paths, counts = distinct["manifest_path"].to_pylist(), _counts(distinct)
        opened = self.files.open_many(paths, sizes, counts)
        sizes_decoded = DecodedSizes()
        for batch, table in decoded(self._batches(numbers, opened, fields)):
            sizes_decoded.add(batch, table)
            live = _live(self.spec(numbers[batch.positions[0]]), batch, table)
            yield live if repeats is None else repeats.repeated(live, batch.path)

    def _batches(
        self, numbers: Sequence[int], opened: Iterable[Container], fields: dict[str, pa.DataType]
    ) -> Iterator[AvroBatch]:
        """Batches of blocks by spec and layout; a full batch is returned before all is read."""
        filling: dict[tuple[int, int], AvroBatch] = {}
        for position, (number, container) in enumerate(zip(numbers, opened, strict=True)):
            layout = self.files.layout(container)
            key = self.spec(number).id, id(layout)
            for block in chain([NO_RECORDS], container.blocks()):
                if key not in filling:
                    filling[key] = AvroBatch(layout, {**fields, **layout.plain_partition})
                filling[key].add(position, container, block)
                if filling[key].is_full:
                    yield filling.pop(key)
        yield from filling.values()


class Repeats(Struct, frozen=True):
    """The repetitions in a list that names a manifest several times: it is read once.

    `first` is the first position of each manifest, `places` are all its positions in order.
    """

    first: pa.Array
    places: tuple[npt.NDArray[np.int64], ...]

    @classmethod
    def of(cls, listed: pa.Table) -> Repeats | None:
        """The repetitions in a list; None if there are none."""
        if pc.count_distinct(listed["manifest_path"]).as_py() == len(listed):
            return None
        names = ("manifest_path", "manifest_length", "partition_spec_id")
        places: dict[tuple[object, ...], list[int]] = {}
        rows = zip(*(listed[name].to_pylist() for name in names), _counts(listed), strict=True)
        for at, key in enumerate(rows):
            places.setdefault(key, []).append(at)
        all_places = tuple(np.array(positions, np.int64) for positions in places.values())
        return cls(
            pa.array([int(positions[0]) for positions in all_places], pa.int64()), all_places
        )

    def repeated(self, entries: Entries, name: str) -> Entries:
        """The entries, repeated as often as the list names their manifests."""
        times = np.array([len(self.places[at]) for at in entries.manifest.tolist()], np.int64)
        size = entries.table.nbytes * int(times.sum()) // max(entries.count, 1)
        message = f"a manifest list names it {int(times.max(initial=0))} times, and then it takes"
        budget.check(_COPIES * size, name, message)
        at = pa.array(np.repeat(np.arange(entries.count), times))
        places = [self.places[manifest] for manifest in entries.manifest.tolist()]
        return Entries(
            entries.spec,
            np.concatenate([np.empty(0, np.int64), *places]),
            entries.table.take(at),
            {number: values.take(at) for number, values in entries.partition.items()},
        )


_COPIES = 4
"""Entries are in memory several times: as decoded, as live files, as containers of a plan."""


def _counts(listed: pa.Table) -> list[int | None]:
    """How many entries each manifest has, with deleted ones; None without recorded counts."""
    kinds = [listed[f"{kind}_files_count"] for kind in ("added", "existing", "deleted")]
    counts: list[int | None] = reduce(pc.add, kinds).to_pylist()
    return counts


def _live(spec: Spec, batch: AvroBatch, table: pa.Table) -> Entries:
    for name in ("status", "file_path"):
        if table[name].null_count:
            raise CorruptFile(batch.path, f"an entry has no {name}")
    status = one_array(table["status"]).to_numpy()
    if ((status < _EXISTING) | (status > _DELETED)).any():
        raise CorruptFile(batch.path, "an entry is neither existing nor added nor deleted")
    manifest = np.repeat(np.array(batch.positions, np.int64), batch.counts)
    live = status != _DELETED
    if not live.all():
        table, manifest = table.filter(pa.array(live)), manifest[live]
    return Entries(spec, manifest, table, _partition(spec, table, batch.layout))


def _partition(spec: Spec, table: pa.Table, layout: RecordLayout) -> dict[int, pa.Array]:
    """The partition values by field id; a schema without ids has the order of the spec."""
    values = {}
    for position, field in enumerate(spec.fields):
        name = layout.partition.get(field.id, layout.partition.get(position))
        if name is not None and name in table.column_names:
            values[field.id] = one_array(table[name])
    return values


def sequence_numbers(
    entries: Entries, of_manifests: pa.Array, inherited: int
) -> npt.NDArray[np.int64]:
    """The sequence number of each file. An added file inherits the number of its manifest.

    An existing file without a number gets `inherited`, which the caller chooses to be safe.
    """
    recorded = entries.column("sequence_number")
    manifests = of_manifests.take(pa.array(entries.manifest))
    added = pc.equal(entries.column("status"), _ADDED)
    default = pc.if_else(added, pc.coalesce(manifests, 0), inherited)
    sequences: npt.NDArray[np.int64] = pc.coalesce(recorded, default).to_numpy(zero_copy_only=False)
    return sequences
