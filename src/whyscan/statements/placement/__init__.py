"""Decides which condition filters which scan."""

__all__ = ["facts", "placement", "row_facts"]
