"""Which delete files apply to which data files, and how many rows they delete.

The number of deleted rows is exact, an upper limit, or unknown:

| delete file | data files that it applies to | rows that it deletes |
|---|---|---|
| deletion vector | the file that it names, if not newer | exactly its count |
| position deletes of one file | that file, if not newer and without a vector | at most its count |
| position deletes | not newer files of their partition, without a vector | at most its count |
| equality deletes | older files of their partition; all older files if unpartitioned | unknown |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.pruning.mask import keep, materialise, surely
from whyscan.tables.counts import MOST
from whyscan.tables.iceberg.entries import EQUALITY_DELETES, POSITION_DELETES
from whyscan.tables.iceberg.manifests import lookup
from whyscan.tree import arrow
from whyscan.tree.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.tables.iceberg.entries import Entries

FILE_PATH_ID = 2_147_483_546
"""The reserved field id of `file_path` in position delete files."""

Numbers = npt.NDArray[np.int64]
_NEVER = -1


class SequencedEntries(Struct, frozen=True):
    """Entries with the sequence number of each file."""

    entries: Entries
    sequence: Numbers

    def only(self, mask: npt.NDArray[np.bool_]) -> SequencedEntries:
        entries = self.entries
        at = pa.array(mask)
        values = {number: array.filter(at) for number, array in entries.partition.items()}
        return SequencedEntries(
            type(entries)(entries.spec, entries.manifest[mask], entries.table.filter(at), values),
            self.sequence[mask],
        )


class Hidden(Struct, frozen=True):
    """Deleted rows per data file: at least `surely`; at most `maybe` more, null if unknown."""

    surely: pa.Array
    maybe: pa.Array


def hidden(data: SequencedEntries, deletes: Sequence[DeleteFiles]) -> Hidden:
    """How many rows of these data files the delete files hide."""
    count = data.entries.count
    surely, at_most = np.zeros(count, np.int64), np.zeros(count, np.int64)
    has_vector = unknown = np.zeros(count, np.bool_)
    matched = [match(data, delete_batch) for delete_batch in deletes]
    for matches in matched:
        vectors, equality = matches.vectors.applied(), matches.equality.applied()
        is_applied = vectors.newest >= data.sequence
        surely += np.where(is_applied, vectors.rows, 0)
        has_vector = has_vector | is_applied
        unknown = unknown | (is_applied & (vectors.files > 1)) | (equality.newest > data.sequence)
    for matches in matched:
        for positions in (matches.of_one_file.applied(), matches.positions.applied()):
            at_most += np.where(
                (positions.newest >= data.sequence) & ~has_vector, positions.rows, 0
            )
    rows = data.entries.counted("record_count").fill_null(_NEVER).to_numpy(zero_copy_only=False)
    unknown = unknown | (surely > rows)
    return Hidden(
        pa.array(np.where(unknown, 0, surely)), pa.array(np.minimum(at_most, rows), mask=unknown)
    )


class DeleteFiles(Struct, frozen=True):
    """The delete files of one spec, grouped by how they apply to data files."""

    vectors: _Targeted
    of_one_file: _Targeted
    positions: SequencedEntries
    equality: SequencedEntries


def delete_files(deletes: SequencedEntries) -> DeleteFiles:
    """Group the delete files of one spec by how they apply to data files."""
    entries = deletes.entries
    content = entries.column("content").fill_null(POSITION_DELETES).to_numpy()
    target = _target(entries)
    has_target = target.is_valid().to_numpy(zero_copy_only=False)
    puffin = surely(pc.equal, pc.utf8_lower(entries.column("file_format")), "puffin")
    positional = content != EQUALITY_DELETES
    vector = (
        materialise(puffin, entries.count).to_numpy(zero_copy_only=False) & has_target & positional
    )
    single = positional & has_target & ~vector
    return DeleteFiles(
        _Targeted(deletes.only(vector), target.filter(pa.array(vector))),
        _Targeted(deletes.only(single), target.filter(pa.array(single))),
        deletes.only(positional & ~has_target),
        deletes.only(content == EQUALITY_DELETES),
    )


class _Targeted(Struct, frozen=True):
    """Delete files that apply to one data file each; `target` has the path of that file."""

    deletes: SequencedEntries
    target: pa.Array


def _target(entries: Entries) -> pa.Array:
    """The only data file of each delete file: recorded, or both bounds of its paths are equal."""
    lower = lookup(entries.column("lower_bounds"), FILE_PATH_ID)
    upper = lookup(entries.column("upper_bounds"), FILE_PATH_ID)
    bound = keep(surely(pc.equal, lower, upper), lower)
    referenced = entries.column("referenced_data_file").cast(pa.binary())
    return referenced if bound is None else pc.coalesce(referenced, bound)


class _Applied(Struct, frozen=True):
    """Per data file: newest sequence number, count and rows of the delete files for it."""

    newest: Numbers
    files: Numbers
    rows: Numbers


class Match(Struct, frozen=True, dict=True):
    """Which delete files are for which data files, whatever their age: those with the same key.

    `keys` has the key of each delete file, `of_data` that of each data file, -1 for none. Keys are
    numbers below `count`.
    """

    deletes: SequencedEntries
    keys: Numbers
    of_data: Numbers
    count: int

    def applied(self) -> _Applied:
        newest = np.full(self.count + 1, _NEVER, np.int64)
        files, rows = np.zeros(self.count + 1, np.int64), np.zeros(self.count + 1, np.int64)
        counts = self.deletes.entries.counted("record_count").fill_null(MOST)
        np.maximum.at(newest, self.keys, self.deletes.sequence)
        np.add.at(files, self.keys, 1)
        np.add.at(rows, self.keys, counts.to_numpy(zero_copy_only=False))
        return _Applied(newest[self.of_data], files[self.of_data], rows[self.of_data])

    @lazy
    def _by_key(self) -> tuple[Numbers, Numbers]:
        order = np.argsort(self.keys, kind="stable")
        return order, self.keys[order]

    def deletes_for(self, data_at: int, oldest: int) -> list[int]:
        """The delete files for one data file whose sequence number is at least `oldest`."""
        order, keys = self._by_key
        key = int(self.of_data[data_at])
        first, end = np.searchsorted(keys, (key, key + 1)) if key >= 0 else (0, 0)
        return [at for at in order[first:end].tolist() if self.deletes.sequence[at] >= oldest]


class Matches(Struct, frozen=True):
    """The delete files of one spec and the data files of a batch, for each way to apply."""

    vectors: Match
    of_one_file: Match
    positions: Match
    equality: Match

    def deletes_for(
        self, data_at: int, sequence: int
    ) -> tuple[list[int], list[int], list[int], list[int]]:
        """The delete files for a data file with that sequence number, for each way to apply."""
        return (
            self.vectors.deletes_for(data_at, sequence),
            self.of_one_file.deletes_for(data_at, sequence),
            self.positions.deletes_for(data_at, sequence),
            self.equality.deletes_for(data_at, sequence + 1),
        )


def match(data: SequencedEntries, deletes: DeleteFiles) -> Matches:
    """Match the delete files of one spec with data files."""
    return Matches(
        _by_path(data, deletes.vectors),
        _by_path(data, deletes.of_one_file),
        _in_partition(data, deletes.positions),
        _in_partition(data, deletes.equality, everywhere=True),
    )


def _by_path(data: SequencedEntries, targeted: _Targeted) -> Match:
    distinct = targeted.target.dictionary_encode()
    paths = data.entries.column("file_path").cast(pa.binary())
    of_data = pc.index_in(paths, value_set=distinct.dictionary).fill_null(-1)
    return Match(
        targeted.deletes,
        distinct.indices.to_numpy(zero_copy_only=False),
        of_data.to_numpy(zero_copy_only=False),
        len(distinct.dictionary),
    )


def _in_partition(
    data: SequencedEntries, deletes: SequencedEntries, *, everywhere: bool = False
) -> Match:
    """Match by spec and partition; if `everywhere`, unpartitioned deletes match all files."""
    count = data.entries.count
    no_keys = np.zeros(deletes.entries.count, np.int64)
    spec = deletes.entries.spec
    if everywhere and not spec.is_partitioned:
        return Match(deletes, no_keys, np.zeros(count, np.int64), 1)
    if spec.id != data.entries.spec.id:
        return Match(deletes, no_keys, np.full(count, -1), 1)
    return Match(deletes, *_keys(deletes.entries, data.entries))


def _keys(deletes: Entries, data: Entries) -> tuple[Numbers, Numbers, int]:
    """The partition numbers of both. A field that one of them lacks is left out."""
    columns = []
    for field in deletes.spec.fields:
        delete_values, data_values = deletes.partition.get(field.id), data.partition.get(field.id)
        if delete_values is None or data_values is None:
            continue
        columns.append(pa.concat_arrays(_comparable(delete_values, data_values)))
    codes = arrow.tuple_numbers(columns, deletes.count + data.count)
    keys = int(codes.max(initial=0)) + 1
    return codes[: deletes.count], codes[deletes.count :], keys


def _comparable(first: pa.Array, second: pa.Array) -> list[pa.Array]:
    """Values of one type: a column may have been promoted between the files."""
    if first.type == second.type:
        return [first, second]
    is_whole = all(pa.types.is_integer(values.type) for values in (first, second))
    return [values.cast(pa.int64() if is_whole else pa.string()) for values in (first, second)]
