"""Iceberg tables of the tests' own making: metadata, lists and manifests written entry by entry."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import fastavro

from whyscan.table import Table
from whyscan.tables.iceberg.opening import open_iceberg
from whyscan.tables.storage.store import local_store
from whyscan.tables.time_travel import Travel

if TYPE_CHECKING:
    from pathlib import Path

AVRO = {
    "boolean": "boolean",
    "int": "int",
    "date": {"type": "int", "logicalType": "date"},
    "long": "long",
    "float": "float",
    "double": "double",
    "string": "string",
    "binary": "bytes",
    "uuid": {"type": "fixed", "name": "uuid_fixed", "size": 16, "logicalType": "uuid"},
    "timestamp": {"type": "long", "logicalType": "timestamp-micros"},
    "timestamptz": {"type": "long", "logicalType": "timestamp-micros"},
    "timestamp_ns": {"type": "long", "logicalType": "timestamp-nanos"},
}
MAPS = {
    "column_sizes": (117, "long"),
    "value_counts": (119, "long"),
    "null_value_counts": (121, "long"),
    "nan_value_counts": (138, "long"),
    "lower_bounds": (126, "bytes"),
    "upper_bounds": (129, "bytes"),
}
CODES = {"boolean": "<?", "int": "<i", "date": "<i", "long": "<q", "float": "<f", "double": "<d"}


def encode_bound(value: Any, kind: str) -> bytes:
    """A bound as the specification stores it; bytes stand for themselves."""
    if isinstance(value, bytes):
        return value
    if kind == "string":
        return value.encode()
    if isinstance(value, Decimal):
        unscaled = int(value.scaleb(-value.as_tuple().exponent))
        return unscaled.to_bytes((unscaled.bit_length() + 8) // 8, "big", signed=True)
    return struct.pack(CODES.get(kind, "<q"), value)


@dataclass
class Lake:
    """A table in a folder. `columns` are name to type, ids counted from 1 unless given."""

    folder: Path
    columns: dict[str, Any]
    fields: list[dict[str, Any]] = field(default_factory=list)
    version: int = 2
    schemas: list[dict[str, Any]] = field(default_factory=list)
    specs: list[dict[str, Any]] = field(default_factory=list)
    snapshots: list[dict[str, Any]] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)
    manifests: list[dict[str, Any]] = field(default_factory=list)
    codec: str = "deflate"

    def __post_init__(self) -> None:
        (self.folder / "metadata").mkdir(parents=True)
        if not self.schemas:
            self.schemas = [schema(self.columns)]
        if not self.specs:
            self.specs = [{"spec-id": 0, "fields": self.fields}]

    def id(self, name: str) -> int:
        return next(f["id"] for f in self.schemas[-1]["fields"] if f["name"] == name)

    def type(self, number: int) -> Any:
        return next(f["type"] for f in self.schemas[-1]["fields"] if f["id"] == number)

    def file(
        self,
        path: str,
        bounds: dict[str, tuple[Any, Any]] | None = None,
        nulls: dict[str, int] | None = None,
        rows: int = 10,
        partition: dict[str, Any] | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """An entry: `bounds` by column name or field id, stored by the column's type."""
        ends: dict[str, dict[int, bytes]] = {"lower_bounds": {}, "upper_bounds": {}}
        for name, pair in (bounds or {}).items():
            number = name if isinstance(name, int) else self.id(name)
            kind = "string" if number > 1 << 30 else self.type(number)
            for which, end in zip(ends, pair, strict=True):
                if end is not None:
                    ends[which][number] = encode_bound(end, kind)
        counts = {self.id(name): count for name, count in (nulls or {}).items()}
        entry = {k: more.pop(k) for k in ("status", "sequence_number") if k in more}
        return {
            "status": 1,
            "snapshot_id": 1,
            "sequence_number": None,
            **entry,
            "data_file": {
                "content": 0,
                "file_path": path if "/" in path else f"{self.folder}/data/{path}",
                "file_format": "PARQUET",
                "partition": partition or {},
                "record_count": rows,
                "file_size_in_bytes": 1000,
                "null_value_counts": pairs(counts),
                **{which: pairs(entries) for which, entries in ends.items()},
                **more,
            },
        }

    def manifest(
        self,
        entries: list[dict[str, Any]],
        *,
        spec: int = 0,
        content: int = 0,
        sequence: int = 1,
        summaries: Any = None,
        **listed: Any,
    ) -> Path:
        """Write a manifest and put it on the list."""
        path = self.folder / "metadata" / f"m{len(self.manifests)}.avro"
        written = fastavro.parse_schema(self.entry_schema(spec))
        with path.open("wb") as file:
            fastavro.writer(file, written, entries, codec=self.codec, metadata=self.header(spec))
        live = [e for e in entries if e["status"] != 2]
        rows = sum(e["data_file"]["record_count"] for e in live)
        self.manifests.append(
            {
                "manifest_path": str(path),
                "manifest_length": path.stat().st_size,
                "partition_spec_id": spec,
                "content": content,
                "sequence_number": sequence,
                "min_sequence_number": sequence,
                "added_snapshot_id": 1,
                "added_files_count": len(live),
                "existing_files_count": 0,
                "deleted_files_count": len(entries) - len(live),
                "added_rows_count": max(rows, 0),
                "existing_rows_count": 0,
                "deleted_rows_count": 0,
                "partitions": summaries,
                **listed,
            }
        )
        return path

    def header(self, spec: int) -> dict[str, str]:
        return {"schema": json.dumps(self.schemas[-1]), "partition-spec-id": str(spec)}

    def commit(self, number: int = 1, **more: Any) -> Lake:
        """Write the list of all manifests so far, and a metadata file with a snapshot of it."""
        path = self.folder / "metadata" / f"snap-{number}.avro"
        with path.open("wb") as file:
            fastavro.writer(
                file, fastavro.parse_schema(list_schema()), self.manifests, codec=self.codec
            )
        self.snapshots.append(
            {
                "snapshot-id": number,
                "sequence-number": number,
                "timestamp-ms": number * 1000,
                "manifest-list": str(path),
                "schema-id": self.schemas[-1]["schema-id"],
                **more,
            }
        )
        self.write()
        return self

    def metadata(self) -> dict[str, Any]:
        snapshots = self.snapshots
        return {
            "format-version": self.version,
            "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
            "location": str(self.folder),
            "last-sequence-number": 9,
            "last-updated-ms": len(snapshots),
            "last-column-id": 99,
            "schemas": self.schemas,
            "current-schema-id": self.schemas[-1]["schema-id"],
            "partition-specs": self.specs,
            "default-spec-id": self.specs[-1]["spec-id"],
            "last-partition-id": 1999,
            "sort-orders": [{"order-id": 0, "fields": []}],
            "default-sort-order-id": 0,
            "current-snapshot-id": snapshots[-1]["snapshot-id"] if snapshots else -1,
            "snapshots": snapshots,
            "snapshot-log": [
                {"snapshot-id": s["snapshot-id"], "timestamp-ms": s["timestamp-ms"]}
                for s in snapshots
            ],
            **self.more,
        }

    def write(self) -> None:
        folder = self.folder / "metadata"
        number = len(self.snapshots)
        (folder / f"v{number}.metadata.json").write_text(json.dumps(self.metadata()))
        (folder / "version-hint.text").write_text(str(number))

    def open(self, **travel: Any) -> Any:
        return open_iceberg(local_store(str(self.folder)), Travel(**travel))

    def plan(self, predicate: str, **question: Any) -> Any:
        return Table(self.open()).plan(predicate, depth="files", **question)

    def kept(self, predicate: str, **question: Any) -> list[str]:
        """The names of the files that a predicate keeps, manifests that it rules out included."""
        return self.verdicts(predicate, **question)[0]

    def every(self, predicate: str, **question: Any) -> list[str]:
        """The names of the files all of whose rows match."""
        return self.verdicts(predicate, **question)[1]

    def verdicts(self, predicate: str, **question: Any) -> tuple[list[str], list[str]]:
        evidence = self.plan(predicate, **question).evidence
        names = [path.rpartition("/")[2] for path in evidence.files.paths.to_pylist()]
        judgement = evidence.judgement
        return (
            [name for name, kept in zip(names, judgement.kept, strict=True) if kept],
            [name for name, every in zip(names, judgement.every, strict=True) if every],
        )

    def live(self, **travel: Any) -> list[str]:
        paths = self.open(**travel).files([]).paths.to_pylist()
        return [path.rpartition("/")[2] for path in paths]

    def entry_schema(self, spec: int) -> dict[str, Any]:
        fields = next(s for s in self.specs if s["spec-id"] == spec)["fields"]
        partition = [self.partition_field(f) for f in fields]
        file = [
            avro("content", 134, "int"),
            avro("file_path", 100, "string"),
            avro("file_format", 101, "string"),
            avro("partition", 102, {"type": "record", "name": "r102", "fields": partition}),
            avro("record_count", 103, "long"),
            avro("file_size_in_bytes", 104, "long"),
            *(pairs_field(name, *about) for name, about in MAPS.items()),
            avro("key_metadata", 131, "bytes", optional=True),
            avro("equality_ids", 135, {"type": "array", "items": "int"}, optional=True),
            avro("referenced_data_file", 143, "string", optional=True),
            avro("content_offset", 144, "long", optional=True),
            avro("content_size_in_bytes", 145, "long", optional=True),
        ]
        entry = [
            avro("status", 0, "int"),
            avro("snapshot_id", 1, "long", optional=True),
            avro("sequence_number", 3, "long", optional=True),
            avro("data_file", 2, {"type": "record", "name": "r2", "fields": file}),
        ]
        return {"type": "record", "name": "manifest_entry", "fields": entry}

    def partition_field(self, about: dict[str, Any]) -> dict[str, Any]:
        transform = about["transform"]
        kind = about.get("avro") or AVRO.get(_source_type(self.schemas[-1], about["source-id"]))
        if transform in ("year", "month", "hour") or transform.startswith("bucket"):
            kind = "int"
        if transform == "day":
            kind = AVRO["date"]
        return avro(
            about["name"].replace(".", "_x2E"), about["field-id"], kind or "string", optional=True
        )


def _source_type(document: dict[str, Any], number: int) -> Any:
    for member in document["fields"]:
        if member["id"] == number:
            return member["type"]
        if isinstance(member["type"], dict) and "fields" in member["type"]:
            source = _source_type(member["type"], number)
            if source is not None:
                return source
    return None


def schema(columns: dict[str, Any], number: int = 0) -> dict[str, Any]:
    """A schema of `{name: type}` or `{name: {"type": ..., "id": ...}}`."""
    fields = []
    for at, (name, kind) in enumerate(columns.items(), start=1):
        about = kind if isinstance(kind, dict) and "id" in kind else {"type": kind}
        fields.append({"id": at, "name": name, "required": False, **about})
    return {"type": "struct", "schema-id": number, "fields": fields}


def pairs(values: dict[int, Any] | None) -> list[dict[str, Any]] | None:
    return None if values is None else [{"key": k, "value": v} for k, v in values.items()]


def summary(
    lower: bytes | None, upper: bytes | None, *, null: bool = False, nan: Any = None
) -> Any:
    return {"contains_null": null, "contains_nan": nan, "lower_bound": lower, "upper_bound": upper}


def avro(name: str, number: int, kind: Any, *, optional: bool = False) -> dict[str, Any]:
    if not optional:
        return {"name": name, "type": kind, "field-id": number}
    return {"name": name, "type": ["null", kind], "field-id": number, "default": None}


def pairs_field(name: str, number: int, kind: str) -> dict[str, Any]:
    fields = [avro("key", number, "int"), avro("value", number + 1, kind)]
    pair = {"type": "record", "name": f"k{number}_v{number + 1}", "fields": fields}
    return avro(name, number - 1, {"type": "array", "items": pair}, optional=True)


def list_schema() -> dict[str, Any]:
    parts = [
        avro("contains_null", 509, "boolean"),
        avro("contains_nan", 518, "boolean", optional=True),
        avro("lower_bound", 510, "bytes", optional=True),
        avro("upper_bound", 511, "bytes", optional=True),
    ]
    summaries = {"type": "array", "items": {"type": "record", "name": "r508", "fields": parts}}
    fields = [
        avro("manifest_path", 500, "string"),
        avro("manifest_length", 501, "long"),
        avro("partition_spec_id", 502, "int"),
        avro("content", 517, "int"),
        avro("sequence_number", 515, "long"),
        avro("min_sequence_number", 516, "long"),
        avro("added_snapshot_id", 503, "long"),
        avro("added_files_count", 504, "int", optional=True),
        avro("existing_files_count", 505, "int", optional=True),
        avro("deleted_files_count", 506, "int", optional=True),
        avro("added_rows_count", 512, "long", optional=True),
        avro("existing_rows_count", 513, "long", optional=True),
        avro("deleted_rows_count", 514, "long", optional=True),
        avro("partitions", 507, summaries, optional=True),
        avro("key_metadata", 519, "bytes", optional=True),
    ]
    return {"type": "record", "name": "manifest_file", "fields": fields}
