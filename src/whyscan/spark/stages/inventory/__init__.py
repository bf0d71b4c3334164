"""The inventory of tables: one row per container, with its statistics."""

__all__ = ["report", "run", "writing"]
