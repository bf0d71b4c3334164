"""Two reports of one question: what changed between two tables, or two versions of one."""

from whyscan.reports.diff.difference import Difference, compare

__all__ = ["Difference", "compare"]
