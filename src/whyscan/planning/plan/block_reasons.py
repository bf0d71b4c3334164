"""Which blocks have members that are kept for different reasons, even if the verdicts are equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from whyscan.planning.plan.judgement import flags
from whyscan.planning.why.obstacles import compared, is_described
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
    """A predicate and the files that it is evaluated on."""

    snapshot: Snapshot
    files: Files
    predicate: Predicate
    zone: Zone

    @property
    def containers(self) -> Containers:
        return self.files.containers


def mixed_blocks(question: BlockQuestion) -> Flags | None:
    """One flag per block: its members may be kept for different reasons; None where any may."""
    blocks = question.containers.blocks
    if blocks is None or not _plain(question):
        return None
    columns = question.predicate.columns()
    mixed: Flags = np.logical_or.reduce(
        [
            *(
                _some_are_described(question.containers.interval(column), blocks)
                for column in columns
            ),
            *(_imagined(question, column, blocks) for column in columns),
            *_lost(question, blocks),
            np.zeros(blocks.count, np.bool_),
        ]
    )
    return mixed


def _plain(question: BlockQuestion) -> bool:
    """No file has deletes, buckets or an unknown size, and all files have one partition spec."""
    files = question.files
    return (
        files.deleted is None
        and files.maybe_deleted is None
        and not files.containers.buckets
        and len(question.snapshot.numbered_specs) <= 1
        and not files.bytes.null_count
        and not files.rows.null_count
    )


def _some_are_described(interval: Interval, blocks: Blocks) -> Flags:
    """One flag per block: the column has bounds in some members, and not in others."""
    undescribed = blocks.blocks_where("untold", interval, lambda of: opposite(is_described(of)))
    return undescribed & blocks.blocks_where("told", interval, is_described)


def _imagined(question: BlockQuestion, column: Column, blocks: Blocks) -> Flags:
    """One flag per block: some members have cut text bounds or uncounted NULLs."""
    interval = question.containers.statistics.get(column.path)
    if interval is None:
        return np.zeros(blocks.count, np.bool_)
    differing = blocks.blocks_where("uncounted", interval, lambda of: opposite(of.counted))
    if isinstance(column.type, StringType):
        recording = question.snapshot.recording(column)
        differing = differing | blocks.blocks_where(
            "cut", interval, lambda of: either(*cut(of, recording))
        )
    return differing


def _lost(question: BlockQuestion, blocks: Blocks) -> Iterator[Flags]:
    """One flag per block: a function may lose the bounds of some members and not of others.

    If the function keeps bounds of the hull, it keeps bounds of every member.
    """
    operands = [o for c in question.predicate.conjuncts for o in compared(c.expression)]
    if operands:
        hulls = ContainerBatch(
            blocks.hulls(question.containers, question.predicate.columns()), question.zone
        )
        for operand in operands:
            yield flags(opposite(is_described(interval_of(operand, hulls))), blocks.count)
