"""Decides which condition filters which scan."""
