"""The partition columns of a folder tree: their types, and one value per file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import TableError, UsageError
from whyscan.pruning.interval import Interval, points
from whyscan.pruning.mask import opposite, simplified
from whyscan.tables.file_columns import result_type
from whyscan.tables.parquet import values
from whyscan.tree import zones
from whyscan.tree.types import (
    STRING,
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    Field,
    FloatType,
    IntegerType,
    OtherType,
    StringType,
    TimestampType,
    Type,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whyscan.pruning.mask import Mask
    from whyscan.tables.parquet.paths import PartitionKeys
    from whyscan.tree.nodes import Path
    from whyscan.tree.zones import Zone

_UTC = zones.zone("UTC")
_FARTHEST = 18 * 3600 * zones.SECOND
_ALLOWED_TYPES = (
    BooleanType,
    IntegerType,
    FloatType,
    DecimalType,
    StringType,
    BinaryType,
    DateType,
    TimestampType,
)


class Partitions(Struct, frozen=True):
    """Partition columns and the folder of each file; `fields` may be empty."""

    fields: tuple[Field, ...]
    keys: PartitionKeys

    def at(self, files: pa.Array) -> Partitions:
        """The partitions of the files at these positions."""
        return replace(self, keys=replace(self.keys, folder=self.keys.folder.take(files)))

    def compact(self) -> Partitions:
        """The same partitions without folders that contain no file."""
        encoded = self.keys.folder.dictionary_encode()
        kept = encoded.dictionary.to_pylist()
        keys = replace(
            self.keys,
            folders=tuple(self.keys.folders[at] for at in kept),
            texts=tuple(tuple(texts[at] for at in kept) for texts in self.keys.texts),
            folder=encoded.indices,
        )
        return replace(self, keys=keys)

    def table(self, zone: Zone) -> pa.Table:
        """The partition values for people, one row per file."""
        columns = {
            field.name: _readable(self._values(at, zone), field.type).take(self.keys.folder)
            for at, field in enumerate(self.fields)
        }
        if not columns:
            return pa.table({"": self.keys.folder}).select([])
        return pa.table(columns)

    def constants(self, zone: Zone) -> dict[Path, pa.Array]:
        """The partition values in the types of a scan's result, one row per file."""
        return {
            (field.name,): self._values(at, zone)
            .cast(result_type(field.type))
            .take(self.keys.folder)
            for at, field in enumerate(self.fields)
        }

    def intervals(self, zone: Zone | None) -> dict[Path, Interval]:
        """The intervals of the partition columns: one point, NULL or NaN per file.

        A timestamp in a folder's name is in the session's time zone. If that is unknown (None),
        the interval extends 18 hours to both sides.
        """
        return {
            (field.name,): self._interval(at, field.type, zone)
            for at, field in enumerate(self.fields)
        }

    def _interval(self, at: int, kind: Type, zone: Zone | None) -> Interval:
        texts = pa.array(self.keys.texts[at], pa.string()).take(self.keys.folder)
        null = simplified(pc.equal(texts, values.NULL_TEXT))
        if isinstance(kind, OtherType):
            return Interval(kind, None, None, value=opposite(null), null=null)
        point = self._values(at, zone or _UTC).take(self.keys.folder)
        if pa.types.is_null(point.type):
            return Interval(kind, None, None, value=opposite(null), null=null)
        if isinstance(kind, TimestampType) and kind.instant and zone is None:
            return _widened(kind, point, null)
        return points(kind, point, null)

    def _values(self, at: int, zone: Zone) -> pa.Array:
        """The values of one column, one per folder."""
        texts, field = self.keys.texts[at], self.fields[at]
        try:
            return values.convert(texts, _converted_type(field.type), zone)
        except values.UnreadableValue as error:
            folder = self.keys.folders[texts.index(error.args[0])]
            raise TableError(
                f"the folder {folder!r} has no {field.type} for {field.name}: {error.args[0]!r}",
                hint=f"leave --partition-type {field.name} out, or give it as string",
            ) from None


def typed(keys: PartitionKeys, types: Mapping[str, Type]) -> Partitions:
    """The partition columns with the user's types, else with the types that Spark infers."""
    by_name = {name.lower(): kind for name, kind in types.items()}
    unknown = [n for n in types if n.lower() not in {name.lower() for name in keys.names}]
    if unknown:
        names = ", ".join(keys.names) or "none"
        raise UsageError(
            f"{unknown[0]!r} is no partition column", hint=f"the partition columns are: {names}"
        )
    for name, kind in types.items():
        if not isinstance(kind, _ALLOWED_TYPES):
            raise UsageError(f"a partition column cannot be of type {kind}: {name}")
    fields = (
        Field(name, by_name.get(name.lower()) or values.infer(texts))
        for name, texts in zip(keys.names, keys.texts, strict=True)
    )
    partitions = Partitions(tuple(fields), keys)
    for at in range(len(partitions.fields)):
        partitions._values(at, _UTC)  # noqa: SLF001  a folder that cannot be read stops here
    return partitions


def _widened(kind: TimestampType, point: pa.Array, null: Mask) -> Interval:
    """Intervals of 18 hours to both sides of each point."""
    reach = _FARTHEST * (kind.unit.per_second // zones.SECOND)
    numbers = point.view(pa.int64())
    return Interval(
        kind,
        pc.subtract(numbers, reach).view(point.type),
        pc.add(numbers, reach).view(point.type),
        value=opposite(null),
        null=null,
    )


def _converted_type(kind: Type) -> Type:
    """The type that texts are converted to: CHAR is text, which is not ordered by its bytes."""
    is_char = isinstance(kind, OtherType) and kind.name.startswith("char(")
    return STRING if is_char else kind


def _readable(values: pa.Array, kind: Type) -> pa.Array:
    return values.cast(pa.string()) if isinstance(_converted_type(kind), StringType) else values
