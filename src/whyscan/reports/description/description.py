"""The description of a table: schema, partitions, settings, versions, sizes, statistics."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from whyscan.fields import Count, Name, Record
from whyscan.planning.plan.request import leaf_columns
from whyscan.reports.distribution import Distribution, of_array
from whyscan.reports.rendering import WrittenReport
from whyscan.reports.report import Effort, Subject, Unchecked, subject_of
from whyscan.reports.stats.columns import ReadTable, files_with_bounds
from whyscan.reports.stats.profile import MOST_COLUMNS, open_row_groups, rows_of, total_of
from whyscan.tables.history import TableVersion, VersionReference, WithHistory
from whyscan.tree.types import StructType
from whyscan.tree.zones import zone

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.reports.view import Blocks
    from whyscan.tables.snapshot import RowGroups, Snapshot
    from whyscan.tree.nodes import Path
    from whyscan.tree.types import Field

NEWEST_VERSIONS = 10
"""How many versions are described by default."""


class DescribedColumn(Record, frozen=True):
    """A column or a member of a struct, in the order of the schema."""

    name: Name
    type: Name
    field_id: int | None
    partitioned: Annotated[bool, Meta(description="Partition values are made from the column.")]
    files_with_bounds: Annotated[
        Count | None, Meta(description="The files with both bounds of it; null if not looked at.")
    ]


class TableProperty(Record, frozen=True):
    """A setting of the table that decides statistics, file sizes or how rows are deleted."""

    name: Name
    value: Name


class Description(WrittenReport, frozen=True):
    """What a table is: format, schema, partitions, settings, versions, sizes and statistics."""

    table: Subject
    protocol: Annotated[
        Name | None, Meta(description="The version of the format, and the features that it names.")
    ]
    files: Count
    bytes: Count | None
    rows: Count | None
    file_bytes: Distribution | None
    order: Annotated[
        Name | None, Meta(description="How writers are told to sort or cluster the rows.")
    ]
    columns: tuple[DescribedColumn, ...]
    properties: tuple[TableProperty, ...]
    other_properties: Annotated[Count, Meta(description="Properties that change no plan.")]
    version_count: Annotated[
        Count | None, Meta(description="The versions that can be opened; null if there are none.")
    ]
    versions: Annotated[
        tuple[TableVersion, ...], Meta(description="The newest versions, newest first.")
    ]
    references: tuple[VersionReference, ...]
    unchecked: tuple[Unchecked, ...]
    metadata: Effort

    def redacted(self) -> Description:
        """Return the same report without values, for sharing."""
        from whyscan.reports.redaction import redacted

        return redacted(self)

    def view(self) -> Blocks:
        from whyscan.reports.description.view import view

        return view(self)


def describe(
    snapshot: Snapshot, *, versions: int = NEWEST_VERSIONS, full: bool = False
) -> Description:
    """Describe a table with its newest `versions`; `full` opens the footers of any number."""
    started = perf_counter()
    leaves = leaf_columns(snapshot)
    measured = leaves if len(leaves) <= MOST_COLUMNS else ()
    files = snapshot.files(measured, zone("UTC"))
    groups: RowGroups | None = None
    unchecked: tuple[Unchecked, ...] = ()
    if snapshot.footers_describe_files:
        groups, unchecked = open_row_groups(snapshot, files, measured, full=full)
    read = ReadTable(snapshot, files, groups)
    looked_at = groups is not None or not snapshot.footers_describe_files
    history = snapshot.history(versions) if isinstance(snapshot, WithHistory) else None
    bounded = {c.path: files_with_bounds(read, c) for c in measured} if looked_at else {}
    columns = _columns(snapshot.schema().fields, frozenset(snapshot.partition_sources), bounded)
    properties: Mapping[str, str] = {} if history is None else history.properties
    traffic = snapshot.traffic()
    return Description(
        table=subject_of(snapshot),
        protocol=None if history is None else history.protocol,
        files=files.count,
        bytes=total_of(files.bytes),
        rows=total_of(rows_of(read)),
        file_bytes=of_array(files.bytes),
        order=None if history is None else history.order,
        columns=tuple(columns),
        properties=tuple(TableProperty(name, value) for name, value in properties.items()),
        other_properties=0 if history is None else history.other_properties,
        version_count=None if history is None else history.count,
        versions=() if history is None else history.versions,
        references=() if history is None else history.references,
        unchecked=unchecked,
        metadata=Effort(
            traffic.objects, traffic.bytes, traffic.from_cache, round(perf_counter() - started, 6)
        ),
    )


def _columns(
    fields: Sequence[Field],
    partitioned: frozenset[Path],
    bounded: Mapping[Path, int],
    above: Path = (),
) -> Iterator[DescribedColumn]:
    """Yield every column, and below a struct its members."""
    for field in fields:
        path = (*above, field.name)
        yield DescribedColumn(
            ".".join(path),
            "struct" if isinstance(field.type, StructType) else str(field.type),
            field.id,
            path in partitioned,
            bounded.get(path),
        )
        if isinstance(field.type, StructType):
            yield from _columns(field.type.fields, partitioned, bounded, path)
