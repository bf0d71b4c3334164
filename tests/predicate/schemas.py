"""The schema for the predicates of these tests."""

from whyscan.tree.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    UUID,
    DecimalType,
    Field,
    OtherType,
    Schema,
    StructType,
    TimestampType,
    TimeUnit,
)

NANOSECONDS = TimestampType(instant=True, unit=TimeUnit.NANOSECOND)
INNER = StructType((Field("c", INT), Field("d e", STRING)))

EVENTS = Schema(
    (
        Field("flag", BOOLEAN),
        Field("tiny", TINYINT),
        Field("small", SMALLINT),
        Field("id", INT),
        Field("big", BIGINT),
        Field("f", FLOAT),
        Field("d", DOUBLE),
        Field("price", DecimalType(10, 2)),
        Field("day", DATE),
        Field("ts", TIMESTAMP),
        Field("ntz", TIMESTAMP_NTZ),
        Field("ns", NANOSECONDS),
        Field("name", STRING),
        Field("Country", STRING),
        Field("raw", BINARY),
        Field("key", UUID),
        Field("a", StructType((Field("b", INNER),))),
        Field("a.b", STRING),
        Field("tags", OtherType("array<string>")),
    )
)
