"""The terms of a plan: how a predicate is read, and how deep the metadata is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

SAMPLE_BYTES = 200_000_000
"""What the sample of a hypothetical layout may cost by default."""


class PlanTerms(Struct, frozen=True):
    """How a predicate is read, and how deep the metadata is read.

    The defaults are those of the command line and of the Python functions.
    """

    dialect: str = "spark"
    timezone: str = "UTC"
    depth: str = "auto"
    """The deepest level that is checked: `files`, `row-groups`, `pages`, `dictionary` or `auto`."""
    full: bool = False
    """All metadata is opened, so that every number is exact."""
    assume_no_nan: bool = False
    verbose: bool = False
    """Every manifest is opened, for a report that lists every live file."""
    assert_stats: bool | Sequence[str] = False
    """Columns: the files of the snapshot that lack statistics of them are counted.

    True means the columns of the predicate, or all columns if the predicate names none.
    """
    engines: Sequence[str] | None = ()
    """Engines, as `NAME` or `NAME@VERSION`: the report says what each of them reads.

    Without names it compares common engines, and with None it names no engine.
    """
