"""Stores: folders on disk and in object stores, which are listed and read by byte ranges."""

__all__ = [
    "connections",
    "disk",
    "disk_cache",
    "enclosing_tables",
    "environment",
    "joined_store",
    "locations",
    "refusals",
    "store",
]
