"""Findings about how rows lie in files: bounds that overlap, files that are small."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from whyscan.explain.file_bounds import file_bounds
from whyscan.explain.findings.finding import Code, Effect, Facts, Finding, Severity
from whyscan.explain.wording import counted, size
from whyscan.planning.depth import overlap
from whyscan.planning.reason_codes import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.explain.file_bounds import ColumnBounds

DEEP = 4
"""So many times the ideal depth, and at least so many files, are worth a word."""

SMALL = 16_000_000
TARGET = 128_000_000
MANY = 32
"""Files of which most are smaller than `SMALL` bytes; what writers aim for is `TARGET`."""


def layout(facts: Facts) -> Iterator[Finding]:
    """All of this family."""
    yield from _wide_bounds(facts)
    yield from _small_files(facts)


def _wide_bounds(facts: Facts) -> Iterator[Finding]:
    straddling = facts.why.named(Reason.STRADDLES)
    if int(straddling.sum()) < DEEP:
        return
    for column in file_bounds(facts.plan):
        if not column.partitioned and _is_asked(facts, column.column):
            yield from _of_column(facts, column)


def _is_asked(facts: Facts, name: str) -> bool:
    """Several files straddle a conjunct on the column."""
    named = [i for i, line in enumerate(facts.conjuncts) if name in line.columns]
    straddling = facts.why.named(Reason.STRADDLES)
    return int((straddling & np.isin(facts.why.conjunct, named)).sum()) >= DEEP


def _of_column(facts: Facts, column: ColumnBounds) -> Iterator[Finding]:
    """Among the files of the partitions that were asked for: no row moves to another."""
    here = pa.array(facts.plan.evidence.by_partition.kept)
    found = overlap(column.lower.filter(here), column.upper.filter(here))
    if found is None or found.median < DEEP * found.ideal:
        return
    name = column.column
    yield Finding(
        Code.WIDE_BOUNDS,
        Severity.WARNING,
        f"bounds of {name} overlap: a value of it falls into {found.median:,} of "
        f"{counted(found.files, 'file')} (median), where {found.ideal:,} would do",
        f"cluster the table by {name}: a value then falls into {counted(found.ideal, 'file')}",
        {"median_depth": found.median, "ideal_depth": found.ideal, "files": found.files},
        effect=Effect("median depth", found.median, found.ideal),
    )


def _small_files(facts: Facts) -> Iterator[Finding]:
    kept = facts.plan.evidence.judgement.kept
    sizes = facts.plan.evidence.files.bytes.filter(pa.array(kept)).drop_null()
    if len(sizes) < MANY:
        return
    median = int(pc.quantile(sizes, 0.5)[0].as_py())
    weight = int(pc.sum(sizes).as_py())
    enough = max(1, -(-weight // TARGET))
    if median >= SMALL or enough * 2 > len(sizes):
        return
    yield Finding(
        Code.SMALL_FILES,
        Severity.INFO,
        f"the {counted(len(sizes), 'file')} to read are small: {size(median)} (median), "
        f"{size(weight)} together",
        f"compact them: in files of {size(TARGET)} they would be {enough:,}",
        {"files": len(sizes), "median_bytes": median},
        effect=Effect("files", len(sizes), enough),
    )
