"""Reads the rows of a plan's files as Arrow batches, without the deleted rows."""

from whyscan.scan.reader import read, schema

__all__ = [
    "columns_of_file",
    "concurrent",
    "deletes",
    "file_reader",
    "plan_portions",
    "projection",
    "read",
    "reader",
    "rows",
    "schema",
    "shaping",
    "sources",
    "tasks",
]
