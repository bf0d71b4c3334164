"""How many rows of each data file delete files hide: a number, a limit, or nobody knows.

| delete file | applies to data files | hides |
|---|---|---|
| deletion vector | the one it names, no newer than it | exactly as many as it counts |
| position deletes of one file | the one they name, no newer, without a vector | at most as many |
| position deletes | of their partition, no newer, without a vector | at most as many |
| equality deletes | of their partition, older; all, where they have none | nobody knows |
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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.tables.iceberg.entries import Entries

FILE_PATH_ID = 2_147_483_546
"""The reserved field id of `file_path` in position delete files."""

Numbers = npt.NDArray[np.int64]
_NEVER = -1


class SequencedEntries(Struct, frozen=True):
    """Entries, and when each of their files was written."""

    entries: Entries
    sequence: Numbers

    def only(self, mask: npt.NDArray[np.bool_]) -> SequencedEntries:
        chosen = self.entries
        at = pa.array(mask)
        values = {number: array.filter(at) for number, array in chosen.partition.items()}
        return SequencedEntries(
            type(chosen)(chosen.spec, chosen.manifest[mask], chosen.table.filter(at), values),
            self.sequence[mask],
        )


class Hidden(Struct, frozen=True):
    """Rows of each data file: `surely` are deleted, `maybe` more of them, null if nobody knows."""

    surely: pa.Array
    maybe: pa.Array


def hidden(data: SequencedEntries, deletes: Sequence[DeleteFiles]) -> Hidden:
    """What delete files make of some data files."""
    count = data.entries.count
    surely, more = np.zeros(count, np.int64), np.zeros(count, np.int64)
    vectored = unknown = np.zeros(count, np.bool_)
    for some in deletes:
        vectors = _by_path(data, some.vectors)
        applied = vectors.newest >= data.sequence
        surely += np.where(applied, vectors.rows, 0)
        vectored = vectored | applied
        equal = _in_partition(data, some.equality, everywhere=True)
        unknown = unknown | (applied & (vectors.files > 1)) | (equal.newest > data.sequence)
    for some in deletes:
        for found in (_by_path(data, some.of_one_file), _in_partition(data, some.positions)):
            more += np.where((found.newest >= data.sequence) & ~vectored, found.rows, 0)
    rows = data.entries.counted("record_count").fill_null(_NEVER).to_numpy(zero_copy_only=False)
    unknown = unknown | (surely > rows)
    return Hidden(
        pa.array(np.where(unknown, 0, surely)), pa.array(np.minimum(more, rows), mask=unknown)
    )


class DeleteFiles(Struct, frozen=True):
    """Delete files by how they are applied."""

    vectors: _Targeted
    of_one_file: _Targeted
    positions: SequencedEntries
    equality: SequencedEntries


def told_apart(deletes: SequencedEntries) -> DeleteFiles:
    """Delete files of one spec, by how they are applied."""
    entries = deletes.entries
    content = entries.column("content").fill_null(POSITION_DELETES).to_numpy()
    target = _target(entries)
    named = target.is_valid().to_numpy(zero_copy_only=False)
    puffin = surely(pc.equal, pc.utf8_lower(entries.column("file_format")), "puffin")
    positional = content != EQUALITY_DELETES
    vector = materialise(puffin, entries.count).to_numpy(zero_copy_only=False) & named & positional
    one = positional & named & ~vector
    return DeleteFiles(
        _Targeted(deletes.only(vector), target.filter(pa.array(vector))),
        _Targeted(deletes.only(one), target.filter(pa.array(one))),
        deletes.only(positional & ~named),
        deletes.only(content == EQUALITY_DELETES),
    )


class _Targeted(Struct, frozen=True):
    """Delete files of one data file each."""

    deletes: SequencedEntries
    target: pa.Array


def _target(entries: Entries) -> pa.Array:
    """The one data file that a delete file is for: it says so, or its paths begin and end there."""
    lower = lookup(entries.column("lower_bounds"), FILE_PATH_ID)
    upper = lookup(entries.column("upper_bounds"), FILE_PATH_ID)
    bound = keep(surely(pc.equal, lower, upper), lower)
    referenced = entries.column("referenced_data_file").cast(pa.binary())
    return referenced if bound is None else pc.coalesce(referenced, bound)


class _Applied(Struct, frozen=True):
    """For each data file, of the delete files meant for it: the newest, how many, their rows."""

    newest: Numbers
    files: Numbers
    rows: Numbers


def _applied(deletes: SequencedEntries, key: Numbers, keys: int, of_data: Numbers) -> _Applied:
    """Join by key: `of_data` is the key of each data file, -1 for one that has no deletes."""
    newest = np.full(keys + 1, _NEVER, np.int64)
    files, rows = np.zeros(keys + 1, np.int64), np.zeros(keys + 1, np.int64)
    counts = deletes.entries.counted("record_count").fill_null(MOST)
    np.maximum.at(newest, key, deletes.sequence)
    np.add.at(files, key, 1)
    np.add.at(rows, key, counts.to_numpy(zero_copy_only=False))
    return _Applied(newest[of_data], files[of_data], rows[of_data])


def _by_path(data: SequencedEntries, targeted: _Targeted) -> _Applied:
    distinct = targeted.target.dictionary_encode()
    paths = data.entries.column("file_path").cast(pa.binary())
    of_data = pc.index_in(paths, value_set=distinct.dictionary).fill_null(-1)
    return _applied(
        targeted.deletes,
        distinct.indices.to_numpy(zero_copy_only=False),
        len(distinct.dictionary),
        of_data.to_numpy(zero_copy_only=False),
    )


def _in_partition(
    data: SequencedEntries, deletes: SequencedEntries, *, everywhere: bool = False
) -> _Applied:
    """Delete files of the same spec and partition; `everywhere`: those of no partition, of all."""
    count = data.entries.count
    zeros = np.zeros(count, np.int64)
    spec = deletes.entries.spec
    if everywhere and not spec.is_partitioned:
        return _applied(deletes, np.zeros(deletes.entries.count, np.int64), 1, zeros)
    if spec.id != data.entries.spec.id:
        return _Applied(zeros + _NEVER, zeros, zeros)
    key, of_data, keys = _keys(deletes.entries, data.entries)
    return _applied(deletes, key, keys, of_data)


def _keys(deletes: Entries, data: Entries) -> tuple[Numbers, Numbers, int]:
    """One number a partition for both; one for all of them where they cannot be compared."""
    codes = np.zeros(deletes.count + data.count, np.int64)
    for field in deletes.spec.fields:
        theirs, ours = deletes.partition.get(field.id), data.partition.get(field.id)
        if theirs is None or ours is None or theirs.type != ours.type:
            continue
        both = pa.concat_arrays([theirs, ours]).dictionary_encode(null_encoding="encode")
        codes = codes * (len(both.dictionary) + 1) + both.indices.to_numpy()
        _, codes = np.unique(codes, return_inverse=True)
    keys = int(codes.max(initial=0)) + 1
    return codes[: deletes.count], codes[deletes.count :], keys
