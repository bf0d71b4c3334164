"""Which blocks have members that are kept for different reasons, even if the verdicts are equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from whyscan.planning.plan.judgement import flags
from whyscan.planning.plan.truncated_bounds import cut
from whyscan.pruning.evaluate import ContainerBatch, interval_of
from whyscan.pruning.mask import either, has_value, opposite
from whyscan.tree.nodes import (
    Between,
    Column,
    Comparison,
    In,
    Like,
    Literal,
    columns_of,
    walk,
)
from whyscan.tree.types import StringType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.planning.plan.judgement import Flags
    from whyscan.pruning.blocks import Blocks
    from whyscan.pruning.containers import Containers
    from whyscan.pruning.interval import Interval
    from whyscan.pruning.mask import Mask
    from whyscan.tables.snapshot import Files, Snapshot
    from whyscan.tree.nodes import Expression, Predicate
    from whyscan.tree.zones import Zone


def mixed_blocks(
    snapshot: Snapshot, files: Files, predicate: Predicate, zone: Zone
) -> Flags | None:
    """One flag per block: its members may be kept for different reasons; None where any may."""
    containers = files.containers
    blocks, columns = containers.blocks, predicate.columns()
    if blocks is None or not _is_plain(files) or len(snapshot.numbered_specs) > 1:
        return None
    mixed: Flags = np.logical_or.reduce(
        [
            *(_some_are_described(containers.interval(column), blocks) for column in columns),
            *(_imagined(snapshot, containers, column, blocks) for column in columns),
            *_lost(predicate, containers, blocks, zone),
            np.zeros(blocks.count, np.bool_),
        ]
    )
    return mixed


def _is_plain(files: Files) -> bool:
    """No file has deletes, buckets or an unknown size."""
    return (
        files.deleted is None
        and files.maybe_deleted is None
        and not files.containers.buckets
        and not files.bytes.null_count
        and not files.rows.null_count
    )


def _some_are_described(interval: Interval, blocks: Blocks) -> Flags:
    """One flag per block: the column has bounds in some members, and not in others."""
    undescribed = blocks.blocks_where("undescribed", interval, lambda x: opposite(is_described(x)))
    return undescribed & blocks.blocks_where("described", interval, is_described)


def _imagined(snapshot: Snapshot, containers: Containers, column: Column, blocks: Blocks) -> Flags:
    """One flag per block: some members have cut text bounds or uncounted NULLs."""
    interval = containers.statistics.get(column.path)
    if interval is None:
        return np.zeros(blocks.count, np.bool_)
    differing = blocks.blocks_where("uncounted", interval, lambda x: opposite(x.counted))
    if not isinstance(column.type, StringType):
        return differing
    recording = snapshot.recording(column)
    return differing | blocks.blocks_where("cut", interval, lambda x: either(*cut(x, recording)))


def _lost(
    predicate: Predicate, containers: Containers, blocks: Blocks, zone: Zone
) -> Iterator[Flags]:
    """One flag per block: a function may lose the bounds of some members and not of others.

    If the function keeps bounds of the hull, it keeps bounds of every member.
    """
    operands = [o for c in predicate.conjuncts for o in compared(c.expression)]
    if operands:
        hulls = ContainerBatch(blocks.hulls(containers, predicate.columns()), zone)
        for operand in operands:
            yield flags(opposite(is_described(interval_of(operand, hulls))), blocks.count)


def is_described(interval: Interval) -> Mask:
    """A bound is known, or there surely are no values."""
    return either(has_value(interval.lower), has_value(interval.upper), opposite(interval.value))


def compared(expression: Expression) -> Iterator[Expression]:
    """Yield the compared operands that compute with a column: `a + 1` in `a + 1 > 3`."""
    for node in walk(expression):
        match node:
            case Comparison():
                operands: tuple[Expression, ...] = (node.left, node.right)
            case Between() | In() | Like():
                operands = (node.operand,)
            case _:
                continue
        for operand in operands:
            if not isinstance(operand, Column | Literal) and columns_of(operand):
                yield operand
