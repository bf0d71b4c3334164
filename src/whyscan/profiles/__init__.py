"""Profiles of engines: what an engine can use of a predicate, and so what it reads of a table."""

__all__ = ["dynamic_filters", "engine_names", "features", "fixes", "prediction", "rule", "weakened"]
