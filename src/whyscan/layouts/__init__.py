"""Layouts that a table does not have yet, planned as if they were written."""

from whyscan.layouts.language import parse_layout
from whyscan.layouts.layout import Layout

__all__ = ["Layout", "applied", "parse_layout", "snapshot", "uncertainty"]
