"""Every live file with what is known of it: the long form that `--verbose` asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from whyscan.explain.levels import group_files
from whyscan.explain.values import JsonValue, json_values
from whyscan.planning.judgement import flags
from whyscan.planning.plan import Mechanism
from whyscan.planning.scans import Residuals
from whyscan.predicate import arrow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from whyscan.planning.plan import Evidence, ScanPlan
    from whyscan.predicate.tree import Column
    from whyscan.pruning.interval import Interval
    from whyscan.pruning.mask import Vector

Bounds = tuple[JsonValue, JsonValue]


@dataclass(frozen=True, slots=True)
class FileLine:
    """One live file. `row_groups` are the ordinals to read, None where nobody looked.

    `bounds` has the columns of which something is known. `reason` says why it stays, None where
    it goes; `residual` is None where nothing is left to check.
    """

    path: str
    bytes: int | None
    rows: int | None
    partition: Mapping[str, JsonValue]
    bounds: Mapping[str, Bounds]
    verdict: str
    pruned_by: str | None
    reason: str | None
    row_groups: tuple[int, ...] | None
    residual: str | None


def listing(plan: ScanPlan, reasons: npt.NDArray[np.object_]) -> tuple[FileLine, ...]:
    """One line a file, in the table's order."""
    evidence = plan.evidence
    judgement = evidence.judgement
    verdicts = np.where(judgement.every, "all", np.where(judgement.kept, "some", "none"))
    mechanisms = [Mechanism(m) for m in evidence.pruned_by().tolist()]
    columns = zip(
        evidence.files.paths.to_pylist(),
        evidence.files.bytes.to_pylist(),
        evidence.files.rows.to_pylist(),
        _partitions(evidence),
        _bounds(plan),
        verdicts.tolist(),
        [None if m is Mechanism.NOTHING else m.name.lower() for m in mechanisms],
        [None if r is None else str(r) for r in reasons.tolist()],
        _row_groups(evidence),
        Residuals(plan.predicate, evidence).texts(),
        strict=True,
    )
    return tuple(FileLine(*line) for line in columns)


def _partitions(evidence: Evidence) -> Sequence[Mapping[str, JsonValue]]:
    table = evidence.files.partition
    columns = [json_values(column) for column in table.columns]
    if not columns:
        return [{}] * evidence.files.count
    names = table.column_names
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def _row_groups(evidence: Evidence) -> Sequence[tuple[int, ...] | None]:
    lines: list[tuple[int, ...] | None] = [None] * evidence.files.count
    groups, found = evidence.groups, evidence.group_judgement
    if groups is None or found is None:
        return lines
    kept: dict[int, list[int]] = {file: [] for file in groups.opened.to_pylist()}
    ordinals = groups.ordinal.to_numpy()
    for file, ordinal in zip(
        group_files(groups)[found.kept].tolist(), ordinals[found.kept].tolist(), strict=True
    ):
        kept[file].append(ordinal)
    for file, chosen in kept.items():
        lines[file] = tuple(chosen)
    return lines


def _bounds(plan: ScanPlan) -> Sequence[Mapping[str, Bounds]]:
    partitioned = set(plan.snapshot.partition_sources)
    lines: list[dict[str, Bounds]] = [{} for _ in range(plan.evidence.files.count)]
    for column in plan.predicate.columns():
        if column.path in partitioned:
            continue
        for file, ends in _ends(column, plan):
            lines[file][".".join(column.path)] = ends
    return lines


def _ends(column: Column, plan: ScanPlan) -> Iterator[tuple[int, Bounds]]:
    """The files of which a bound of the column is known, with both ends."""
    evidence = plan.evidence
    if plan.snapshot.footers_describe_files and evidence.groups is not None:
        hulls = _hulls(evidence.groups.containers.statistics.get(column.path), evidence)
    else:
        hulls = _table(evidence.files.containers.statistics.get(column.path), evidence)
    if hulls is None:
        return
    lower = json_values(hulls.column("lower"), column.type)
    upper = json_values(hulls.column("upper"), column.type)
    for file, low, high in zip(hulls.column("file").to_pylist(), lower, upper, strict=True):
        if low is not None or high is not None:
            yield file, (low, high)


def _table(interval: Interval | None, evidence: Evidence) -> pa.Table | None:
    """Bounds that the format records for the files themselves."""
    return None if interval is None else _ranges(interval, np.arange(evidence.files.count))


def _hulls(interval: Interval | None, evidence: Evidence) -> pa.Table | None:
    """From the least to the greatest bound of a file's row groups.

    A row group without values adds nothing; one without a bound leaves the file without it.
    """
    if interval is None or evidence.groups is None:
        return None
    ranges = _ranges(interval, group_files(evidence.groups))
    if ranges is None:
        return None
    valued = ranges.filter(pa.array(flags(interval.value, len(ranges))))
    whole = pc.ScalarAggregateOptions(skip_nulls=False)
    grouped = valued.group_by("file").aggregate([("lower", "min", whole), ("upper", "max", whole)])
    return grouped.rename_columns({"lower_min": "lower", "upper_max": "upper"})


def _ranges(interval: Interval, files: npt.NDArray[np.int64]) -> pa.Table | None:
    if interval.lower is None and interval.upper is None:
        return None
    stored = arrow.arrow_type(interval.type)
    lower, upper = (_whole(end, stored, len(files)) for end in (interval.lower, interval.upper))
    return pa.table({"file": files, "lower": lower, "upper": upper})


def _whole(end: Vector | None, stored: pa.DataType, count: int) -> pa.Array:
    if end is None:
        return pa.nulls(count, stored)
    return end if isinstance(end, pa.Array) else pa.repeat(end, count)
