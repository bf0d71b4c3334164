"""What was asked: SQL text, bound to a schema, as a small typed tree."""
