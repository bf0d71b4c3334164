"""The predicate: SQL text is parsed and bound to a schema, which gives a typed tree."""

__all__ = ["binding", "syntax"]
