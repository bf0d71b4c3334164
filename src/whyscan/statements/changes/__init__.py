"""Statements that change a table: the queries that they read, and the files that they rewrite."""

__all__ = ["dbt", "merge", "queries", "targets"]
