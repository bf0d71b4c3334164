"""The kept files of a plan as `FileScan`s, each with its own residual."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from msgspec import Struct

from whyscan.tables.storage.store import joined_ranges
from whyscan.tree.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from whyscan.planning.plan.evidence import Evidence
    from whyscan.tree.nodes import Predicate


_RANGES = pa.list_(pa.list_(pa.int64(), 2))


class FileScan(Struct, frozen=True):
    """One file to read.

    `row_groups` are the ordinals of the row groups to read, None where the footer was not opened.
    `byte_ranges` are (start, end) of the column chunks to read. `residual` is the condition that
    must still be checked on the file's rows, None where all rows match.
    """

    path: str
    bytes: int | None
    rows: int | None
    row_groups: tuple[int, ...] | None
    byte_ranges: tuple[tuple[int, int], ...]
    residual: str | None


def file_scans(predicate: Predicate, evidence: Evidence) -> Iterator[FileScan]:
    """Every file that must be read, in the table's order."""
    groups = _surviving_groups(evidence)
    residual = Residuals(predicate, evidence)
    files = evidence.files
    kept = np.flatnonzero(evidence.judgement.kept)
    columns = (c.take(pa.array(kept)).to_pylist() for c in (files.paths, files.bytes, files.rows))
    for index, path, size, rows in zip(kept.tolist(), *columns, strict=True):
        ordinals, ranges = groups.get(index, (None, ()))
        if ordinals is not None and not ordinals:
            continue
        yield FileScan(
            path=path,
            bytes=size,
            rows=rows,
            row_groups=ordinals,
            byte_ranges=ranges,
            residual=residual.text(index),
        )


class Residuals:
    """The residual of each file: the conjuncts that are not `all` for it."""

    def __init__(self, predicate: Predicate, evidence: Evidence) -> None:
        self._predicate = predicate
        self._kept = evidence.judgement.kept
        self._open = [~every for every in evidence.judgement.conjunct_every]

    @lazy
    def _pattern(self) -> npt.NDArray[np.int64]:
        """One number per file; files with the same open conjuncts share a number and one text."""
        numbers = np.zeros(len(self._kept), np.int64)
        for is_open in self._open:
            _, numbers = np.unique(numbers * 2 + is_open, return_inverse=True)
        return numbers

    @lazy
    def _texts(self) -> list[str | None]:
        _, first = np.unique(self._pattern, return_index=True)
        lefts = ([bool(is_open[at]) for is_open in self._open] for at in first)
        return [residual_of(self._predicate, left) for left in lefts]

    def text(self, index: int) -> str | None:
        """The residual of one file; None where all its rows match."""
        return self._texts[int(self._pattern[index])]

    def texts(self) -> list[str | None]:
        """The residual of every file; None for pruned files and where all rows match."""
        kept = self._kept.tolist()
        return [
            self._texts[pattern] if is_kept else None
            for pattern, is_kept in zip(self._pattern.tolist(), kept, strict=True)
        ]

    def left(self) -> tuple[bool, ...]:
        """One boolean per conjunct: some kept file must still check it."""
        return tuple(bool((is_open & self._kept).any()) for is_open in self._open)


def residual_of(predicate: Predicate, left: Sequence[bool]) -> str | None:
    """The conjuncts that are left to check, as text; None where none is left."""
    pairs = zip(predicate.conjuncts, left, strict=True)
    return joined([conjunct.sql for conjunct, is_left in pairs if is_left])


def joined(conjuncts: Sequence[str]) -> str | None:
    """The text of a conjunction of conjuncts; None for no conjuncts."""
    if not conjuncts:
        return None
    if len(conjuncts) == 1:
        return conjuncts[0]
    return " AND ".join(f"({sql})" if " OR " in sql.upper() else sql for sql in conjuncts)


_Groups = dict[int, tuple[tuple[int, ...], tuple[tuple[int, int], ...]]]


def _surviving_groups(evidence: Evidence) -> _Groups:
    """The ordinals and byte ranges of the kept row groups of each opened file."""
    level = evidence.row_group_level
    if level is None:
        return {}
    groups, kept = level.listed, pa.array(evidence.read(level))
    files = groups.owners.filter(kept).to_pylist()
    ordinals = groups.ordinal.filter(kept).to_pylist()
    ranges = byte_ranges(evidence).filter(kept).to_pylist()
    collected: dict[int, tuple[list[int], list[tuple[int, int]]]] = {
        file: ([], []) for file in groups.opened.to_pylist()
    }
    for file, ordinal, chunks in zip(files, ordinals, ranges, strict=True):
        chosen, bytes_of = collected[file]
        chosen.append(ordinal)
        bytes_of.extend((start, end) for start, end in chunks)
    return {index: (tuple(o), tuple(r)) for index, (o, r) in collected.items()}


def byte_ranges(evidence: Evidence) -> pa.ListArray:
    """The byte ranges of each row group: of the pages that are read, where pages were looked at."""
    level = evidence.row_group_level
    below = evidence.levels[-1]
    if level is None:
        return pa.array([], _RANGES)
    if below is level or below.listed.pieces is None:
        return level.listed.ranges
    pieces = below.listed.pieces
    needed = pieces.needed(below.verdicts.kept)
    by_group: dict[int, list[tuple[int, int]]] = {}
    columns = (values[needed].tolist() for values in (pieces.owners, pieces.begin, pieces.stop))
    for owner, begin, stop in zip(*columns, strict=True):
        by_group.setdefault(owner, []).append((begin, stop))
    whole = level.listed.ranges.to_pylist()
    opened = level.opened.tolist()
    ranges = [
        joined_ranges(by_group.get(at, ()), gap=0) if is_opened else chunks
        for at, (is_opened, chunks) in enumerate(zip(opened, whole, strict=True))
    ]
    return pa.array(ranges, _RANGES)
