"""How many live rows of each file match a predicate, as far as metadata goes.

Row groups count where a footer was opened, files elsewhere. Nobody knows in which row group a
deleted row was: all of a file's may have matched, or none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from whyscan.planning.judgement import Flags
    from whyscan.planning.plan import Evidence
    from whyscan.tables.snapshot import Files, RowGroups


def surely_matching(evidence: Evidence) -> pa.Array:
    """At least so many of each file; null where nobody counted its rows."""
    inside = evidence.group_judgement
    every = _rows(evidence, evidence.judgement.every, None if inside is None else inside.every)
    less = pc.if_else(pc.equal(every, 0), every, pc.subtract(every, perhaps_gone(evidence.files)))
    return pc.max_element_wise(less, 0, skip_nulls=False)


def perhaps_matching(evidence: Evidence) -> pa.Array:
    """At most so many of each file; null where nobody counted its rows."""
    files, inside = evidence.files, evidence.group_judgement
    kept = _rows(evidence, evidence.judgement.kept, None if inside is None else inside.kept)
    live = files.rows if files.deleted is None else pc.subtract(files.rows, files.deleted)
    return pc.if_else(pc.equal(kept, 0), kept, pc.min_element_wise(kept, live))


def perhaps_gone(files: Files) -> pa.Array:
    """At most so many rows of each file are deleted: all of them where nobody knows."""
    gone = pa.repeat(pa.scalar(0, pa.int64()), files.count)
    if files.deleted is not None:
        gone = pc.add(gone, files.deleted)
    if files.maybe_deleted is None:
        return gone
    return pc.coalesce(pc.add(gone, files.maybe_deleted), files.rows)


def group_rows(groups: RowGroups) -> pa.Array:
    """The rows of each row group; null where they are not known."""
    rows = groups.containers.rows
    return pa.nulls(groups.count, pa.int64()) if rows is None else rows


def _rows(evidence: Evidence, files: Flags, groups: Flags | None) -> pa.Array:
    """The rows of flagged containers, file by file: row groups where a footer was opened."""
    rows = pc.if_else(pa.array(files), evidence.files.rows, pa.scalar(0, pa.int64()))
    opened = evidence.groups
    if opened is None or groups is None:
        return rows
    counted = group_rows(opened).to_numpy(zero_copy_only=False)[groups]
    at = opened.opened.to_numpy()
    inside = np.bincount(opened.file.to_numpy()[groups], weights=counted, minlength=len(at))
    whole = np.zeros(evidence.files.count)
    whole[at] = inside
    is_open = np.zeros(evidence.files.count, np.bool_)
    is_open[at] = True
    known = pa.array(np.nan_to_num(whole).astype(np.int64), mask=np.isnan(whole))
    return pc.if_else(pa.array(is_open), known, rows)
