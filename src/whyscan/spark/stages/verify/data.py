"""Choose the files that are read, and count their row groups with Spark.

Data files whose footers cannot be read are left out, so that the other files are verified.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.errors import CorruptFile
from whyscan.pruning.transforms import Bucket
from whyscan.scan.projection import pruned
from whyscan.spark.stages.verify.conditions import paths_read
from whyscan.spark.stages.verify.result import UnreadableFile
from whyscan.spark.stages.verify.rows import FILE, GROUP, Hashed, NumberedFile, RowReader
from whyscan.spark.stages.verify.truth import RowChecks, counted
from whyscan.spark.stages.verify.verdicts import Observed
from whyscan.tables.parquet.snapshot import ParquetSnapshot

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import numpy.typing as npt
    from pyspark.sql import SparkSession

    from whyscan.pruning.containers import Buckets, Containers
    from whyscan.spark.stages.verify.conditions import CheckedPredicate
    from whyscan.tables.file_columns import DataFile, FileReading
    from whyscan.tables.snapshot import Files, RowGroups, Snapshot
    from whyscan.tree.nodes import Column, Path
    from whyscan.tree.zones import Zone

    Numbers = npt.NDArray[np.int64]


class Chosen(Struct, frozen=True):
    """The files that are read, by position in `at`, with their row groups.

    `unreadable` are the files with damaged footers; `snapshot` does not open them. `total` is the
    number of all live files.
    """

    snapshot: Snapshot
    files: Files
    at: tuple[int, ...]
    groups: RowGroups
    columns: tuple[Column, ...]
    unreadable: tuple[UnreadableFile, ...]
    total: int


def choose(
    snapshot: Snapshot, columns: tuple[Column, ...], zone: Zone, at_most: int | None
) -> Chosen:
    """Choose all live files, or a random sample of `at_most`, equal for the same table."""
    files = snapshot.files(columns, zone)
    total = files.count
    at = list(range(total))
    if at_most is not None and at_most < total:
        at = sorted(random.Random(total).sample(at, at_most))  # noqa: S311 - no secret
    looked = list(range(total)) if snapshot.footers_describe_files else at
    gone = damaged(snapshot, files, looked)
    paths = files.paths
    unreadable = tuple(UnreadableFile(paths[i].as_py(), why) for i, why in gone.items())
    spared = without(snapshot, gone)
    if gone and snapshot.footers_describe_files:
        left = {old: new for new, old in enumerate(i for i in looked if i not in gone)}
        files, at = spared.files(columns, zone), [left[i] for i in at if i in left]
    at = [i for i in at if snapshot.footers_describe_files or i not in gone]
    groups = spared.row_groups(files, pa.array(at, pa.int64()), columns, ())
    return Chosen(spared, files, tuple(at), groups, columns, unreadable, total)


def bucketed(
    columns: Sequence[Column], containers: Containers
) -> tuple[tuple[Column, Buckets], ...]:
    """The bucket fields of some columns, each with its source column."""
    by_path = {column.path: column for column in columns}
    return tuple(
        (by_path[buckets.source], buckets)
        for buckets in containers.buckets
        if buckets.source in by_path and isinstance(buckets.transform, Bucket)
    )


class Data(Struct, frozen=True):
    """The counts of the data: one row per row group of the readable files.

    `failed` has Spark's reasons for predicates that it could not evaluate. `file_columns` are
    partition columns that the data files may contain too.
    """

    table: pa.Table
    files: tuple[DataFile, ...]
    at: tuple[int, ...]
    file_columns: tuple[Column, ...]
    failed: Mapping[int, str]
    unreadable: tuple[UnreadableFile, ...]

    def observed(self, number: int) -> Observed:
        """The counts of one predicate."""

        def column(name: str) -> Numbers:
            values = pc.fill_null(self.table[name].combine_chunks(), -1)
            numbers: Numbers = values.to_numpy(zero_copy_only=False).astype(np.int64)
            return numbers

        names = (f"{kind}_{number}" for kind in ("true", "raised", "first_true", "first_other"))
        return Observed(*map(column, (FILE, GROUP, "live", *names)))


def read(
    spark: SparkSession, chosen: Chosen, questions: Sequence[CheckedPredicate], zone: Zone
) -> Data:
    """Read the chosen files and count rows, predicates and extremes."""
    at = pa.array(chosen.at, pa.int64())
    reading = chosen.snapshot.reading(chosen.files, at, zone)
    file_columns = _columns_also_in_files(chosen, reading)
    buckets = bucketed(chosen.columns, chosen.files.containers)
    reader = RowReader(
        pruned(reading.columns, paths_read(questions, chosen.columns)),
        pruned(reading.columns, [c.path for c in file_columns]),
        reading.naming,
        tuple(Hashed(column, bucket.transform) for column, bucket in buckets),
    )
    sizes = (size or 0 for size in chosen.files.bytes.take(at).to_pylist())
    files = [
        NumberedFile(*numbered) for numbered in zip(chosen.at, reading.files, sizes, strict=True)
    ]
    predicates = tuple((n, q.sql) for n, q in enumerate(questions) if q.sql is not None)
    checks = RowChecks(predicates, chosen.columns, file_columns, len(buckets))
    counts = counted(spark, reader, files, checks)
    bad = counts.table.filter(counts.table["failure"].is_valid())
    why = dict(zip(bad[FILE].to_pylist(), bad["failure"].to_pylist(), strict=True))
    kept = [(at, file) for at, file in zip(chosen.at, reading.files, strict=True) if at not in why]
    paths = chosen.files.paths
    of_readable_files = pc.invert(pc.is_in(counts.table[FILE], pa.array(list(why), pa.int64())))
    return Data(
        counts.table.filter(of_readable_files).combine_chunks(),
        tuple(file for _, file in kept),
        tuple(at for at, _ in kept),
        file_columns,
        counts.failed,
        tuple(UnreadableFile(paths[at].as_py(), reason) for at, reason in sorted(why.items())),
    )


def _columns_also_in_files(chosen: Chosen, reading: FileReading) -> tuple[Column, ...]:
    """The partition columns whose values come from metadata, but may be in the files too."""
    if not reading.naming.constants_win:
        return ()
    constant_paths = {path for file in reading.files for path in file.constants}
    return tuple(c for c in chosen.columns if c.path in constant_paths and len(c.path) == 1)


def damaged(snapshot: Snapshot, files: Files, at: Sequence[int]) -> dict[int, str]:
    """The positions of files with corrupt footers, and the reasons, by binary search."""
    try:
        snapshot.row_groups(files, pa.array(at, pa.int64()), (), ())
    except CorruptFile as error:
        if len(at) == 1:
            return {at[0]: error.message}
        middle = len(at) // 2
        first = damaged(snapshot, files, at[:middle])
        return {**first, **damaged(snapshot, files, at[middle:])}
    return {}


def without(snapshot: Snapshot, gone: Mapping[int, str]) -> Snapshot:
    """The snapshot without the footers of the files in `gone`; the positions of files stay.

    A listing of Parquet files has no other metadata: there the files themselves are left out, and
    the positions change.
    """
    if not gone:
        return snapshot
    if isinstance(snapshot, ParquetSnapshot):
        count = snapshot.objects.num_rows
        left = pa.array([at for at in range(count) if at not in gone], pa.int64())
        return snapshot.at(left)
    return cast("Snapshot", _Sparing(snapshot, gone))


class _Sparing:
    """A snapshot that does not open some footers."""

    def __init__(self, snapshot: Snapshot, gone: Collection[int]) -> None:
        self._snapshot = snapshot
        self._gone = gone

    def __getattr__(self, name: str) -> Any:
        return getattr(self._snapshot, name)

    def files(
        self, columns: Sequence[Column], zone: Zone, manifests: pa.Array | None = None
    ) -> Files:
        return self._snapshot.files(columns, zone, manifests)

    def row_groups(
        self,
        files: Files,
        opened: pa.Array,
        columns: Sequence[Column],
        projection: Sequence[Path] | None,
        *,
        keep_footers: bool = False,
    ) -> RowGroups:
        left = pa.array([at for at in opened.to_pylist() if at not in self._gone], pa.int64())
        return self._snapshot.row_groups(
            files, left, columns, projection, keep_footers=keep_footers
        )
