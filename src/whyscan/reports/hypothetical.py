"""What a report says about the layout that it was made for, if the table does not have it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar

from msgspec import Meta

from whyscan.fields import Count, Name, Record


class LayoutEvidence(StrEnum):
    """What the numbers of a layout rest on."""

    GUARANTEED = "guaranteed"
    ESTIMATED = "estimated"


class LowHigh(Record, frozen=True):
    """An interval of a number, both ends included."""

    low: Count
    high: Count


class Hypothetical(Record, frozen=True):
    """A layout that the table does not have, and how far its numbers may be off."""

    OPTIONAL: ClassVar = ("sampled_rows",)

    layout: Name
    evidence: Annotated[
        LayoutEvidence,
        Meta(
            description="`guaranteed`: from the bounds of today's files; any table in this layout "
            "reads so many. `estimated`: from a sample of the rows; 9 of 10 samples give so many."
        ),
    ]
    files: Annotated[LowHigh, Meta(description="The files that the layout would read.")]
    bytes: Annotated[LowHigh, Meta(description="The bytes of these files.")]
    sampled_rows: Annotated[
        Count | None, Meta(description="The rows of the sample; absent if no row was read.")
    ] = None
