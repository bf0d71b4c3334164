"""The snapshots of an Iceberg table, as its metadata file lists them; no other file is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whyscan.tables.history import History, TableVersion, VersionReference, time_of
from whyscan.tables.iceberg.metadata import summary_count

if TYPE_CHECKING:
    from whyscan.tables.iceberg.metadata import SnapshotRecord, TableMetadata
    from whyscan.tables.iceberg.snapshot import IcebergSnapshot

_FOR_PRUNING = (
    "commit.manifest",
    "read.split",
    "write.delete.mode",
    "write.distribution-mode",
    "write.format.default",
    "write.merge.mode",
    "write.metadata.metrics",
    "write.object-storage",
    "write.parquet.bloom-filter",
    "write.parquet.page",
    "write.parquet.row-group",
    "write.target-file-size-bytes",
    "write.update.mode",
)
"""How the properties begin that decide statistics, file sizes and how rows are deleted."""


def history(snapshot: IcebergSnapshot, newest: int) -> History:
    """The newest snapshots, and what the metadata says of the whole table."""
    metadata = snapshot.metadata
    records = sorted(metadata.snapshots.values(), key=lambda r: r.timestamp_ms, reverse=True)
    properties = {
        k: v for k, v in sorted(metadata.properties.items()) if k.startswith(_FOR_PRUNING)
    }
    return History(
        protocol=f"format version {metadata.format_version}",
        versions=tuple(
            _version(record, opened=record.id == snapshot.version) for record in records[:newest]
        ),
        count=len(records),
        references=tuple(
            VersionReference(name, "branch" if ref.is_branch else "tag", ref.snapshot)
            for name, ref in sorted(metadata.refs.items())
        ),
        properties=properties,
        other_properties=len(metadata.properties) - len(properties),
        order=_order(metadata),
    )


def _version(record: SnapshotRecord, *, opened: bool) -> TableVersion:
    """A snapshot with the counts of its summary."""
    operation = record.summary.get("operation")
    return TableVersion(
        version=record.id,
        time=time_of(record.timestamp_ms * 1000),
        operation=operation if isinstance(operation, str) else None,
        added_files=summary_count(record.summary, "added-data-files"),
        removed_files=summary_count(record.summary, "deleted-data-files"),
        added_bytes=summary_count(record.summary, "added-files-size"),
        files=record.files,
        bytes=summary_count(record.summary, "total-files-size"),
        rows=summary_count(record.summary, "total-records"),
        opened=opened,
    )


def _order(metadata: TableMetadata) -> str | None:
    """`sorted by` the fields of the sort order; None without one, or if it cannot be read."""
    document = metadata.sort_order
    fields = document.get("fields") if isinstance(document, dict) else None
    if not isinstance(fields, list) or not fields:
        return None
    names = {leaf.id: ".".join(leaf.path) for leaf in metadata.schema(None).leaves.values()}
    return f"sorted by {', '.join(_sorted_field(field, names) for field in fields)}"


def _sorted_field(field: Any, names: dict[int, str]) -> str:
    """`bucket[16](id) desc`, from the JSON of one field of a sort order."""
    if not isinstance(field, dict):
        return "?"
    source = field.get("source-id")
    name = names.get(source, "?") if isinstance(source, int) else "?"
    transform = str(field.get("transform"))
    shown = name if transform == "identity" else f"{transform}({name})"
    return f"{shown} desc" if field.get("direction") == "desc" else shown
