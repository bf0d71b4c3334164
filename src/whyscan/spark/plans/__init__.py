"""Spark's own plans: the scans of a DataFrame, with their conditions and columns."""
