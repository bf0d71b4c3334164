"""Which blocks have members that stay for different reasons, whatever their verdicts are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from whyscan.planning.plan.judgement import flags
from whyscan.planning.why.obstacles import compared, told
from whyscan.planning.why.truncated_bounds import cut
from whyscan.pruning.evaluate import ContainerBatch, interval_of
from whyscan.pruning.mask import either, opposite
from whyscan.tree.types import StringType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.planning.plan.judgement import Flags
    from whyscan.pruning.blocks import Blocks
    from whyscan.pruning.containers import Containers
    from whyscan.pruning.interval import Interval
    from whyscan.tables.snapshot import Files, Snapshot
    from whyscan.tree.nodes import Column, Predicate
    from whyscan.tree.zones import Zone


class BlockQuestion(Struct, frozen=True):
    """A predicate and the files that it is put to."""

    snapshot: Snapshot
    files: Files
    predicate: Predicate
    zone: Zone

    @property
    def containers(self) -> Containers:
        return self.files.containers


def told_apart(asked: BlockQuestion) -> Flags | None:
    """The blocks whose members an obstacle may tell apart; None where that may be any."""
    blocks = asked.containers.blocks
    if blocks is None or not _plain(asked):
        return None
    columns = asked.predicate.columns()
    found: Flags = np.logical_or.reduce(
        [
            *(_some_are_told(asked.containers.interval(column), blocks) for column in columns),
            *(_imagined(asked, column, blocks) for column in columns),
            *_lost(asked, blocks),
            np.zeros(blocks.count, np.bool_),
        ]
    )
    return found


def _plain(asked: BlockQuestion) -> bool:
    """Every file is whole, of one spec, not known by a hash, and of a known size."""
    files = asked.files
    return (
        files.deleted is None
        and files.maybe_deleted is None
        and not files.containers.buckets
        and len(asked.snapshot.numbered_specs) <= 1
        and not files.bytes.null_count
        and not files.rows.null_count
    )


def _some_are_told(interval: Interval, blocks: Blocks) -> Flags:
    """Where the column's values are bounded in some members, and not in others."""
    untold = blocks.some("untold", interval, lambda of: opposite(told(of)))
    return untold & blocks.some("told", interval, told)


def _imagined(asked: BlockQuestion, column: Column, blocks: Blocks) -> Flags:
    """Where other statistics are imagined: bounds that are not cut, NULLs that were counted."""
    interval = asked.containers.statistics.get(column.path)
    if interval is None:
        return np.zeros(blocks.count, np.bool_)
    found = blocks.some("uncounted", interval, lambda of: opposite(of.counted))
    if isinstance(column.type, StringType):
        recording = asked.snapshot.recording(column)
        found = found | blocks.some("cut", interval, lambda of: either(*cut(of, recording)))
    return found


def _lost(asked: BlockQuestion, blocks: Blocks) -> Iterator[Flags]:
    """Where a function may leave something of one member and nothing of another.

    What it leaves of the hull it leaves of every member.
    """
    operands = [o for c in asked.predicate.conjuncts for o in compared(c.expression)]
    if operands:
        hulls = ContainerBatch(
            blocks.hulls(asked.containers, asked.predicate.columns()), asked.zone
        )
        for operand in operands:
            yield flags(opposite(told(interval_of(operand, hulls))), blocks.count)
