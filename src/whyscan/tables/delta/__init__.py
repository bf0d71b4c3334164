"""Delta Lake: a log of actions, replayed to the files that are live at a version."""

from whyscan.tables.delta.snapshot import DeltaSnapshot, is_delta, open_delta

__all__ = ["DeltaSnapshot", "is_delta", "open_delta", "snapshot"]
