"""Statements that change a table, as the queries that read what they need."""
