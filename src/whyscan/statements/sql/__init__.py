"""Turns the SQL text of a statement into typed blocks: names, clauses, joins, subqueries."""
