"""Compare all recorded statistics of the files that were read with their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from whyscan.spark.stages.verify import lies
from whyscan.spark.stages.verify.data import bucketed
from whyscan.spark.stages.verify.lies import ContainerName
from whyscan.spark.stages.verify.rows import FILE, GROUP
from whyscan.spark.stages.verify.verdicts import NOWHERE, places

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from whyscan.spark.stages.verify.data import Chosen, Data
    from whyscan.spark.stages.verify.result import Lie

    Numbers = npt.NDArray[np.int64]


def all_lies(chosen: Chosen, data: Data) -> Iterator[Lie]:
    """The lies of files first, then those of row groups."""
    file_counts = lies.rolled_up(data.table, FILE)
    yield from _of_files(chosen, data, file_counts)
    yield from _file_counts(chosen, data, file_counts)
    yield from _of_row_groups(chosen, data)


def _of_files(chosen: Chosen, data: Data, file_counts: pa.Table) -> Iterator[Lie]:
    at = file_counts[FILE].combine_chunks()
    named = [ContainerName(path, None) for path in chosen.files.paths.take(at).to_pylist()]
    containers = chosen.files.containers.take(at)
    numbers = {column: number for number, column in enumerate(data.file_columns)}
    for number, column in enumerate(chosen.columns):
        counts = lies.counted(file_counts, str(number), column.type)
        yield from lies.of_statistics(named, column, containers, counts)
        if column not in numbers:
            yield from lies.of_partition(named, column, containers, counts)
            continue
        # Only files that contain the column can differ from the metadata.
        name = numbers[column]
        with_column = pc.indices_nonzero(file_counts[f"has_{name}"].combine_chunks())
        own_counts = lies.counted(file_counts.take(with_column), f"stored_{name}", column.type)
        named_with_column = [named[i] for i in with_column.to_pylist()]
        yield from lies.of_partition(
            named_with_column, column, containers.take(with_column.cast(pa.int64())), own_counts
        )
    for number, (column, buckets) in enumerate(bucketed(chosen.columns, containers)):
        least, greatest = (
            file_counts[f"{e}_bucket_{number}"].combine_chunks() for e in lies.ORDERED
        )
        yield from lies.of_buckets(named, column, buckets, (least, greatest))


def _file_counts(chosen: Chosen, data: Data, file_counts: pa.Table) -> Iterator[Lie]:
    """The lies in counts of rows, deleted rows and bytes; a file without any row counts 0."""
    at = pa.array(data.at, pa.int64())
    files = chosen.files
    named = [ContainerName(path, None) for path in files.paths.take(at).to_pylist()]
    rows, live = (_spread(file_counts, name, files.count).take(at) for name in ("rows", "live"))
    if not chosen.snapshot.footers_describe_files:
        yield from lies.of_counts(named, "rows", files.rows.take(at), rows)
        yield from lies.of_counts(named, "bytes", files.bytes.take(at), _sizes(data))
    if files.deleted is None:
        return
    recorded = files.deleted.take(at)
    if files.maybe_deleted is not None:
        sure = pc.equal(files.maybe_deleted.take(at), 0)
        recorded = pc.if_else(pc.fill_null(sure, False), recorded, None)  # noqa: FBT003 - of Arrow
    yield from lies.of_counts(named, "deleted", recorded, pc.subtract(rows, live))


def _spread(file_counts: pa.Table, name: str, count: int) -> pa.Array:
    values = np.zeros(count, np.int64)
    values[file_counts[FILE].to_numpy()] = file_counts[name].to_numpy()
    return pa.array(values)


def _sizes(data: Data) -> pa.Array:
    """The size of each file in bytes, null if it is unknown."""
    file_sizes: list[int | None] = [None] * len(data.files)
    stores = {id(file.store): file.store for file in data.files}
    for key, store in stores.items():
        numbers = [number for number, file in enumerate(data.files) if id(file.store) == key]
        sizes = store.sizes([data.files[number].path for number in numbers])
        for number, size in zip(numbers, sizes, strict=True):
            file_sizes[number] = size
    return pa.array(file_sizes, pa.int64())


def _of_row_groups(chosen: Chosen, data: Data) -> Iterator[Lie]:
    groups = chosen.groups
    if not groups.count:
        return
    paths = chosen.files.paths
    file_numbers, group_numbers = (
        data.table[name].to_numpy().astype(np.int64) for name in (FILE, GROUP)
    )
    at = places(
        (groups.owners.to_numpy(), groups.ordinal.to_numpy()), (file_numbers, group_numbers)
    )
    matched = at != NOWHERE
    table = data.table.filter(pa.array(matched)).combine_chunks()
    containers = groups.containers.take(pa.array(at[matched]))
    named = [
        ContainerName(paths[file].as_py(), int(group))
        for file, group in zip(
            file_numbers[matched].tolist(), group_numbers[matched].tolist(), strict=True
        )
    ]
    yield from lies.of_counts(named, "rows", containers.rows, table["rows"].combine_chunks())
    for number, column in enumerate(chosen.columns):
        counts = lies.counted(table, str(number), column.type)
        yield from lies.of_statistics(named, column, containers, counts)
