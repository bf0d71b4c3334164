"""The facts that joins supply to scans: equalities, bounds and values of the other side."""

__all__ = ["dynamic_filters", "edges", "supply"]
