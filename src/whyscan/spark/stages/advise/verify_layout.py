"""`whyscan.spark.verify_layout`: a layout is predicted, and then really written and measured."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.errors import TableError, UsageError
from whyscan.layouts.layout_check import CheckedNumber, CheckedQuery, LayoutCheck
from whyscan.layouts.replay import TableReplay
from whyscan.layouts.sample import choose
from whyscan.layouts.snapshot import hypothetical
from whyscan.layouts.table_scans import scans_by_table
from whyscan.planning.plan.request import options_of
from whyscan.reports.masked_records import masked
from whyscan.spark.stages.advise.written_copy import empty_folder, written_copy
from whyscan.spark.stages.inputs import workload_of
from whyscan.spark.tables import sources
from whyscan.tables import open_snapshot
from whyscan.terms import SAMPLE_BYTES, PlanTerms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from os import PathLike

    from pyspark.sql import SparkSession

    from whyscan.layouts.replay import Replayed
    from whyscan.spark.stages.advise.written_copy import WrittenCopy
    from whyscan.spark.stages.workload.query import Workload

    Paths = str | PathLike[str]


def verify_layout(
    spark: SparkSession,
    table: Paths,
    layout: str,
    workload: Workload | Paths | Sequence[Paths],
    *,
    to: Paths,
    name: str | None = None,
    fraction: float = 1.0,
    sample: int = SAMPLE_BYTES,
    dialect: str = "spark",
    timezone: str = "UTC",
    storage: Mapping[str, object] = MappingProxyType({}),
    progress: Callable[[str], None] = lambda _: None,
) -> LayoutCheck:
    """Write a copy of a table in a layout, and compare what was predicted with what it reads.

    - `table` is the address of a table, also as `NAME=URI`. The table is only read.
    - `layout` is a text as for `Table.with_layout`.
    - `workload` is paths of logs, or a `Workload`; its queries on the table are planned on both.
    - `to` is the folder for the copy, which must not exist or be empty.
    - `name` is how queries name the table; the default is the last part of its address.
    - `fraction` is the share of the rows that the copy has. Its files are smaller by this share.
    - `sample` is how many bytes of the table may be read for the prediction.
    """
    if not 0 < fraction <= 1:
        raise UsageError(f"no share of a table: {fraction}", hint="--fraction 0.1")
    (source,) = sources([str(table)], storage)
    name = name or source.name
    snapshot = open_snapshot([source.uri], {}, dict(storage))
    folder = empty_folder(str(to), snapshot.uri)
    planned = hypothetical(snapshot, layout, sample)
    read = workload_of(spark, workload, dialect, storage, {})
    options = options_of(PlanTerms(timezone=timezone))
    scans = scans_by_table(read.queries, {name: snapshot}, timezone, options).by_table[name]
    if all(scan.reads_everything for scan in scans):
        raise TableError(
            f"the workload has no condition on {name!r}",
            hint="name the table as the queries do: NAME=URI",
        )
    progress("predicting by a sample")
    today = TableReplay(snapshot, scans, options, sample)
    columns = tuple(dict.fromkeys((*planned.layout.columns, *today.columns)))
    drawn = choose(snapshot, today.files, columns, sample)
    replay = replace(today, thinned_sample=drawn)
    predicted = replay.layout_replayed(planned.layout.layout)
    progress(f"writing the copy to {folder}")
    copy = written_copy(spark, predicted.snapshot, folder, fraction)
    progress("planning the queries on the copy")
    measured = TableReplay(copy.snapshot, scans, options, sample)
    return masked(_compared(name, replay, predicted, copy, measured, fraction))


def _compared(
    name: str,
    replay: TableReplay,
    predicted: Replayed,
    copy: WrittenCopy,
    measured: TableReplay,
    fraction: float,
) -> LayoutCheck:
    sizes, files = replay.interval(predicted)
    measured_bytes, measured_files = measured.today.total(replay.runs)
    return LayoutCheck(
        table=name,
        uri=replay.snapshot.uri,
        format=replay.snapshot.format,
        layout=str(predicted.layout),
        fraction=fraction,
        written=copy.snapshot.uri,
        statements=copy.statements,
        bytes=CheckedNumber(
            round(predicted.bytes * fraction),
            round(sizes[0] * fraction),
            round(sizes[1] * fraction),
            measured_bytes,
        ),
        files=CheckedNumber(predicted.files, *files, measured_files),
        table_bytes=replay.table_bytes(),
        written_bytes=measured.table_bytes(),
        written_files=measured.files.count,
        queries=tuple(
            sorted(_queries(replay, predicted, measured, fraction), key=_difference, reverse=True)
        ),
    )


def _queries(
    replay: TableReplay, predicted: Replayed, measured: TableReplay, fraction: float
) -> Iterator[CheckedQuery]:
    """Yield one line per query; the scans of a table that is used twice are added."""
    lines: dict[str, CheckedQuery] = {}
    for at, scan in enumerate(replay.scans):
        before = lines.get(scan.query, CheckedQuery(scan.query, scan.runs, 0, 0, 0, 0, 0))
        lines[scan.query] = replace(
            before,
            bytes_today=before.bytes_today + int(replay.today.bytes[at]),
            bytes_predicted=before.bytes_predicted
            + round(int(predicted.amounts.bytes[at]) * fraction),
            bytes_measured=before.bytes_measured + int(measured.today.bytes[at]),
            files_predicted=before.files_predicted + int(predicted.amounts.files[at]),
            files_measured=before.files_measured + int(measured.today.files[at]),
        )
    yield from lines.values()


def _difference(line: CheckedQuery) -> int:
    return abs(line.bytes_measured - line.bytes_predicted) * line.runs
