"""The rules of engines, one file an engine or a family. A rule is data: see `profiles/rule.py`."""

__all__ = [
    "datafusion",
    "documented",
    "duckdb",
    "iceberg_library",
    "polars",
    "pyarrow_dataset",
    "spark",
    "trino",
]
