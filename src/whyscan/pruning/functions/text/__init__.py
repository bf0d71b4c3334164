"""Functions of text: the interval of f(x) from the interval of x."""

__all__ = ["duckdb_templates", "like", "strings", "utf8"]
