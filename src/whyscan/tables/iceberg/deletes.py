"""How many rows of each data file are deleted: an exact number, an upper limit, or unknown.

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
    for delete_batch in deletes:
        vectors = _by_path(data, delete_batch.vectors)
        is_applied = vectors.newest >= data.sequence
        surely += np.where(is_applied, vectors.rows, 0)
        has_vector = has_vector | is_applied
        equality = _in_partition(data, delete_batch.equality, everywhere=True)
        unknown = unknown | (is_applied & (vectors.files > 1)) | (equality.newest > data.sequence)
    for delete_batch in deletes:
        for positions in (
            _by_path(data, delete_batch.of_one_file),
            _in_partition(data, delete_batch.positions),
        ):
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


def _applied(deletes: SequencedEntries, key: Numbers, keys: int, of_data: Numbers) -> _Applied:
    """Join by key: `of_data` is the key of each data file, -1 for a file without deletes."""
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
    """Match by spec and partition; if `everywhere`, unpartitioned deletes match all files."""
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
    """Number the partitions of delete files and data files; one partition has one number in both.

    The third result is how many numbers there are. A partition field whose values have different
    types in both is not compared.
    """
    codes = np.zeros(deletes.count + data.count, np.int64)
    for field in deletes.spec.fields:
        delete_values, data_values = deletes.partition.get(field.id), data.partition.get(field.id)
        if delete_values is None or data_values is None or delete_values.type != data_values.type:
            continue
        encoded = pa.concat_arrays([delete_values, data_values]).dictionary_encode(
            null_encoding="encode"
        )
        codes = codes * (len(encoded.dictionary) + 1) + encoded.indices.to_numpy()
        _, codes = np.unique(codes, return_inverse=True)
    keys = int(codes.max(initial=0)) + 1
    return codes[: deletes.count], codes[deletes.count :], keys
