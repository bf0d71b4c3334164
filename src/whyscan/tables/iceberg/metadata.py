"""`metadata.json`: schemas, partition specs, snapshots, and the branches and tags."""

from __future__ import annotations

import gzip
import re
import zlib
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from whyscan.errors import CorruptFile, TableError
from whyscan.pruning.transforms import Transform, Unknown, Void, parse_transform
from whyscan.tables import budget
from whyscan.tables.counts import is_number
from whyscan.tables.iceberg.schemas import TableSchema, table_schema
from whyscan.tables.json_text import read_json
from whyscan.tree.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Mapping

GZIP = b"\x1f\x8b"
SUPPORTED_VERSIONS = (1, 2, 3)
MAIN = "main"
NAME_MAPPING = "schema.name-mapping.default"
_MALFORMED = (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError)
_FIRST_FIELD = 1000
_MOST_FIELDS = 1000
_TOO_LARGE = 1 << 64  # Some writers use snapshot ids above 2^63.
_COUNT = re.compile(r"[0-9]{1,18}")


class PartitionField(Struct, frozen=True):
    """One field of a partition spec."""

    id: int
    source: int
    name: str
    transform: Transform


class Spec(Struct, frozen=True):
    """A partition spec: how the files written with it are partitioned."""

    id: int
    fields: tuple[PartitionField, ...]

    @property
    def is_partitioned(self) -> bool:
        """Whether a field divides the files. `void`, the rest of a dropped field, does not."""
        return any(not isinstance(field.transform, Void) for field in self.fields)


class SnapshotRecord(Struct, frozen=True):
    """One snapshot. Version 1 tables may name manifests instead of a manifest list.

    `encrypted`: the manifest list is encrypted. `files` is the number of data files in the
    snapshot's summary, None without one. `summary` is as its writer wrote it.
    """

    id: int
    parent: int | None
    timestamp_ms: int
    manifest_list: str | None
    manifests: tuple[str, ...]
    schema_id: int | None
    encrypted: bool
    files: int | None = None
    summary: Mapping[str, Any] = {}


class Reference(Struct, frozen=True):
    """A branch or a tag: a name for a snapshot."""

    snapshot: int
    is_branch: bool


class TableMetadata(Struct, frozen=True, dict=True):
    """The content of the metadata file at `path`. A schema is parsed on first use.

    `sort_order` is the JSON of the order in which writers are told to sort, None without one.
    """

    path: str
    format_version: int
    location: str
    updated_ms: int
    schema_documents: Mapping[int, Any]
    current_schema: int
    specs: Mapping[int, Spec]
    default_spec: int
    snapshots: Mapping[int, SnapshotRecord]
    current_snapshot: int | None
    refs: Mapping[str, Reference]
    history: tuple[tuple[int, int], ...]
    properties: Mapping[str, str]
    sort_order: Any = None

    def schema(self, number: int | None) -> TableSchema:
        """The schema with that number; the current schema for None or an unknown number."""
        chosen = self.current_schema
        if number is not None and number in self.schema_documents:
            chosen = number
        if chosen not in self._read:
            try:
                self._read[chosen] = table_schema(self.schema_documents[chosen])
            except _MALFORMED as error:
                raise CorruptFile(self.path, f"schema {chosen} is malformed: {error!r}") from None
        return self._read[chosen]

    @lazy
    def _read(self) -> dict[int, TableSchema]:
        return {}

    @property
    def is_from_delta(self) -> bool:
        """Whether Delta wrote this metadata in addition to its log, with its own statistics."""
        return "delta-version" in self.properties or "delta-timestamp" in self.properties


def parse(path: str, data: bytes) -> TableMetadata:
    """Read a metadata file, compressed or not."""
    return read_document(path, _document(path, data))


def read_document(path: str, document: dict[str, Any]) -> TableMetadata:
    """The metadata of a parsed JSON document; errors name it by `path`."""
    version = document.get("format-version")
    if version not in SUPPORTED_VERSIONS or isinstance(version, bool):
        raise TableError(
            f"{path}: Iceberg format version {str(version)[:20]!r} is not supported",
            hint="versions 1, 2 and 3 are",
        )
    try:
        return _metadata(path, document, version)
    except _MALFORMED as error:
        raise CorruptFile(path, f"the metadata is malformed: {error!r}") from None


def _document(path: str, data: bytes) -> dict[str, Any]:
    try:
        text = _inflate(path, data) if data.startswith(GZIP) else data
        document = read_json(text, path)
    except (ValueError, RecursionError, zlib.error, gzip.BadGzipFile, EOFError) as error:
        hint = "an older metadata.json of the table can be named instead"
        raise CorruptFile(path, f"it is not JSON: {error}", hint=hint) from None
    if not isinstance(document, dict):
        raise CorruptFile(path, "it is not a JSON object")
    return document


def _inflate(path: str, data: bytes) -> bytes:
    stream = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    limit = min(budget.most_inflated(len(data)), budget.largest_object())
    text = stream.decompress(data, limit)
    if stream.unconsumed_tail:
        raise budget.inflates(path, limit)
    return text


def _metadata(path: str, document: dict[str, Any], version: int) -> TableMetadata:
    schemas = document.get("schemas") or [document["schema"]]
    current = document.get("current-snapshot-id")
    numbered = {_number(s.get("schema-id", 0)): s for s in schemas}
    current_schema = document.get("current-schema-id", next(reversed(numbered)))
    if current_schema not in numbered:
        raise KeyError(f"schema {current_schema}, the current one")
    return TableMetadata(
        path=path,
        format_version=version,
        location=_text(document["location"]).rstrip("/"),
        updated_ms=_number(document.get("last-updated-ms", 0)),
        schema_documents=numbered,
        current_schema=current_schema,
        specs=_specs(document),
        default_spec=_number(document.get("default-spec-id", 0)),
        snapshots={s.id: s for s in map(_snapshot, document.get("snapshots") or ())},
        current_snapshot=None if current in (None, -1) else _number(current),
        refs={name: _reference(r) for name, r in (document.get("refs") or {}).items()},
        history=tuple(
            (_number(entry["timestamp-ms"]), _number(entry["snapshot-id"]))
            for entry in document.get("snapshot-log") or ()
        ),
        properties={str(k): str(v) for k, v in (document.get("properties") or {}).items()},
        sort_order=_sort_order(document),
    )


def _sort_order(document: dict[str, Any]) -> Any:
    """The JSON of the default sort order; it changes no plan, so that nothing is checked."""
    number, orders = document.get("default-sort-order-id"), document.get("sort-orders")
    listed = orders if isinstance(orders, list) else ()
    return next((o for o in listed if isinstance(o, dict) and o.get("order-id") == number), None)


def _number(value: Any) -> int:
    if not is_number(value) or abs(value) >= _TOO_LARGE:
        raise TypeError(f"{str(value)[:40]!r} is not a number")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:40]!r} is no text")
    return value


def _specs(document: dict[str, Any]) -> Mapping[int, Spec]:
    documents = document.get("partition-specs")
    if documents is None:  # Version 1, before specs had numbers.
        documents = [{"spec-id": 0, "fields": document.get("partition-spec", ())}]
    numbered = {_number(spec["spec-id"]): _fields(spec["fields"]) for spec in documents}
    return {number: Spec(number, fields) for number, fields in numbered.items()}


def _fields(documents: Any) -> tuple[PartitionField, ...]:
    """The fields of a spec. Version 1 fields have no ids: they are numbered from 1000."""
    if len(documents) > _MOST_FIELDS:
        raise ValueError(f"a partition spec of {len(documents)} fields")
    return tuple(
        PartitionField(
            id=_number(field.get("field-id", _FIRST_FIELD + position)),
            source=_number(_sources(field)[0]),
            name=str(field["name"]),
            transform=_transform(field),
        )
        for position, field in enumerate(documents)
    )


def _sources(field: dict[str, Any]) -> list[int]:
    return [field["source-id"]] if "source-id" in field else field["source-ids"]


def _transform(field: dict[str, Any]) -> Transform:
    """The transform of a field; `Unknown` for a transform of several columns."""
    name = str(field["transform"])
    return parse_transform(name) if len(_sources(field)) == 1 else Unknown(name)


def _snapshot(document: dict[str, Any]) -> SnapshotRecord:
    manifest_list, summary = document.get("manifest-list"), document.get("summary")
    return SnapshotRecord(
        id=_number(document["snapshot-id"]),
        parent=document.get("parent-snapshot-id"),
        timestamp_ms=_number(document["timestamp-ms"]),
        manifest_list=None if manifest_list is None else _text(manifest_list),
        manifests=tuple(_text(path) for path in document.get("manifests") or ()),
        schema_id=document.get("schema-id"),
        encrypted=document.get("key-id") is not None,
        files=summary_count(summary, "total-data-files"),
        summary=summary if isinstance(summary, dict) else {},
    )


def summary_count(summary: Any, name: str) -> int | None:
    """A count of a snapshot's summary; None if it is missing or no number."""
    text = summary.get(name) if isinstance(summary, dict) else None
    return int(text) if isinstance(text, str) and _COUNT.fullmatch(text) else None


def _reference(document: dict[str, Any]) -> Reference:
    return Reference(_number(document["snapshot-id"]), document.get("type") == "branch")
