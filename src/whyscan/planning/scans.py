"""The survivors of a plan as `FileScan`s, each with its own residual."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from whyscan.planning.plan import Evidence, FileScan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.predicate.tree import Predicate


def file_scans(predicate: Predicate, evidence: Evidence) -> Iterator[FileScan]:
    """Every file that must be read, in the table's order."""
    groups = _surviving_groups(evidence)
    residual = Residuals(predicate, evidence)
    for index in np.flatnonzero(evidence.judgement.kept).tolist():
        ordinals, ranges = groups.get(index, ((), ())) if groups is not None else (None, ())
        if groups is not None and not ordinals:
            continue
        yield FileScan(
            path=evidence.files.paths[index].as_py(),
            bytes=evidence.files.bytes[index].as_py(),
            rows=evidence.files.rows[index].as_py(),
            row_groups=ordinals,
            byte_ranges=ranges,
            residual=residual.of(index),
        )


class Residuals:
    """What is left to check of each file: the conjuncts that are not `all` there."""

    def __init__(self, predicate: Predicate, evidence: Evidence) -> None:
        self._conjuncts = [conjunct.sql for conjunct in predicate.conjuncts]
        self._every = evidence.judgement.conjunct_every
        self._kept = evidence.judgement.kept

    def of(self, index: int) -> str | None:
        """The residual of one file; None where all its rows match."""
        return joined([sql for sql, every in zip(self._conjuncts, self._every, strict=True)
                       if not every[index]])

    def overall(self) -> str | None:
        """The conjuncts that some surviving file must still check."""
        return joined([sql for sql, every in zip(self._conjuncts, self._every, strict=True)
                       if bool((self._kept & ~every).any())])


def joined(conjuncts: Sequence[str]) -> str | None:
    """Conjuncts as one text for people; None for none."""
    if not conjuncts:
        return None
    if len(conjuncts) == 1:
        return conjuncts[0]
    return " AND ".join(f"({sql})" if " OR " in sql.upper() else sql for sql in conjuncts)


_Groups = dict[int, tuple[tuple[int, ...], tuple[tuple[int, int], ...]]]


def _surviving_groups(evidence: Evidence) -> _Groups | None:
    """For each opened file its surviving ordinals and byte ranges; None where none was opened."""
    groups, found = evidence.groups, evidence.group_judgement
    if groups is None or found is None:
        return None
    opened = groups.opened.to_numpy()
    collected: dict[int, tuple[list[int], list[tuple[int, int]]]] = {}
    for at in np.flatnonzero(found.kept).tolist():
        ordinals, ranges = collected.setdefault(int(opened[groups.file[at].as_py()]), ([], []))
        ordinals.append(groups.ordinal[at].as_py())
        ranges.extend((r["start"], r["end"]) for r in groups.ranges[at].as_py())
    return {index: (tuple(o), tuple(r)) for index, (o, r) in collected.items()}
