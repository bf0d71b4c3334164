"""Replays a workload on layouts: what every scan would read, by the planner of real tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import EvaluationProblem, UsageError
from whyscan.layouts.layout import Layout
from whyscan.layouts.literal_columns import group_similar
from whyscan.layouts.sample import choose
from whyscan.layouts.snapshot import HypotheticalSnapshot, hypothetical
from whyscan.layouts.written_files import LEAST_ROWS_A_FILE
from whyscan.planning.plan.evidence import FILES, ROW_GROUPS
from whyscan.planning.plan.planner import make_plan, total_of
from whyscan.planning.plan.request import leaf_columns
from whyscan.planning.plan.scan_plan import Depth
from whyscan.profiles.prediction import EngineReader
from whyscan.profiles.weakened import roles_of, weakened
from whyscan.reports.report import make_report
from whyscan.scan.rows import FileRows, matching
from whyscan.tables.cached_snapshot import with_cache
from whyscan.tables.snapshot import Collected
from whyscan.tree import zones
from whyscan.tree.arrow import arrow_type
from whyscan.tree.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy.typing as npt

    from whyscan.layouts.literal_columns import SimilarPredicates
    from whyscan.layouts.sample import Sample
    from whyscan.layouts.table_scans import TableScan
    from whyscan.planning.plan.scan_plan import Options, ScanPlan
    from whyscan.profiles.rule import EngineProfile
    from whyscan.tables.snapshot import Files, Snapshot
    from whyscan.tree.nodes import Column, Path, Predicate

    Flags = npt.NDArray[np.bool_]
    Numbers = npt.NDArray[np.int64]

ROUGH_ROWS = 60_000
ROUGH_FILES = 1_000
ROUGH_SCANS = 200
"""A search lays out so many sampled rows in so many files for the costliest scans."""
DRAWN_SCANS = 100
"""The costliest scans, whose numbers say how far those of all scans may be off."""
_DRAWS = 10
_ROWS_A_FILE = 2 * LEAST_ROWS_A_FILE
"""Other draws of a sample leave out some of its rows."""


class Amounts(Struct, frozen=True):
    """What every scan of a workload reads once, in the order of the scans."""

    bytes: Numbers
    files: Numbers

    def total(self, runs: Numbers) -> tuple[int, int]:
        """The bytes and files of all runs."""
        return int(self.bytes @ runs), int(self.files @ runs)


class Replayed(Struct, frozen=True, eq=False):
    """A layout with what it would read."""

    snapshot: HypotheticalSnapshot
    amounts: Amounts
    bytes: int
    files: int

    @property
    def layout(self) -> Layout:
        return self.snapshot.layout.layout


class TableReplay(Struct, frozen=True, eq=False, dict=True):
    """A table with the scans of its workload, which are replayed on layouts of it.

    With `sample_bytes` 0 no row is read, and layouts have the bounds that today's files prove. With
    `profiles` a scan reads what the one of these engines reads that reads most. `sampled` is the
    snapshot that rows are read of, if it is another: the containers of an inventory have none. A
    rough replay has a thinned sample, and its layouts have at most `files_at_most` files.
    """

    snapshot: Snapshot
    scans: tuple[TableScan, ...]
    options: Options
    sample_bytes: int
    profiles: tuple[EngineProfile, ...] = ()
    sampled: Snapshot | None = None
    thinned_sample: Sample | None = None
    files_at_most: int | None = None

    @lazy
    def runs(self) -> Numbers:
        return np.array([scan.runs for scan in self.scans], np.int64)

    @lazy
    def today(self) -> Amounts:
        columns = dict.fromkeys(c for scan in self.scans for c in scan.predicate.columns())
        return self.planned(with_cache(self.snapshot, tuple(columns)), range(len(self.scans)))

    @lazy
    def files(self) -> Files:
        return self.snapshot.files(self.columns, zones.zone("UTC"))

    @lazy
    def columns(self) -> tuple[Column, ...]:
        """The columns that predicates name and rows can be ordered by, the costliest first."""
        sizes = self.today.bytes * self.runs
        costs: dict[Path, int] = {}
        for scan, size in zip(self.scans, sizes.tolist(), strict=True):
            for column in scan.predicate.columns():
                costs[column.path] = costs.get(column.path, 0) + size
        columns = {column.path: column for column in leaf_columns(self.snapshot)}
        usable = [
            p for p in costs if p in columns and not pa.types.is_null(arrow_type(columns[p].type))
        ]
        return tuple(columns[path] for path in sorted(usable, key=lambda path: -costs[path]))

    @lazy
    def base(self) -> Layout:
        """What every candidate has: statistics of the columns that the predicates name.

        A column has none today if the settings of the table leave it out.
        """
        recorded, missing = [], []
        for column in leaf_columns(self.snapshot):
            match self.snapshot.recording(column).collected:
                case Collected.YES:
                    recorded.append(column.path)
                case Collected.BEYOND_BUDGET | Collected.SWITCHED_OFF if column in self.columns:
                    missing.append(column.path)
                case _:
                    pass
        return Layout(statistics=(*recorded, *missing)) if missing else Layout()

    @lazy
    def sample(self) -> Sample:
        if self.thinned_sample is not None:
            return self.thinned_sample
        sampled = self.sampled or self.snapshot
        files = self.files if self.sampled is None else sampled.files((), zones.zone("UTC"))
        drawn = choose(sampled, files, self.columns, self.sample_bytes)
        drawn.columns(self.columns)
        return drawn

    @lazy
    def rough(self) -> TableReplay:
        """The costliest scans with a thinned sample and few files: quick, to rank layouts by."""
        chosen = self.costliest(ROUGH_SCANS)
        scans = tuple(self.scans[at] for at in chosen)
        sample = self.sample.thinned(ROUGH_ROWS) if self.sample_bytes else None
        rough = replace(self, scans=scans, thinned_sample=sample, files_at_most=ROUGH_FILES)
        # The costliest columns are those of all scans.
        rough.__dict__.update(columns=self.columns, files=self.files)
        return rough

    def costliest(self, count: int) -> list[int]:
        """The positions of the scans that read most today, in the order of the scans."""
        order = np.argsort(-(self.today.bytes * self.runs), kind="stable")
        return sorted(order[:count].tolist())

    @lazy
    def _similar(self) -> tuple[list[SimilarPredicates], list[int]]:
        return group_similar(scan.predicate for scan in self.scans)

    def amounts(self, snapshot: HypotheticalSnapshot) -> Amounts:
        """What each scan reads of a layout. Scans that differ in literals are planned together."""
        similar, alone = self._similar
        engines_differ = _engines_differ(snapshot, self.profiles)
        read = np.zeros((2, len(self.scans)), np.int64)
        columns = dict.fromkeys(c for scan in self.scans for c in scan.predicate.columns())
        files = snapshot.files(tuple(columns))
        sizes = files.bytes.to_numpy()
        hashed = {buckets.source for buckets in files.containers.buckets}
        for predicates in similar:
            by_engine = engines_differ(self.scans[predicates.at[0]].predicate)
            if not by_engine and hashed.isdisjoint(c.path for c in predicates.columns):
                kept = predicates.kept(files.containers)
                read[:, list(predicates.at)] = kept @ sizes, kept.sum(axis=1)
            else:
                alone = [*alone, *predicates.at]
        planned = self.planned(snapshot, alone)
        return Amounts(read[0] + planned.bytes, read[1] + planned.files)

    def planned(self, snapshot: Snapshot, chosen: Iterable[int]) -> Amounts:
        """What the `chosen` scans read, planned one by one; equal predicates are planned once."""
        read = np.zeros((2, len(self.scans)), np.int64)
        # Of manifests that only an engine opens, the bytes are counted if all are listed.
        options = replace(self.options, depth=Depth.FILES, every_manifest=bool(self.profiles))
        planned: dict[tuple[str, str, int | None], tuple[int, int]] = {}
        for at in chosen:
            predicate = self.scans[at].predicate
            key = (predicate.text, predicate.zone, predicate.now)
            if key not in planned:
                plan = make_plan(snapshot, predicate, options)
                planned[key] = _read_by(plan, self.profiles)
            read[:, at] = planned[key]
        return Amounts(read[0], read[1])

    def replayed(self, layout: Layout) -> Replayed | None:
        """Replay all scans on a layout; None if the table or the sample is not fit for it."""
        try:
            return self.layout_replayed(layout)
        except UsageError:
            return None

    def layout_replayed(self, layout: Layout) -> Replayed:
        """Replay all scans on a layout; an error if the table or the sample is not fit for it.

        If the sample has too few rows for files of the size of today, the layout has larger files.
        """
        sample = self.sample if self.sample_bytes else None
        files_at_most = self.files_at_most
        if sample is not None and not sample.is_whole:
            most = max(1, sample.rows // _ROWS_A_FILE)
            files_at_most = most if files_at_most is None else min(files_at_most, most)
        snapshot = replace(
            hypothetical(self.snapshot, layout, self.sample_bytes, sample),
            files_at_most=files_at_most,
        )
        if set(snapshot.layout.columns) <= set(self.columns):
            snapshot.share_files(self.files)
        amounts = self.amounts(snapshot)
        return Replayed(snapshot, amounts, *amounts.total(self.runs))

    def interval(self, replayed: Replayed) -> tuple[tuple[int, int], tuple[int, int]]:
        """The bytes and the files of all runs in other tables that the sample allows: low, high.

        The costliest scans say by which share the numbers may differ. Without a sample the low ends
        are what rows that surely match fill, and the high ends what bounds leave open.
        """
        if not self.sample_bytes:
            return self._proved_interval(replayed)
        chosen = self.costliest(DRAWN_SCANS)
        some = replace(self, scans=tuple(self.scans[at] for at in chosen))
        mine = Amounts(replayed.amounts.bytes[chosen], replayed.amounts.files[chosen])
        totals = np.array([mine.total(some.runs)], np.float64)
        for number in range(_DRAWS):
            drawn = some.amounts(replayed.snapshot.other_draw(number)).total(some.runs)
            totals = np.vstack((totals, drawn))
        shares = totals / np.maximum(totals[0], 1)
        (low_bytes, low_files), (high_bytes, high_files) = shares.min(axis=0), shares.max(axis=0)
        return (
            (round(replayed.bytes * low_bytes), round(replayed.bytes * high_bytes)),
            (round(replayed.files * low_files), round(replayed.files * high_files)),
        )

    def _proved_interval(self, replayed: Replayed) -> tuple[tuple[int, int], tuple[int, int]]:
        snapshot, rows = replayed.snapshot, self._rows_at_least
        files = np.minimum(replayed.amounts.files, -(-rows // round(snapshot.rows_a_file)))
        sizes = np.minimum(replayed.amounts.bytes, np.rint(rows * snapshot.bytes_a_row))
        low = int(sizes.astype(np.int64) @ self.runs), int(files.astype(np.int64) @ self.runs)
        return (low[0], replayed.bytes), (low[1], replayed.files)

    @lazy
    def _rows_at_least(self) -> Numbers:
        """For each scan the rows of today's files of which every row matches."""
        rows = np.zeros(len(self.scans), np.int64)
        options = replace(self.options, depth=Depth.FILES)
        for at, scan in enumerate(self.scans):
            plan = make_plan(self.snapshot, scan.predicate, options)
            rows[at] = make_report(plan, verbose=False).rows_matched.at_least or 0
        return rows

    def floor_bytes(self) -> int:
        """About the least that any layout reads: matching rows packed into files of today's size.

        A scan of which the sample has no row reads a file. Without a sample, rows that surely match
        are counted.
        """
        if not self.sample_bytes:
            total = self.table_bytes()
            rows = pc.sum(self.files.rows).as_py() or 0
            sure = int(self._rows_at_least @ self.runs)
            return round(sure * total / rows) if rows else 0
        if not self.columns:
            return self.today.total(self.runs)[0]
        sample = self.sample.thinned(ROUGH_ROWS)
        sizes = self.files.bytes
        total_bytes = pc.sum(sizes).as_py() or 0
        file_bytes = min(pc.quantile(sizes, 0.5)[0].as_py() or 0, total_bytes)
        values = {sampled.column: sampled.values for sampled in sample.columns(self.columns)}
        total = 0
        for scan, today in zip(self.scans, self.today.bytes.tolist(), strict=True):
            share = _matching_share(scan, sample, values)
            least = today
            if share is not None:
                nothing = not share and self.sample.is_whole and sample is self.sample
                files = 0 if nothing else max(1, -(-share * total_bytes // max(1, file_bytes)))
                least = min(today, round(files * file_bytes))
            total += scan.runs * least
        return total

    def table_bytes(self) -> int:
        return pc.sum(self.files.bytes).as_py() or 0


def _engines_differ(
    snapshot: HypotheticalSnapshot, profiles: Sequence[EngineProfile]
) -> Callable[[Predicate], bool]:
    """A function: whether an engine may read more files for a predicate than bounds prove."""
    table_format = snapshot.format
    reading = [profile for profile in profiles if profile.reads(table_format)]
    level = _level(snapshot)
    if any(not profile.prunes_at(table_format, level) for profile in reading):
        return lambda _: True
    roles = roles_of(snapshot)
    rules = [profile.rules(table_format, name) for profile in reading for name in (FILES, level)]
    return lambda predicate: any(weakened(predicate, some, roles).uses for some in rules)


def _level(snapshot: Snapshot) -> str:
    """The level whose rules say which files an engine reads: row groups, if footers have bounds."""
    is_described_by_footers = isinstance(snapshot, HypotheticalSnapshot) and (
        snapshot.base.footers_describe_files
    )
    return ROW_GROUPS if is_described_by_footers else FILES


def _read_by(plan: ScanPlan, profiles: Sequence[EngineProfile]) -> tuple[int, int]:
    """The bytes and files of the engine that reads most; without engines, those of the plan."""
    most = plan.summary.bytes_kept or 0, plan.summary.files_kept
    reading = [profile for profile in profiles if profile.reads(plan.snapshot.format)]
    if not reading:
        return most
    reader = EngineReader(plan, open_more=True)
    for profile in reading:
        if _level(plan.snapshot) == FILES:
            predicted = reader.predict(profile)
            most = max(most, (predicted.bytes or 0, predicted.files_kept))
        else:
            kept = _kept_by_footers(reader, profile)
            size = total_of(reader.evidence.bytes, kept) or 0
            most = max(most, (size, int(kept.sum())))
    return most


def _kept_by_footers(reader: EngineReader, profile: EngineProfile) -> Flags:
    """One flag per file of a layout whose bounds would stand in footers: the engine reads it.

    The rules for files are about partition values, those for row groups about all bounds.
    """
    level = reader.evidence.file_level
    containers = level.listed.containers
    kept = np.ones(level.listed.count, np.bool_)
    for name, described in (
        (FILES, containers.by_partition()),
        (ROW_GROUPS, containers),
    ):
        if profile.prunes_at(reader.format, name):
            used = weakened(reader.plan.predicate, profile.rules(reader.format, name), reader.roles)
            kept &= reader.kept(name, described, used)
    return kept | level.verdicts.kept


def _matching_share(
    scan: TableScan, sample: Sample, values: dict[Column, pa.Array]
) -> float | None:
    """Which share of the sampled rows matches; None if it cannot be computed."""
    named = {column: values.get(column) for column in scan.predicate.columns()}
    if any(array is None for array in named.values()) or not sample.rows:
        return None
    rows = FileRows(sample.rows, named, {}, zones.zone(scan.predicate.zone))
    try:
        matches = matching([c.expression for c in scan.predicate.conjuncts], rows)
    except EvaluationProblem:
        return None
    return float(np.count_nonzero(matches)) / sample.rows
