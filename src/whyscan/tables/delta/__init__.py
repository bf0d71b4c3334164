"""Delta Lake: a log of actions, replayed to the files that are live at a version."""

__all__ = ["schema", "snapshot"]
