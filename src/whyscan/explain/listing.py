"""Every live file with what is known of it: the long form that `--verbose` asks for.

Kept as columns, because a table may have a hundred thousand files; lines are made on the way out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from whyscan.explain.file_bounds import ColumnBounds, file_bounds
from whyscan.explain.levels import group_files
from whyscan.explain.values import JsonValue, json_values
from whyscan.planning.plan import Mechanism
from whyscan.planning.reasons import REASONS, REMOVED
from whyscan.planning.scans import Residuals

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.planning.plan import Evidence, ScanPlan
    from whyscan.planning.reasons import Why

Bounds = tuple[JsonValue, JsonValue]

BATCH = 10_000


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


@dataclass(frozen=True)
class Listing:
    """The live files in the table's order, one slot a file in every column.

    `ranges` tells of each column of the predicate where it lies in each file.
    """

    paths: pa.Array
    bytes: pa.Array
    rows: pa.Array
    partition: pa.Table
    ranges: tuple[ColumnBounds, ...]
    verdict: pa.DictionaryArray
    pruned_by: pa.DictionaryArray
    reason: pa.DictionaryArray
    row_groups: pa.ListArray
    residual: pa.DictionaryArray

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def bounds(self) -> tuple[ColumnBounds, ...]:
        """The columns that partition values say nothing of: those are told by `partition`."""
        return tuple(column for column in self.ranges if not column.partitioned)

    def lines(self) -> Iterator[FileLine]:
        """One line a file."""
        for start in range(0, len(self), BATCH):
            yield from self._batch(slice(start, start + BATCH))

    def _batch(self, part: slice) -> Iterator[FileLine]:
        columns = zip(
            self.paths[part].to_pylist(),
            self.bytes[part].to_pylist(),
            self.rows[part].to_pylist(),
            _partitions(self.partition[part], len(self.paths[part])),
            self._bounds(part),
            self.verdict[part].to_pylist(),
            self.pruned_by[part].to_pylist(),
            self.reason[part].to_pylist(),
            (None if r is None else tuple(r) for r in self.row_groups[part].to_pylist()),
            self.residual[part].to_pylist(),
            strict=True,
        )
        return (FileLine(*line) for line in columns)

    def _bounds(self, part: slice) -> Sequence[Mapping[str, Bounds]]:
        lines: list[dict[str, Bounds]] = [{} for _ in range(len(self.paths[part]))]
        for column in self.bounds:
            lower, upper = (
                json_values(end[part], column.type) for end in (column.lower, column.upper)
            )
            for line, low, high in zip(lines, lower, upper, strict=True):
                if low is not None or high is not None:
                    line[column.column] = (low, high)
        return lines

    @cached_property
    def table(self) -> pa.Table:
        """The same as one Arrow table; `partition` and `bounds` are structs, null for nothing."""
        return pa.table(
            {
                "path": self.paths,
                "bytes": self.bytes,
                "rows": self.rows,
                "partition": _struct(_by_name(self.partition), len(self)),
                "bounds": _struct({c.column: c.typed() for c in self.bounds}, len(self)),
                "verdict": self.verdict,
                "pruned_by": self.pruned_by,
                "reason": self.reason,
                "row_groups": self.row_groups,
                "residual": self.residual,
            }
        )


def listing(plan: ScanPlan, why: Why) -> Listing:
    """Every file of the plan, with its verdict and the evidence for it."""
    evidence = plan.evidence
    files, judgement = evidence.files, evidence.judgement
    mechanism = evidence.pruned_by()
    return Listing(
        paths=files.paths,
        bytes=files.bytes,
        rows=files.rows,
        partition=files.partition,
        ranges=file_bounds(plan),
        verdict=pa.DictionaryArray.from_arrays(
            pa.array(judgement.kept.astype(np.int8) + judgement.every), ["none", "some", "all"]
        ),
        pruned_by=pa.DictionaryArray.from_arrays(
            pa.array(mechanism, mask=mechanism == Mechanism.NOTHING),
            [m.name.lower() for m in Mechanism],
        ),
        reason=pa.DictionaryArray.from_arrays(
            pa.array(why.codes, mask=why.codes == REMOVED), [r.value for r in REASONS]
        ),
        row_groups=_row_groups(evidence),
        residual=_texts(Residuals(plan.predicate, evidence).texts()),
    )


def _texts(values: Sequence[str | None]) -> pa.DictionaryArray:
    return pa.array(values, pa.string()).dictionary_encode()


def _partitions(table: pa.Table, count: int) -> Sequence[Mapping[str, JsonValue]]:
    columns = [json_values(column) for column in table.columns]
    if not columns:
        return [{}] * count
    names = table.column_names
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def _by_name(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    return dict(zip(table.column_names, table.columns, strict=True))


def _row_groups(evidence: Evidence) -> pa.ListArray:
    """The ordinals that stay, file by file; null for files that were not opened."""
    groups, found = evidence.groups, evidence.group_judgement
    count = evidence.files.count
    if groups is None or found is None:
        return pa.nulls(count, pa.list_(pa.int32()))
    owners = group_files(groups)[found.kept]
    closed = np.ones(count, np.bool_)
    closed[groups.opened.to_numpy()] = False
    offsets = np.concatenate(([0], np.bincount(owners, minlength=count).cumsum()))
    ordinals = groups.ordinal.to_numpy()[found.kept][np.argsort(owners, kind="stable")]
    return pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()), pa.array(ordinals, pa.int32()), mask=pa.array(closed)
    )


def _struct(columns: Mapping[str, pa.Array | pa.ChunkedArray], count: int) -> pa.Array:
    """One struct a file; nulls where there is no column, since Arrow's structs have some."""
    if not columns:
        return pa.nulls(count)
    whole = [c.combine_chunks() if isinstance(c, pa.ChunkedArray) else c for c in columns.values()]
    return pa.StructArray.from_arrays(whole, names=list(columns))
