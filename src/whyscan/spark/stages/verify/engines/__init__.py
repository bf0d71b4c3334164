"""Run the same predicate on other engines: what each engine reads, and its number of rows."""

__all__ = ["engine", "matrix"]
