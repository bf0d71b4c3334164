"""What an inventory's `tables` say of a snapshot besides its containers, as one JSON document.

The planner asks a snapshot for its schema with field ids, its partition specs, and what the
table's settings make writers record. None of it is in a container.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from whyscan.errors import TableError
from whyscan.pruning.transforms import Bucket, Substring, transform_of_text
from whyscan.tables.snapshot import Recording, SpecLine
from whyscan.tree.nodes import columns_within
from whyscan.tree.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    NULL,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    UUID,
    DecimalType,
    Field,
    IntervalType,
    OtherType,
    Schema,
    StructType,
    TimestampType,
    TimeUnit,
)

if TYPE_CHECKING:
    from whyscan.tables.snapshot import Snapshot, Spec
    from whyscan.tree.types import Type

Names = tuple[str, ...]
"""The path of a column."""

_NAMED: tuple[Type, ...] = (
    *(BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, STRING, BINARY, UUID, DATE),
    *(TIMESTAMP, TIMESTAMP_NTZ, NULL, IntervalType(months=True), IntervalType(months=False)),
    *(TimestampType(instant, TimeUnit.NANOSECOND) for instant in (True, False)),
)
_TYPES: dict[str, Type] = {str(kind): kind for kind in _NAMED}
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")


class DescribedField(Struct, frozen=True, omit_defaults=True):
    """A column or a member of a struct; `members` is None unless it is a struct."""

    name: str
    type: str
    id: int | None = None
    members: tuple[DescribedField, ...] | None = None

    @classmethod
    def of(cls, field: Field) -> DescribedField:
        members = None
        if isinstance(field.type, StructType):
            members = tuple(map(cls.of, field.type.fields))
        return cls(
            field.name, "struct" if members is not None else str(field.type), field.id, members
        )

    def field(self) -> Field:
        if self.members is None:
            return Field(self.name, _type(self.type), self.id)
        return Field(self.name, StructType(tuple(m.field() for m in self.members)), self.id)


def without_preimage(source: str) -> Bucket | Substring | None:
    """The transform that a line of a container comes from; None if it is another source."""
    transform = transform_of_text(source)
    return transform if isinstance(transform, Bucket | Substring) else None


def _type(text: str) -> Type:
    if (decimal := _DECIMAL.fullmatch(text)) is not None:
        return DecimalType(int(decimal[1]), int(decimal[2]))
    return _TYPES.get(text) or OtherType(text)


class DescribedTransforms(Struct, frozen=True):
    """The transforms of one source column in a partition spec."""

    source: Names
    transforms: tuple[str, ...]


class DescribedSpec(Struct, frozen=True):
    """A numbered partition spec, as `SpecLine` has it."""

    id: int
    fields: tuple[str, ...]
    sources: tuple[Names, ...]
    current: bool
    names: tuple[str, ...]


class DescribedRecording(Struct, frozen=True):
    """Which statistics of a column the table's settings make writers record."""

    column: Names
    recording: Recording


class TableDescription(Struct, frozen=True):
    """A snapshot without its containers."""

    uri: str
    format: str
    version: int | None
    notes: tuple[str, ...]
    footers_describe_files: bool
    fields: tuple[DescribedField, ...]
    partition_sources: tuple[Names, ...]
    specs: tuple[tuple[DescribedTransforms, ...], ...]
    numbered_specs: tuple[DescribedSpec, ...]
    recordings: tuple[DescribedRecording, ...]

    def to_json(self) -> str:
        return msgspec.json.encode(self).decode()

    def schema(self) -> Schema:
        return Schema(tuple(field.field() for field in self.fields))

    def partition_specs(self) -> tuple[Spec, ...]:
        return tuple(
            {line.source: tuple(map(transform_of_text, line.transforms)) for line in spec}
            for spec in self.specs
        )

    def spec_lines(self) -> tuple[SpecLine, ...]:
        return tuple(
            SpecLine(
                spec.id, spec.fields, frozenset(spec.sources), spec.current, frozenset(spec.names)
            )
            for spec in self.numbered_specs
        )


def description_of(snapshot: Snapshot) -> TableDescription:
    """The description of a snapshot. It reads no more than opening the table does."""
    schema = snapshot.schema()
    return TableDescription(
        uri=snapshot.uri,
        format=snapshot.format,
        version=snapshot.version,
        notes=snapshot.notes,
        footers_describe_files=snapshot.footers_describe_files,
        fields=tuple(map(DescribedField.of, schema.fields)),
        partition_sources=snapshot.partition_sources,
        specs=tuple(
            tuple(
                DescribedTransforms(path, tuple(map(str, transforms)))
                for path, transforms in spec.items()
            )
            for spec in snapshot.specs
        ),
        numbered_specs=tuple(
            DescribedSpec(
                line.id,
                line.fields,
                tuple(sorted(line.sources)),
                line.current,
                tuple(sorted(line.names)),
            )
            for line in snapshot.numbered_specs
        ),
        recordings=tuple(
            DescribedRecording(column.path, snapshot.recording(column))
            for column in columns_within(schema.fields)
        ),
    )


def description_from(text: str | None) -> TableDescription:
    """The description in a row of an inventory. Its columns are read once, however nested."""
    try:
        description = msgspec.json.decode(text or "", type=TableDescription)
        description.schema()
    except (msgspec.DecodeError, RecursionError) as error:
        raise TableError(
            f"the inventory does not describe its tables: {error}",
            hint="write it again: whyscan inventory TABLE... -o PLACE",
        ) from error
    return description
