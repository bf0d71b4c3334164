"""A table in DataFusion: a PyArrow dataset under a name.

DataFusion plans a scan once for its schema and once for its fragments, of which each is a partition
of the query. It hands over `x > 3` as it stands. NaN is the greatest value for it, and the least
one if its sign is negative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.engines.dataset import TableDataset
from whyscan.engines.provider import DATAFUSION, required

if TYPE_CHECKING:
    from datafusion import SessionContext

    from whyscan.tables.snapshot import Snapshot


def register(
    snapshot: Snapshot, context: SessionContext, name: str, *, explain: bool
) -> TableDataset:
    """Register a snapshot in a context, and return the dataset that DataFusion scans."""
    required("datafusion", DATAFUSION)
    dataset = TableDataset(snapshot, explain=explain, engine=DATAFUSION)
    context.register_dataset(name, dataset)
    return dataset
