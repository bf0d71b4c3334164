"""Layouts that a table does not have yet, planned as if they were written."""

__all__ = ["advice", "layout", "planner", "snapshot", "uncertainty", "workload_advice"]
