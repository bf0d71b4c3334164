"""Layouts that a table does not have yet, planned as if they were written."""

__all__ = ["layout", "snapshot", "uncertainty"]
