"""Whole statements: which tables they scan, where each filter belongs, what joins supply."""
