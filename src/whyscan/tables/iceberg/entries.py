"""The live entries of manifests, in batches of one spec and one layout."""

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
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from whyscan.tables.iceberg.avro import Container
    from whyscan.tables.iceberg.avro_schemas import Layout
    from whyscan.tables.iceberg.metadata import Spec
    from whyscan.tables.iceberg.metadata_files import MetadataFiles

DATA, POSITION_DELETES, EQUALITY_DELETES = 0, 1, 2
_EXISTING, _ADDED, _DELETED = 0, 1, 2


class Entries(Struct, frozen=True):
    """Live entries: the position of each one's manifest, and its partition values by field id."""

    spec: Spec
    manifest: npt.NDArray[np.int64]
    table: pa.Table
    partition: Mapping[int, pa.Array]

    @property
    def count(self) -> int:
        return len(self.table)

    def column(self, name: str) -> pa.Array:
        return whole(self.table[name])

    def counted(self, name: str) -> pa.Array:
        """A column of counts; null where one cannot be true."""
        return plausible(self.column(name))


class EntryReader(Struct, frozen=True):
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
        repeats = Repeats.of(listed)
        once = listed if repeats is None else listed.take(repeats.first)
        numbers = once["partition_spec_id"].to_pylist()
        sizes = once["manifest_length"].to_pylist()
        anticipate(sum(sizes))
        paths, counts = once["manifest_path"].to_pylist(), _counts(once)
        opened = self.files.open_many(paths, sizes, counts)
        taken = DecodedSizes()
        for batch, table in decoded(self._batches(numbers, opened, asked)):
            taken.add(batch, table)
            live = _live(self.spec(numbers[batch.positions[0]]), batch, table)
            yield live if repeats is None else repeats.repeated(live, batch.path)

    def _batches(
        self, numbers: Sequence[int], opened: Iterable[Container], asked: dict[str, pa.DataType]
    ) -> Iterator[AvroBatch]:
        """Manifests by spec and layout, given on as soon as there are enough: others still come."""
        filling: dict[tuple[int, int], AvroBatch] = {}
        for position, (number, container) in enumerate(zip(numbers, opened, strict=True)):
            found = self.files.layout(container)
            key = self.spec(number).id, id(found)
            for block in chain([NO_RECORDS], container.blocks()):
                if key not in filling:
                    filling[key] = AvroBatch(found, {**asked, **found.plain_partition})
                filling[key].add(position, container, block)
                if filling[key].is_full:
                    yield filling.pop(key)
        yield from filling.values()


class Repeats(Struct, frozen=True):
    """A list that names some manifest more than once: each manifest is read once.

    `first` is where each manifest stands first, `places` are all places of each in order.
    """

    first: pa.Array
    places: tuple[npt.NDArray[np.int64], ...]

    @classmethod
    def of(cls, listed: pa.Table) -> Repeats | None:
        """The repeats of a list, None where there are none."""
        if pc.count_distinct(listed["manifest_path"]).as_py() == len(listed):
            return None
        names = ("manifest_path", "manifest_length", "partition_spec_id")
        places: dict[tuple[object, ...], list[int]] = {}
        rows = zip(*(listed[name].to_pylist() for name in names), _counts(listed), strict=True)
        for at, key in enumerate(rows):
            places.setdefault(key, []).append(at)
        each = tuple(np.array(found, np.int64) for found in places.values())
        return cls(pa.array([int(found[0]) for found in each], pa.int64()), each)

    def repeated(self, entries: Entries, name: str) -> Entries:
        """The entries of manifests as often as the list names them."""
        times = np.array([len(self.places[at]) for at in entries.manifest.tolist()], np.int64)
        size = entries.table.nbytes * int(times.sum()) // max(entries.count, 1)
        what = f"a manifest list names it {int(times.max(initial=0))} times, and then it takes"
        budget.check(_COPIES * size, name, what)
        at = pa.array(np.repeat(np.arange(entries.count), times))
        places = [self.places[manifest] for manifest in entries.manifest.tolist()]
        return Entries(
            entries.spec,
            np.concatenate([np.empty(0, np.int64), *places]),
            entries.table.take(at),
            {number: values.take(at) for number, values in entries.partition.items()},
        )


_COPIES = 4
"""Entries are held as they are decoded, as live files, and as containers of a plan."""


def _counts(listed: pa.Table) -> list[int | None]:
    """How many entries each manifest has, dead ones among them; None where nobody counted."""
    kinds = [listed[f"{kind}_files_count"] for kind in ("added", "existing", "deleted")]
    found: list[int | None] = reduce(pc.add, kinds).to_pylist()
    return found


def _live(spec: Spec, batch: AvroBatch, table: pa.Table) -> Entries:
    for name in ("status", "file_path"):
        if table[name].null_count:
            raise CorruptFile(batch.path, f"an entry has no {name}")
    status = whole(table["status"]).to_numpy()
    if ((status < _EXISTING) | (status > _DELETED)).any():
        raise CorruptFile(batch.path, "an entry is neither existing nor added nor deleted")
    manifest = np.repeat(np.array(batch.positions, np.int64), batch.counts)
    live = status != _DELETED
    if not live.all():
        table, manifest = table.filter(pa.array(live)), manifest[live]
    return Entries(spec, manifest, table, _partition(spec, table, batch.layout))


def _partition(spec: Spec, table: pa.Table, found: Layout) -> dict[int, pa.Array]:
    """The values of the spec's fields; without field ids they are in the spec's order."""
    values = {}
    for position, part in enumerate(spec.fields):
        name = found.partition.get(part.id, found.partition.get(position))
        if name is not None and name in table.column_names:
            values[part.id] = whole(table[name])
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
