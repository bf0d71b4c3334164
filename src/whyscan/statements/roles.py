"""The part that a condition or a table plays in a statement."""

from __future__ import annotations

from enum import StrEnum


class Origin(StrEnum):
    """How a condition came to a scan."""

    WRITTEN = "written"
    """The condition stands in the statement as it is."""
    SPREAD = "spread"
    """It follows from an equality with another column, or from the output of a derived table."""
    PART = "part"
    """It is the part of a larger condition that names this table alone."""
    JOIN = "join"
    """It follows from values that another scan supplies at run time."""


class Role(StrEnum):
    """What a statement does with a table."""

    READ = "read"
    TARGET = "target"
