"""A table as a DataFrame of Daft, which needs PyArrow before 26.

Daft filters again what a source returns, and takes its limit by itself: here a filter only prunes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.engines.provider import required

if TYPE_CHECKING:
    from daft import DataFrame

    from whyscan.tables.snapshot import Snapshot


def data_frame(snapshot: Snapshot, *, explain: bool) -> DataFrame:
    """A DataFrame of a snapshot; its attribute `provider` has the plans of its scans."""
    required("daft", "Daft")
    from whyscan.engines.daft_source import TableSource
    from whyscan.engines.provider import Provider

    provider = Provider(snapshot, explain=explain)
    frame = TableSource(provider).read()
    frame.provider = provider
    return frame
