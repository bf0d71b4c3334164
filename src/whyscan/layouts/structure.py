"""What a table has today that its workload does not use: partition columns, small partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from whyscan.reports.words import counted, size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.layouts.replay import TableReplay

SMALL_PARTITION = 32_000_000
"""The files of a partition with fewer bytes stay small, however they are written."""


def unused_structure(replay: TableReplay) -> Iterator[str]:
    """Yield one sentence for each thing that the table has and that no query gains by."""
    filtered = {c.path for scan in replay.scans for c in scan.predicate.columns()}
    for path in replay.snapshot.partition_sources:
        if path not in filtered:
            yield f"no query filters by the partition column {'.'.join(path)}"
    files = replay.files
    fields = files.partition.column_names
    if not fields or not files.count:
        return
    keys = [
        files.partition[field].combine_chunks().dictionary_encode(null_encoding="encode").indices
        for field in fields
    ]
    _, partition = np.unique(np.stack([k.to_numpy() for k in keys]), axis=1, return_inverse=True)
    sizes = np.bincount(partition.reshape(-1), files.bytes.fill_null(0).to_numpy())
    small = int((sizes < SMALL_PARTITION).sum())
    if small > 1:
        partitions = counted(len(sizes), "partition")
        yield f"{small:,} of {partitions} have less than {size(SMALL_PARTITION)}: files stay small"
