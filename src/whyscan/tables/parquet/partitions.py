"""The partition columns of a folder tree: typed, and as intervals of one point a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import TableError, UsageError
from whyscan.pruning.interval import Interval, points
from whyscan.pruning.mask import opposite, settled
from whyscan.tables.file_columns import given_as
from whyscan.tables.parquet import values
from whyscan.tree import zones
from whyscan.tree.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    Field,
    FloatType,
    IntegerType,
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
_GIVEN = (
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
    """Partition columns and the folder of each file; `fields` may be none."""

    fields: tuple[Field, ...]
    keys: PartitionKeys

    def at(self, files: pa.Array) -> Partitions:
        """The same for the files at these positions."""
        return replace(self, keys=replace(self.keys, folder=self.keys.folder.take(files)))

    def compact(self) -> Partitions:
        """The same without the folders that no file lies in."""
        found = self.keys.folder.dictionary_encode()
        kept = found.dictionary.to_pylist()
        keys = replace(
            self.keys,
            folders=tuple(self.keys.folders[at] for at in kept),
            texts=tuple(tuple(texts[at] for at in kept) for texts in self.keys.texts),
            folder=found.indices,
        )
        return replace(self, keys=keys)

    def table(self, zone: Zone) -> pa.Table:
        """The values, a row a file, for people."""
        columns = {
            field.name: _readable(self._values(at, zone), field.type).take(self.keys.folder)
            for at, field in enumerate(self.fields)
        }
        if not columns:
            return pa.table({"": self.keys.folder}).select([])
        return pa.table(columns)

    def constants(self, zone: Zone) -> dict[Path, pa.Array]:
        """The values as readers give them, a row a file."""
        return {
            (field.name,): self._values(at, zone).cast(given_as(field.type)).take(self.keys.folder)
            for at, field in enumerate(self.fields)
        }

    def intervals(self, zone: Zone | None) -> dict[Path, Interval]:
        """One point a file, or NULL, or NaN.

        A timestamp in a folder's name was shown in a zone that only the session knows. Where
        that is unknown too (None), it may be any within 18 hours.
        """
        return {
            (field.name,): self._interval(at, field.type, zone)
            for at, field in enumerate(self.fields)
        }

    def _interval(self, at: int, kind: Type, zone: Zone | None) -> Interval:
        texts = pa.array(self.keys.texts[at]).take(self.keys.folder)
        null = settled(pc.equal(texts, values.NULL_TEXT))
        point = self._values(at, zone or _UTC).take(self.keys.folder)
        if pa.types.is_null(point.type):
            return Interval(kind, None, None, value=opposite(null), null=null)
        if isinstance(kind, TimestampType) and kind.instant and zone is None:
            return _widened(kind, point, null)
        return points(kind, point, null)

    def _values(self, at: int, zone: Zone) -> pa.Array:
        """The values of one column, a folder each."""
        texts, field = self.keys.texts[at], self.fields[at]
        try:
            return values.convert(texts, field.type, zone)
        except values.UnreadableValue as error:
            folder = self.keys.folders[texts.index(error.args[0])]
            raise TableError(
                f"the folder {folder!r} has no {field.type} for {field.name}: {error.args[0]!r}",
                hint=f"leave --partition-type {field.name} out, or give it as string",
            ) from None


def typed(keys: PartitionKeys, given: Mapping[str, Type]) -> Partitions:
    """The columns with the types that the user gave, or that Spark infers."""
    by_name = {name.lower(): kind for name, kind in given.items()}
    unknown = [n for n in given if n.lower() not in {name.lower() for name in keys.names}]
    if unknown:
        known = ", ".join(keys.names) or "none"
        raise UsageError(
            f"{unknown[0]!r} is no partition column", hint=f"the partition columns are: {known}"
        )
    for name, kind in given.items():
        if not isinstance(kind, _GIVEN):
            raise UsageError(f"a partition column cannot be of type {kind}: {name}")
    fields = (
        Field(name, by_name.get(name.lower()) or values.infer(texts))
        for name, texts in zip(keys.names, keys.texts, strict=True)
    )
    found = Partitions(tuple(fields), keys)
    for at in range(len(found.fields)):
        found._values(at, _UTC)  # noqa: SLF001  a folder that cannot be read stops here
    return found


def _widened(kind: TimestampType, point: pa.Array, null: Mask) -> Interval:
    reach = _FARTHEST * (kind.unit.per_second // zones.SECOND)
    whole = point.view(pa.int64())
    return Interval(
        kind,
        pc.subtract(whole, reach).view(point.type),
        pc.add(whole, reach).view(point.type),
        value=opposite(null),
        null=null,
    )


def _readable(found: pa.Array, kind: Type) -> pa.Array:
    return found.cast(pa.string()) if isinstance(kind, StringType) else found
