"""Engines that read tables through whyscan: they receive the rows of a plan."""

__all__ = ["spark_source", "spark_types"]
