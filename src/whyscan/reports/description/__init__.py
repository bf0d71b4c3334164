"""The description of a table: what it is, before anything is asked of it."""

from whyscan.reports.description.description import Description, describe

__all__ = ["Description", "describe"]
