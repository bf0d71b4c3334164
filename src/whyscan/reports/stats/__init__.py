"""How a table lies: is the layout any good, whatever is asked of it."""

from whyscan.reports.stats.profile import TableStats, profile

__all__ = ["TableStats", "profile"]
