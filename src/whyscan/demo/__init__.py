"""The demo: a small lake in a folder, and the walk through it."""

__all__ = ["events", "lake"]
