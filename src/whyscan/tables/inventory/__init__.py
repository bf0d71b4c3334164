"""The tables of an inventory: containers that an earlier run wrote, read again as snapshots."""

__all__ = ["bounds", "container_schema", "description", "opening", "snapshot"]
