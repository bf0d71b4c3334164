"""Parquet: Hive tables and plain files, whose statistics are in their footers."""

__all__ = [
    "bloom_filters",
    "calendars",
    "data_files",
    "dictionaries",
    "file_columns",
    "footers",
    "metadata",
    "metadata_columns",
    "pages",
    "partitions",
    "paths",
    "schemas",
    "snapshot",
    "statistics",
    "thrift",
    "type_names",
]
