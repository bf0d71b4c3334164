"""Engines that read tables through whyscan: they receive the rows of a plan."""

__all__ = ["daft", "datafusion", "dataset", "duckdb", "polars", "spark_source", "spark_types"]
