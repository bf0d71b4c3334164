"""The listing: every live file with its statistics and verdict, for `--verbose` and HTML.

The files are stored as columns, because a table may have a hundred thousand files. Lines are made
when they are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
import pyarrow as pa
from msgspec import Meta, Struct
from msgspec.structs import replace

from whyscan.fields import Count, FilePath, Name, Record, Sentence, Sql, Word, one_of
from whyscan.planning.plan.file_scans import Residuals
from whyscan.planning.plan.mechanisms import Mechanism, credit
from whyscan.planning.why.reason_codes import Reason
from whyscan.planning.why.reasons import REASONS, REMOVED, TOGETHER
from whyscan.reports.file_bounds import ColumnBounds, file_bounds
from whyscan.reports.file_evidence import (
    Cause,
    FileStatistics,
    causes,
    of_removed,
    of_survivor,
    of_unneeded,
)
from whyscan.reports.values import JsonValue, json_values
from whyscan.tree.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.planning.plan.evidence import Evidence
    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.planning.why.reasons import Why

Bounds = tuple[JsonValue, JsonValue]

BATCH = 10_000


class FileLine(Record, frozen=True, rename={"removers": "pruned_by_conjuncts"}):
    """One live file.

    Values are booleans and numbers as they are; NaN and infinities, decimals, dates and timestamps,
    text and binary are text. A null partition value is SQL NULL; a null bound is unknown.
    """

    PLAIN: ClassVar = True

    path: Annotated[FilePath, Meta(description="The path as the table records it.")]
    bytes: Count | None
    rows: Count | None
    partition: Mapping[Name, JsonValue]
    bounds: Annotated[
        Mapping[Name, Bounds], Meta(description="Lower and upper bound, if one of them is known.")
    ]
    verdict: Annotated[
        Word,
        Meta(description="none: no row is read; some: rows may match; all: every row matches."),
        one_of("none", "some", "all"),
    ]
    pruned_by: Annotated[
        Word | None, one_of("partition", "statistics", "bloom", "dictionary", "join", "limit")
    ]
    reason: Annotated[
        Word | None,
        Meta(description="Why the file is kept; null for a removed file."),
        one_of(*Reason),
    ]
    row_groups: Annotated[
        tuple[Count, ...] | None,
        Meta(description="The ordinals to read; null if the footer was not opened."),
    ]
    residual: Annotated[
        Sql | None, Meta(description="The condition left to check on the rows of this file.")
    ]
    pruned_at: Annotated[
        Word | None,
        Meta(description="The level that removed the file; null for a kept file."),
        one_of("manifests", "files"),
    ]
    removers: Annotated[
        tuple[Count, ...],
        Meta(description="The positions of the conjuncts that each remove the file alone."),
    ]
    evidence: Annotated[
        Sentence, Meta(description="What the metadata says against the predicate, in words.")
    ]


class Listing(Struct, frozen=True, dict=True):
    """The live files in the table's order; every column has one slot per file.

    `ranges` has the bounds of the predicate's columns. `conjunct` is the position in `causes` of
    the conjunct that the reason is about. `spec` is the number of the file's partition spec.
    `unneeded` says why a LIMIT does not need a file.
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
    pruned_at: pa.DictionaryArray
    removers: pa.ListArray
    conjunct: pa.Array
    spec: pa.Array
    causes: tuple[Cause, ...]
    unneeded: str = ""

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def bounds(self) -> tuple[ColumnBounds, ...]:
        """The bounds of columns that have no partition values; `partition` has the others."""
        return tuple(column for column in self.ranges if not column.partitioned)

    def lines(self) -> Iterator[FileLine]:
        """Yield one line per file."""
        for start in range(0, len(self), BATCH):
            yield from self._batch(slice(start, start + BATCH))

    def _batch(self, part: slice) -> Iterator[FileLine]:
        partition = _partitions(self.partition[part], len(self.paths[part]))
        ranges = self._ranges(part)
        removers = [tuple(positions) for positions in self.removers[part].to_pylist()]
        columns = zip(
            self.paths[part].to_pylist(),
            self.bytes[part].to_pylist(),
            self.rows[part].to_pylist(),
            partition,
            self._bounds(ranges),
            self.verdict[part].to_pylist(),
            self.pruned_by[part].to_pylist(),
            self.reason[part].to_pylist(),
            (None if r is None else tuple(r) for r in self.row_groups[part].to_pylist()),
            self.residual[part].to_pylist(),
            self.pruned_at[part].to_pylist(),
            removers,
            self._evidence(part, partition, ranges, removers),
            strict=True,
        )
        return (FileLine(*line) for line in columns)

    def _evidence(
        self,
        part: slice,
        partition: Sequence[Mapping[str, JsonValue]],
        ranges: Sequence[Mapping[str, Bounds]],
        removers: Sequence[Sequence[int]],
    ) -> Iterator[str]:
        statistics = zip(ranges, partition, self.spec[part].to_pylist(), strict=True)
        reasons, about = self.reason[part].to_pylist(), self.conjunct[part].to_pylist()
        columns = zip(
            statistics, self.pruned_by[part].to_pylist(), reasons, about, removers, strict=True
        )
        limit = Mechanism.LIMIT.word
        for file_statistics, mechanism, reason, conjunct, removing in columns:
            if mechanism == limit:
                yield self.unneeded
            elif reason is None:
                cause = self.causes[removing[0]] if removing else self.causes[-1]
                yield of_removed(cause, FileStatistics(*file_statistics))
            else:
                yield of_survivor(
                    Reason(reason), self.causes[conjunct], FileStatistics(*file_statistics)
                )

    def _bounds(self, ranges: Sequence[Mapping[str, Bounds]]) -> Sequence[Mapping[str, Bounds]]:
        if len(self.bounds) == len(self.ranges):
            return ranges
        names = {column.column for column in self.bounds}
        return [{name: line[name] for name in line if name in names} for line in ranges]

    def _ranges(self, part: slice) -> Sequence[Mapping[str, Bounds]]:
        lines: list[dict[str, Bounds]] = [{} for _ in range(len(self.paths[part]))]
        for column in self.ranges:
            lower, upper = (
                json_values(end[part], column.type) for end in (column.lower, column.upper)
            )
            for line, low, high in zip(lines, lower, upper, strict=True):
                if low is not None or high is not None:
                    line[column.column] = (low, high)
        return lines

    @lazy
    def table(self) -> pa.Table:
        """The listing as one Arrow table. `partition` and `bounds` are structs, null if empty."""
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
                "pruned_at": self.pruned_at,
                "removers": self.removers,
            }
        )


def listing(plan: ScanPlan, why: Why) -> Listing:
    """List every file of the plan, with its verdict and the evidence for it."""
    evidence = plan.evidence
    files, judgement = evidence.files, evidence.judgement
    mechanism = credit(evidence.file_level)
    codes, conjunct = (
        np.full(plan.counted.count, REMOVED, np.int8),
        np.full(plan.counted.count, TOGETHER, np.int16),
    )
    codes[why.at], conjunct[why.at] = why.codes, why.conjunct
    codes, conjunct = plan.counted.each_file(codes), plan.counted.each_file(conjunct)
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
            [m.word for m in Mechanism],
        ),
        reason=pa.DictionaryArray.from_arrays(
            pa.array(codes, mask=codes == REMOVED), [r.value for r in REASONS]
        ),
        row_groups=_row_groups(evidence),
        residual=_texts(Residuals(plan.predicate, evidence).texts()),
        pruned_at=_pruned_at(evidence),
        removers=_removers(evidence),
        conjunct=pa.array(conjunct),
        spec=pa.nulls(files.count) if files.spec is None else files.spec,
        causes=causes(plan),
        unneeded="" if evidence.limit is None else of_unneeded(evidence.limit),
    )


def join_listings(parts: Sequence[Listing]) -> Listing:
    """Join the listings of the parts of a table, one part after another."""
    filled = [part for part in parts if len(part)] or list(parts[:1])
    if len(filled) == 1:
        return filled[0]

    def joined(name: str) -> pa.Array:
        return _join_arrays([getattr(part, name) for part in filled])

    return Listing(
        paths=joined("paths"),
        bytes=joined("bytes"),
        rows=joined("rows"),
        partition=join_partitions([(part.partition, len(part)) for part in filled]),
        ranges=tuple(_join_ranges(filled)),
        verdict=joined("verdict"),
        pruned_by=joined("pruned_by"),
        reason=joined("reason"),
        row_groups=joined("row_groups"),
        residual=joined("residual"),
        pruned_at=joined("pruned_at"),
        removers=joined("removers"),
        conjunct=joined("conjunct"),
        spec=joined("spec"),
        causes=filled[0].causes,
        unneeded=filled[0].unneeded,
    )


def join_partitions(parts: Sequence[tuple[pa.Table, int]]) -> pa.Table:
    """Join the partition values of parts, each with its number of files.

    A column that a part does not have is null there. The number of files is a separate argument,
    because an Arrow table without columns has no rows.
    """
    names = dict.fromkeys(name for table, _ in parts for name in table.column_names)

    def values(name: str) -> Iterator[pa.Array]:
        for table, count in parts:
            has_column = name in table.column_names
            yield table[name].combine_chunks() if has_column else pa.nulls(count)

    return pa.table({name: _join_arrays(list(values(name))) for name in names})


def _join_ranges(parts: Sequence[Listing]) -> Iterator[ColumnBounds]:
    """Join the bounds of the columns that some part has bounds for, in the predicate's order."""
    columns_of_parts = [{column.column: column for column in part.ranges} for part in parts]
    for name in parts[0].causes[-1].columns:
        example = next((columns[name] for columns in columns_of_parts if name in columns), None)
        if example is None:
            continue
        ends: tuple[list[pa.Array], list[pa.Array]] = ([], [])
        for columns, part in zip(columns_of_parts, parts, strict=True):
            nothing = pa.nulls(len(part), example.lower.type)
            column = columns.get(name)
            ends[0].append(nothing if column is None else column.lower)
            ends[1].append(nothing if column is None else column.upper)
        yield replace(example, lower=_join_arrays(ends[0]), upper=_join_arrays(ends[1]))


def _join_arrays(arrays: Sequence[pa.Array]) -> pa.Array:
    """Join arrays that may have different Arrow types for the same values."""
    first_type = arrays[0].type
    if pa.types.is_dictionary(first_type):
        return pa.chunked_array(arrays).unify_dictionaries().combine_chunks()
    plain = next((a.type for a in arrays if not pa.types.is_null(a.type)), first_type)
    return pa.concat_arrays([array.cast(plain) for array in arrays])


def _pruned_at(evidence: Evidence) -> pa.DictionaryArray:
    """Return the level that removed each file: its manifest, or the file's own statistics."""
    kept, above = evidence.judgement.kept, evidence.manifest_level
    level = np.ones(len(kept), np.int8)
    if above is not None and evidence.files.manifest is not None:
        level[~above.verdicts.kept[evidence.files.manifest.to_numpy()]] = 0
    return pa.DictionaryArray.from_arrays(pa.array(level, mask=kept), ["manifests", "files"])


def _removers(evidence: Evidence) -> pa.ListArray:
    """Return for each file the conjuncts that each remove it alone."""
    count = evidence.files.count
    kept_by_conjunct = evidence.judgement.conjunct_kept
    stays = np.array(kept_by_conjunct, np.bool_).reshape(len(kept_by_conjunct), count)
    files, conjuncts = np.nonzero(~stays.T & ~evidence.judgement.kept[:, None])
    offsets = np.concatenate(([0], np.bincount(files, minlength=count).cumsum()))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(conjuncts, pa.int32()))


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
    """Return the kept row group ordinals of each file; null for files that were not opened."""
    level, count = evidence.row_group_level, evidence.files.count
    if level is None:
        return pa.nulls(count, pa.list_(pa.int32()))
    kept = evidence.read(level)
    owners = level.listed.owners.to_numpy()[kept]
    offsets = np.concatenate(([0], np.bincount(owners, minlength=count).cumsum()))
    ordinals = level.listed.ordinal.to_numpy()[kept][np.argsort(owners, kind="stable")]
    return pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()),
        pa.array(ordinals, pa.int32()),
        mask=pa.array(~evidence.file_level.opened),
    )


def _struct(columns: Mapping[str, pa.Array | pa.ChunkedArray], count: int) -> pa.Array:
    """Make one struct per file; nulls without columns, because a struct array needs a field."""
    if not columns:
        return pa.nulls(count)
    arrays = [c.combine_chunks() if isinstance(c, pa.ChunkedArray) else c for c in columns.values()]
    return pa.StructArray.from_arrays(arrays, names=list(columns))
