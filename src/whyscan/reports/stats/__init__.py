"""The layout of a table: which columns can prune, for any predicate."""

from whyscan.reports.stats.profile import TableStats, profile

__all__ = ["TableStats", "columns", "profile"]
