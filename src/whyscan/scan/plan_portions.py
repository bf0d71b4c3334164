"""Divides a plan into portions: some of its files with everything that reading them needs.

A portion can be sent to another process. It contains nothing about other files, so its size depends
only on what that process reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.plan.file_scans import byte_ranges
from whyscan.scan.projection import ResultColumns, result_columns
from whyscan.scan.tasks import Task, tasks
from whyscan.tables.file_columns import (
    EqualityDeletes,
    InlineVector,
    PositionDeletes,
    VectorInFile,
)
from whyscan.tables.parquet.metadata_columns import FILE_PATH
from whyscan.tree.nodes import columns_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from whyscan.planning.plan.evidence import Evidence
    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.pruning.interval import Interval
    from whyscan.tables.file_columns import DataFile, Deletes, FileReading
    from whyscan.tables.storage.store import Meter, Store
    from whyscan.tree.nodes import Column, Expression, Path
    from whyscan.tree.zones import Zone

    PseudoColumns = Mapping[Path, Interval]

PSEUDO = FILE_PATH[0]
OPENING = 1 << 20
"""Opening a file takes about as long as reading this many bytes."""
PORTION_BYTES = 128 << 20
LEAST = 8 * OPENING
"""The least size of a portion: fewer bytes are not worth a process."""


class Portion(Struct, frozen=True):
    """Some tasks of a plan, with the file of each task in `reading`.

    `pseudo_columns` has the pseudo-columns of each task's file; it is empty if no condition uses
    one.
    """

    reading: FileReading
    tasks: tuple[Task, ...]
    result_columns: ResultColumns
    conjuncts: tuple[Expression, ...]
    zone: Zone
    pseudo_columns: tuple[PseudoColumns, ...] = ()

    def open_conditions(self, numbers: Iterable[int]) -> list[Expression]:
        """The conjuncts with these numbers, in the order of the predicate."""
        return [self.conjuncts[number] for number in sorted(numbers)]

    def only(self, paths: Sequence[Path] | None) -> Portion:
        """The same rows with these columns; None means all columns."""
        return replace(self, result_columns=result_columns(self.reading.columns, paths))

    def __reduce__(self) -> tuple[object, ...]:
        files, constants = _packed(self.reading.files)
        rest = (self.tasks, self.result_columns, self.conjuncts, self.zone, self.pseudo_columns)
        return _unpacked, (replace(self.reading, files=files), constants, rest)


# For each column: the positions of the files whose value metadata records, and these values.
Constants = dict["Path", tuple[tuple[int, ...], pa.Array]]


def _packed(files: Sequence[DataFile]) -> tuple[tuple[DataFile, ...], Constants]:
    """The files without their constants, and the constants as one array per column.

    A pickled scalar is a Python value, and Python has no date in the year 10000. One array per file
    would take four times as long.
    """
    stores: dict[int, Store] = {}
    values_by_path: dict[Path, list[tuple[int, pa.Scalar]]] = {}
    for place, file in enumerate(files):
        for path, value in file.constants.items():
            values_by_path.setdefault(path, []).append((place, value))
    constants = {
        path: (
            tuple(place for place, _ in values),
            pa.concat_arrays([pa.repeat(value, 1) for _, value in values]),
        )
        for path, values in values_by_path.items()
    }
    return tuple(_sent(file, stores) for file in files), constants


def _sent(file: DataFile, stores: dict[int, Store]) -> DataFile:
    """The file with a new store that carries no cache and no counts of this process."""
    deletes = tuple(_sent_delete(delete, stores) for delete in file.deletes)
    return replace(file, store=_fresh(file.store, stores), constants={}, deletes=deletes)


def _sent_delete(delete: Deletes, stores: dict[int, Store]) -> Deletes:
    match delete:
        case InlineVector():
            return delete
        case VectorInFile():
            return replace(delete, store=_fresh(delete.store, stores))
        case PositionDeletes() | EqualityDeletes():
            return replace(delete, file=_sent(delete.file, stores))


def _fresh(store: Store, stores: dict[int, Store]) -> Store:
    if id(store) not in stores:
        stores[id(store)] = store.unread_copy()
    return stores[id(store)]


def _unpacked(reading: FileReading, constants: Constants, rest: tuple[object, ...]) -> Portion:
    constants_by_file: list[dict[Path, pa.Scalar]] = [{} for _ in reading.files]
    for path, (places, values) in constants.items():
        for place, value in zip(places, values, strict=True):
            constants_by_file[place][path] = value
    files = tuple(
        replace(file, constants=file_constants)
        for file, file_constants in zip(reading.files, constants_by_file, strict=True)
    )
    return Portion(replace(reading, files=files), *rest)  # type: ignore[arg-type]


def whole_plan(plan: ScanPlan, columns: Sequence[Path] | None = None) -> Portion:
    """The whole plan as one portion. `columns` None means the planned columns, or all.

    With a limit, the files come first in which nothing is left to check.
    """
    chosen = tuple(tasks(plan.evidence))
    if plan.options.limit is not None:
        chosen = tuple(sorted(chosen, key=lambda task: bool(task.open_anywhere())))
    at = pa.array([task.at for task in chosen], pa.int64())
    reading = _with_sizes(
        plan.snapshot.reading(plan.evidence.files, at, plan.zone),
        plan.evidence.files.bytes.take(at).to_pylist(),
    )
    paths = plan.options.projection if columns is None else columns
    conjuncts = tuple(conjunct.expression for conjunct in plan.predicate.conjuncts)
    return Portion(
        reading,
        chosen,
        result_columns(reading.columns, paths),
        conjuncts,
        plan.zone,
        _pseudo_columns(plan.evidence, conjuncts, chosen),
    )


def unfiltered(portion: Portion, meter: Meter) -> Portion:
    """The same row groups with all their live rows, for an engine that filters by itself.

    `meter` counts what is read of the files.
    """
    chosen = tuple(task.without_conditions() for task in portion.tasks)
    stores: dict[int, Store] = {}
    files = tuple(_metered(file, meter, stores) for file in portion.reading.files)
    reading = replace(portion.reading, files=files)
    return replace(portion, reading=reading, tasks=chosen, conjuncts=(), pseudo_columns=())


def _metered(file: DataFile, meter: Meter, stores: dict[int, Store]) -> DataFile:
    """The file with a store that counts with this meter."""
    store = stores.setdefault(id(file.store), replace(file.store, meter=meter))
    return replace(file, store=store)


def _with_sizes(reading: FileReading, sizes: Sequence[int | None]) -> FileReading:
    """The files with their sizes, for which no store must be asked then."""
    pairs = zip(reading.files, sizes, strict=True)
    return replace(reading, files=tuple(replace(file, size=size) for file, size in pairs))


def portions(
    everything: Portion, evidence: Evidence, about_bytes: int, at_least: int
) -> Iterator[Portion]:
    """The plan in portions of about `about_bytes`, at least `at_least` if they get large enough.

    A large file may be in several portions, each with other row groups of it.
    """
    places = {task.at: place for place, task in enumerate(everything.tasks)}
    pieces = list(_pieces(everything.tasks, evidence))
    spread_over = sum(size for _, size in pieces) // max(at_least, 1)
    aim = min(about_bytes, max(spread_over, LEAST))
    for chosen in _filled(pieces, aim):
        joined = tuple(_joined(chosen))
        at = [places[task.at] for task in joined]
        files = tuple(everything.reading.files[place] for place in at)
        pseudo_columns = (
            tuple(everything.pseudo_columns[place] for place in at)
            if everything.pseudo_columns
            else ()
        )
        reading = replace(everything.reading, files=files)
        yield replace(everything, reading=reading, tasks=joined, pseudo_columns=pseudo_columns)


def _pieces(chosen: Sequence[Task], evidence: Evidence) -> Iterator[tuple[Task, int]]:
    """One task per row group, or per file without row groups, with the bytes to read."""
    sizes = evidence.files.bytes.take(pa.array([t.at for t in chosen], pa.int64())).to_pylist()
    measured = _group_bytes(evidence)
    for task, size in zip(chosen, sizes, strict=True):
        if task.groups is None:
            yield task, OPENING + (size or 0)
            continue
        for number, (ordinal, group) in enumerate(task.groups.items()):
            read_bytes = measured[task.at, ordinal] + (0 if number else OPENING)
            yield replace(task, groups={ordinal: group}), read_bytes


def _group_bytes(evidence: Evidence) -> dict[tuple[int, int], int]:
    """The bytes to read per surviving row group, by file and ordinal."""
    level = evidence.row_group_level
    if level is None:
        return {}
    groups, kept = level.listed, pa.array(evidence.read(level))
    ranges = byte_ranges(evidence).filter(kept)
    spans = pc.list_flatten(ranges).flatten().to_numpy().reshape(-1, 2)
    sizes = np.zeros(len(ranges), np.int64)
    np.add.at(sizes, pc.list_parent_indices(ranges).to_numpy(), spans[:, 1] - spans[:, 0])
    owners = groups.owners.filter(kept).to_pylist()
    ordinals = groups.ordinal.filter(kept).to_pylist()
    return dict(zip(zip(owners, ordinals, strict=True), sizes.tolist(), strict=True))


def _filled(pieces: Sequence[tuple[Task, int]], aim: int) -> Iterator[list[Task]]:
    """Lists of adjacent tasks, each list about as large as `aim`."""
    chosen: list[Task] = []
    filled = 0
    for task, size in pieces:
        if chosen and filled + size > aim:
            yield chosen
            chosen, filled = [], 0
        chosen.append(task)
        filled += size
    if chosen:
        yield chosen


def _joined(chosen: Sequence[Task]) -> Iterator[Task]:
    """The row groups of one file as one task."""
    joined: dict[int, Task] = {}
    for task in chosen:
        before = joined.get(task.at)
        if before is not None and before.groups is not None and task.groups is not None:
            task = replace(task, groups=before.groups | task.groups)  # noqa: PLW2901 - the same one
        joined[task.at] = task
    yield from joined.values()


def _pseudo_columns(
    evidence: Evidence, conjuncts: Sequence[Expression], chosen: Sequence[Task]
) -> tuple[PseudoColumns, ...]:
    """The pseudo-columns that conditions use, one mapping per file."""
    named = dict.fromkeys(
        column for e in conjuncts for column in columns_of(e) if column.path[0] == PSEUDO
    )
    if not named:
        return ()
    return tuple({c.path: _constant(evidence, c, task.at) for c in named} for task in chosen)


def _constant(evidence: Evidence, column: Column, at: int) -> Interval:
    """The interval of a pseudo-column for one file."""
    interval = evidence.files.containers.take(pa.array([at])).interval(column)
    alone = {
        name: value[0].as_py()
        for name in ("value", "null", "nan")
        if not isinstance(value := getattr(interval, name), bool)
    }
    ends = {
        name: value[0]
        for name in ("lower", "upper")
        if isinstance(value := getattr(interval, name), pa.Array)
    }
    return replace(interval, **alone, **ends)
