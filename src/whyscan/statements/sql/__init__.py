"""Turns the SQL text of a statement into typed blocks: names, clauses, joins, subqueries."""

__all__ = [
    "blocks",
    "qualification",
    "relations",
    "syntax",
    "table_names",
    "time_travel",
    "using_columns",
]
