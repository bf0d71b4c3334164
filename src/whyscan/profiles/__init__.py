"""Profiles of engines: what an engine can use of a predicate, and so what it reads of a table."""

__all__ = ["engine_names", "features", "fixes", "prediction", "rule", "weakened"]
