"""Plans a scan level by level: what can be skipped, which condition removed it, what is read."""

__all__ = ["plan", "rows", "why"]
