"""From verdicts to a plan: level by level, who removed what, and what is left to read."""

__all__ = ["plan", "rows", "why"]
