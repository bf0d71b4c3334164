"""Converts Arrow columns to the types of Spark.

| column | in Spark |
|---|---|
| booleans, integers, floats, decimals, text, bytes, dates, structs, lists, maps | the same |
| timestamp of any precision | in microseconds; finer digits are rounded down |
| uuid | its text |
| bytes of a fixed length | bytes |
| variant | a struct of its two parts, `metadata` and `value` |
| time, intervals | no type: the column must be left out |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as spark
from pyspark.sql.pandas.types import to_arrow_schema

from whyscan.errors import UsageError
from whyscan.scan.shaping import with_children

if TYPE_CHECKING:
    from collections.abc import Iterator

_SAME = {
    pa.bool_(): spark.BooleanType(),
    pa.int8(): spark.ByteType(),
    pa.int16(): spark.ShortType(),
    pa.int32(): spark.IntegerType(),
    pa.int64(): spark.LongType(),
    pa.float16(): spark.FloatType(),
    pa.float32(): spark.FloatType(),
    pa.float64(): spark.DoubleType(),
    pa.string(): spark.StringType(),
    pa.binary(): spark.BinaryType(),
    pa.date32(): spark.DateType(),
    pa.null(): spark.NullType(),
    pa.uuid(): spark.StringType(),
}
_DIGITS = 38


def spark_schema(schema: pa.Schema) -> spark.StructType:
    """The columns in Spark's types. Every column is nullable."""
    return spark.StructType(
        [spark.StructField(field.name, _spark_type(field.type, field.name)) for field in schema]
    )


def _spark_type(kind: pa.DataType, name: str) -> spark.DataType:
    if (same := _SAME.get(kind)) is not None:
        return same
    if pa.types.is_struct(kind):
        fields = [spark.StructField(m.name, _spark_type(m.type, f"{name}.{m.name}")) for m in kind]
        return spark.StructType(fields)
    if pa.types.is_map(kind):
        key, value = (_spark_type(inner, name) for inner in (kind.key_type, kind.item_type))
        return spark.MapType(key, value)
    if pa.types.is_list(kind):
        return spark.ArrayType(_spark_type(kind.value_type, name))
    if pa.types.is_timestamp(kind):
        return spark.TimestampNTZType() if kind.tz is None else spark.TimestampType()
    if pa.types.is_decimal(kind) and kind.precision <= _DIGITS:
        return spark.DecimalType(kind.precision, kind.scale)
    if pa.types.is_fixed_size_binary(kind):
        return spark.BinaryType()
    raise UsageError(
        f"the column {name} is of type {kind}, which Spark does not have",
        hint="leave it out: name the columns to read",
    )


class SparkBatches:
    """Batches with exactly the Arrow schema that Spark expects for its schema."""

    def __init__(self, schema: spark.StructType) -> None:
        self._schema = to_arrow_schema(schema)

    def converted(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same rows with the schema that Spark expects."""
        for batch in batches:
            columns = zip(batch.columns, self._schema, strict=True)
            arrays = [_converted(array, field.type) for array, field in columns]
            yield pa.RecordBatch.from_arrays(arrays, schema=self._schema)


def _converted(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if array.type == kind:
        return array
    if isinstance(array.type, pa.UuidType):
        return _texts(array)
    if pa.types.is_timestamp(kind):
        return _moments(array, kind)
    if pa.types.is_struct(kind):
        members = [_converted(array.field(at), field.type) for at, field in enumerate(kind)]
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(members, fields=list(kind), mask=mask)
    if pa.types.is_map(kind):
        keys = _converted(array.keys, kind.key_type)
        values = _converted(array.items, kind.item_type)
        fields = [kind.key_field, kind.item_field]
        entries = pa.StructArray.from_arrays([keys, values], fields=fields)
        return with_children(array, kind, entries)
    if pa.types.is_list(kind):
        return with_children(array, kind, _converted(array.values, kind.value_type))
    return array.cast(kind)


def _texts(array: pa.Array) -> pa.Array:
    """Each uuid as text: `8-4-4-4-12` hexadecimal digits."""
    digits = [None if value is None else value.hex() for value in array.storage.to_pylist()]
    return pa.array(
        [
            None if d is None else f"{d[:8]}-{d[8:12]}-{d[12:16]}-{d[16:20]}-{d[20:]}"
            for d in digits
        ],
        pa.string(),
    )


def _moments(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if array.type.unit == "ns":
        array = pc.floor_temporal(array, unit="microsecond")
    return array.cast(kind)
