"""Whole statements: which tables they scan, where each filter belongs, what joins supply."""

__all__ = [
    "changes",
    "dbt",
    "explain",
    "planners",
    "records",
    "reports",
    "roles",
    "scans",
    "sql",
    "stay_reasons",
]
