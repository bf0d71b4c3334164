"""Reading a plan: the rows of its files as Arrow, without those that were deleted."""

from whyscan.scan.reader import read, schema

__all__ = ["read", "schema"]
