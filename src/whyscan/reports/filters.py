"""Which filters of values a table has for a predicate, what they take and what they prove."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from whyscan.fields import Count, Fraction, Name, Record
from whyscan.profiles.engine_names import readers_of_filters
from whyscan.reports.words import counted, inert, percent, size
from whyscan.tables.snapshot import FilterCount, FilterKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whyscan.planning.plan.evidence import Evidence

_MILLION = 1_000_000


class FilterLine(Record, frozen=True, rename={"present": "row_groups_with_filter"}):
    """The bloom filters or the dictionaries of one column that the predicate compares by value."""

    mechanism: FilterKind
    column: Name
    files: Annotated[Count, Meta(description="The files of these row groups.")]
    files_with_filter: Count
    row_groups: Annotated[
        Count, Meta(description="Row groups that are undecided without this mechanism.")
    ]
    present: Count
    bytes: Count
    read: Annotated[
        bool, Meta(description="False for dictionaries without --depth dictionary: what they cost.")
    ]
    excluding: Annotated[
        Count | None,
        Meta(description="Filters without any value of the predicate; null if none were read."),
    ]
    false_positive_rate: Annotated[
        Fraction | None,
        Meta(description="Of bloom filters, by the bits that are set: the mean over the filters."),
    ]
    read_by: Annotated[
        tuple[Name, ...], Meta(description="The engines that read them, by their profiles.")
    ] = ()


def filter_counts(evidence: Evidence) -> tuple[FilterCount, ...]:
    """The filters that a plan looked at, or would look at if it went deeper."""
    level = evidence.row_group_level
    return () if level is None else level.listed.filter_counts


def add_filter_counts(counts: Iterable[FilterCount]) -> tuple[FilterCount, ...]:
    """One count for each kind and column, over all parts of a table."""
    parts: defaultdict[tuple[FilterKind, object], list[FilterCount]] = defaultdict(list)
    for count in counts:
        parts[count.kind, count.column].append(count)
    return tuple(_sum(same) for same in parts.values())


def _sum(counts: list[FilterCount]) -> FilterCount:
    first, *others = counts
    for other in others:
        first = first + other
    return first


def filter_lines(counts: Iterable[FilterCount], table_format: str) -> tuple[FilterLine, ...]:
    """The filters of each column as lines of a report on a table of some format."""
    return tuple(
        FilterLine(
            mechanism=count.kind,
            column=".".join(count.column),
            files=count.files,
            files_with_filter=count.files_present,
            row_groups=count.groups,
            present=count.present,
            bytes=count.bytes,
            read=count.read,
            excluding=count.excluding if count.read else None,
            false_positive_rate=_rate(count),
            read_by=readers_of_filters(count.kind, table_format) if count.present else (),
        )
        for count in counts
    )


def _rate(count: FilterCount) -> float | None:
    if count.kind is not FilterKind.BLOOM or not count.present or not count.read:
        return None
    return round(count.false_positives / count.present, 6)


def filter_sentence(line: FilterLine) -> str:
    """What one line says: where filters are, what they take, what they prove."""
    if not line.present:
        return f"in none of {counted(line.row_groups, 'undecided row group')}"
    where = (
        f"in {line.present:,} of {counted(line.row_groups, 'undecided row group')}, "
        f"{line.files_with_filter:,} of {counted(line.files, 'file')}, {size(line.bytes)}"
    )
    if line.excluding is None:
        return f"{where}; not read, --depth dictionary reads them{readers_sentence(line)}"
    rate = line.false_positive_rate
    chance = (
        "" if rate is None else f", {percent(round(rate * _MILLION), _MILLION)} false positives"
    )
    proven = f"{line.excluding:,} have no value of the predicate"
    return f"{where}{chance}; {proven}{readers_sentence(line)}"


def readers_sentence(line: FilterLine) -> str:
    """Write `; used by duckdb, trino`; nothing where no engine reads such filters."""
    return f"; used by {', '.join(line.read_by)}" if line.read_by else ""


def filter_name(line: FilterLine) -> str:
    """The mechanism and the column: `bloom user_id`."""
    return f"{line.mechanism.value} {inert(line.column)}"
