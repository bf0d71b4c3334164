"""Verdicts of a Delta table's files, held against the rows and against what a peer keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from whyscan.table import Table


@dataclass(frozen=True)
class Verdicts:
    """The files that some row may match, and those of which all rows do."""

    kept: set[str]
    every: set[str]


def verdicts(table: Table, sql: str, **question: bool) -> Verdicts:
    evidence = table.plan(sql, depth="files", **question).evidence
    paths, judgement = evidence.files.paths.to_pylist(), evidence.judgement
    return Verdicts(
        {path for path, kept in zip(paths, judgement.kept, strict=True) if kept},
        {path for path, every in zip(paths, judgement.every, strict=True) if every},
    )


def complaints(
    judgements: Verdicts, sql: str, matching: Mapping[str, int], rows: Mapping[str, int]
) -> Iterator[str]:
    """Rows lost and false `all`s, by how many of a file's live rows match."""
    for path, count in rows.items():
        if matching[path] and path not in judgements.kept:
            yield f"lost {matching[path]} rows of {path}: {sql}"
        if path in judgements.every and matching[path] < count:
            yield f"not all of {path}: {sql}"


def looser(table: Table, judgements: Verdicts, sql: str, peer: set[str]) -> Iterator[str]:
    """Files that we keep and the peer does not. NaN is on the user's word, as the peers have it."""
    if judgements.kept <= peer:
        return
    for path in sorted(verdicts(table, sql, assume_no_nan=True).kept - peer):
        yield f"keeps {path}: {sql}"
