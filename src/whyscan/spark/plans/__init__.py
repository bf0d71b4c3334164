"""Spark's own plans: the scans of a DataFrame, with their conditions and columns."""

__all__ = ["frame_report", "iceberg_filters", "printed_filters"]
