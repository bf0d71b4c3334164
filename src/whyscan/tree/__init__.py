"""The typed predicate: its nodes, types, literals and time zones, and its form as SQL text."""

__all__ = [
    "arrow",
    "clock",
    "coercion",
    "lazy",
    "literals",
    "names",
    "nodes",
    "rendering",
    "rewrite",
    "time_text",
    "types",
    "tzfile",
    "zones",
]
