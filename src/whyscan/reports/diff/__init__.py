"""The difference of two reports of one predicate: two tables, or two versions of one table."""

from whyscan.reports.diff.difference import Difference, compare

__all__ = ["Difference", "compare"]
