"""Reads the rows of a plan's files as Arrow batches, without the deleted rows."""

from whyscan.scan.reader import read, schema

__all__ = ["read", "schema"]
