"""`metadata.json`: schemas, partition specs, snapshots and the names that people give them."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from whyscan.errors import CorruptFile, TableError
from whyscan.predicate.types import Schema
from whyscan.pruning.transforms import Transform, parse_transform
from whyscan.tables.iceberg.schemas import Leaf, leaves, schema

GZIP = b"\x1f\x8b"
LARGEST = 512 * 1024 * 1024
"""Metadata that inflates to more than this is taken for a decompression bomb."""

SUPPORTED_VERSIONS = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class PartitionField:
    """One field of a partition spec."""

    id: int
    source: int
    name: str
    transform: Transform


@dataclass(frozen=True, slots=True)
class Spec:
    """How files of one time were partitioned."""

    id: int
    fields: tuple[PartitionField, ...]


@dataclass(frozen=True, slots=True)
class SnapshotRecord:
    """One snapshot. Version 1 tables may name manifests instead of a manifest list."""

    id: int
    timestamp_ms: int
    manifest_list: str | None
    manifests: tuple[str, ...]
    schema_id: int | None


@dataclass(frozen=True, slots=True)
class TableSchema:
    """A schema with its columns by field id."""

    schema: Schema
    leaves: tuple[Leaf, ...]


@dataclass(frozen=True, slots=True)
class Metadata:
    """One metadata file."""

    path: str
    format_version: int
    location: str
    schemas: Mapping[int, TableSchema]
    current_schema: int
    specs: Mapping[int, Spec]
    snapshots: Mapping[int, SnapshotRecord]
    current_snapshot: int | None
    refs: Mapping[str, int]
    history: tuple[tuple[int, int], ...]
    properties: Mapping[str, str]


def parse(path: str, data: bytes) -> Metadata:
    """Read a metadata file, compressed or not."""
    document = _document(path, data)
    version = document.get("format-version")
    if version not in SUPPORTED_VERSIONS:
        raise TableError(
            f"{path}: Iceberg format version {version!r} is not supported",
            hint="versions 1, 2 and 3 are",
        )
    try:
        return _metadata(path, document, version)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CorruptFile(path, f"the metadata is malformed: {error!r}") from None


def _document(path: str, data: bytes) -> dict[str, Any]:
    try:
        text = _inflate(path, data) if data.startswith(GZIP) else data
        document = json.loads(text)
    except (ValueError, RecursionError, zlib.error, gzip.BadGzipFile, EOFError) as error:
        raise CorruptFile(path, f"it is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise CorruptFile(path, "it is not a JSON object")
    return document


def _inflate(path: str, data: bytes) -> bytes:
    stream = zlib.decompressobj(wbits=31)
    text = stream.decompress(data, LARGEST)
    if stream.unconsumed_tail:
        raise CorruptFile(path, f"it inflates to more than {LARGEST} bytes")
    return text


def _metadata(path: str, document: dict[str, Any], version: int) -> Metadata:
    schemas = document.get("schemas") or [document["schema"]]
    current = document.get("current-snapshot-id")
    return Metadata(
        path=path,
        format_version=version,
        location=document["location"].rstrip("/"),
        schemas={s.get("schema-id", 0): TableSchema(schema(s), tuple(leaves(s))) for s in schemas},
        current_schema=document.get("current-schema-id", schemas[-1].get("schema-id", 0)),
        specs=_specs(document),
        snapshots={s["snapshot-id"]: _snapshot(s) for s in document.get("snapshots") or ()},
        current_snapshot=None if current in (None, -1) else current,
        refs={n: r["snapshot-id"] for n, r in (document.get("refs") or {}).items()},
        history=tuple(
            (entry["timestamp-ms"], entry["snapshot-id"])
            for entry in document.get("snapshot-log") or ()
        ),
        properties=document.get("properties") or {},
    )


def _specs(document: dict[str, Any]) -> Mapping[int, Spec]:
    listed = document.get("partition-specs")
    if listed is None:  # Version 1, before specs had numbers.
        listed = [{"spec-id": 0, "fields": document.get("partition-spec", ())}]
    return {spec["spec-id"]: Spec(spec["spec-id"], _fields(spec["fields"])) for spec in listed}


def _fields(documents: Any) -> tuple[PartitionField, ...]:
    """Version 1 fields have no ids of their own: they count from 1000."""
    return tuple(
        PartitionField(
            id=field.get("field-id", 1000 + position),
            source=field["source-id"] if "source-id" in field else field["source-ids"][0],
            name=field["name"],
            transform=parse_transform(field["transform"]),
        )
        for position, field in enumerate(documents)
    )


def _snapshot(document: dict[str, Any]) -> SnapshotRecord:
    return SnapshotRecord(
        id=document["snapshot-id"],
        timestamp_ms=document["timestamp-ms"],
        manifest_list=document.get("manifest-list"),
        manifests=tuple(document.get("manifests") or ()),
        schema_id=document.get("schema-id"),
    )
