"""Layouts that a table does not have yet, planned as if they were written."""

__all__ = [
    "advice",
    "engine_statements",
    "layout",
    "layout_check",
    "planner",
    "replay",
    "sample",
    "snapshot",
    "table_scans",
    "uncertainty",
    "workload_advice",
]
