"""SQL text of a statement to typed blocks: names, clauses, joins, subqueries."""
