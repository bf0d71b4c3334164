"""Parquet: Hive tables and plain files, whose statistics are in their footers."""
