"""Binding turns syntax trees into typed predicates: names become columns, literals get types."""

__all__ = [
    "bind",
    "canonical",
    "comparisons",
    "dialect_calls",
    "expressions",
    "names",
    "never_boolean",
    "opaque",
    "scope",
    "time_units",
]
