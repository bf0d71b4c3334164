"""The same rows as tables of all formats, with deleted rows that no engine may see."""

from __future__ import annotations

import base64
import datetime as dt
import math
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import WriterProperties, write_deltalake
from pyiceberg.transforms import BucketTransform
from pyiceberg.types import LongType
from pyroaring import BitMap64

from tables.delta.conftest import Lake as DeltaLake
from tables.iceberg.by_hand import Lake as IcebergLake

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

LIVE, FILES, GROUP_ROWS = 96, 8, 4
PER_FILE = LIVE // FILES
BEGINNING = dt.datetime(2024, 1, 1)  # noqa: DTZ001 - a wall clock

SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "big": pa.int64(),
        "i": pa.int32(),
        "x": pa.float64(),
        "f": pa.float32(),
        "s": pa.string(),
        "y": pa.binary(),
        "d": pa.date32(),
        "t": pa.timestamp("us"),
        "z": pa.timestamp("us", "UTC"),
        "n": pa.decimal128(10, 2),
        "b": pa.bool_(),
        "st": pa.struct({"u": pa.int64(), "w": pa.struct({"v": pa.string()})}),
        "p": pa.string(),
    }
)
PARTITIONS = ("a", "b", None, "c d")
MEMBER_NUMBER = 100
"""Iceberg's number of the first member of a struct."""


def row(number: int) -> dict[str, Any]:
    """A live row: values grow with its number, with NULL, NaN, infinity and signed zeros."""
    moment = BEGINNING + dt.timedelta(hours=7 * number)
    special = {0: -0.0, 1: 0.0, 47: -math.inf, 48: math.inf}
    present = number % 10 != 9
    return {
        "id": number,
        "big": (1 << 53) + number if number % 8 else -(1 << 63) + number,
        "i": number // 3 if present else None,
        "x": None if number % 11 == 10 else math.nan if _is_nan(number) else number / 2,
        "f": number / 10,
        "s": None if number % 9 == 8 else "" if number == 20 else f"s{number:03}",
        "y": bytes([number]) if present else None,
        "d": moment.date(),
        "t": moment,
        "z": moment.replace(tzinfo=dt.UTC),
        "n": Decimal(number) * Decimal("1.25"),
        "b": None if number % 13 == 12 else number % 2 == 0,
        "st": {"u": number, "w": {"v": f"v{number // 4:02}"}} if present else None,
        "p": PARTITIONS[number * len(PARTITIONS) // LIVE],
    } | ({"x": special[number]} if number in special else {})


def _is_nan(number: int) -> bool:
    return 24 <= number < 72 and number % 5 == 0


def gone(number: int) -> dict[str, Any]:
    """A deleted row that lies among the values of its neighbour."""
    return row(number) | {"id": number + LIVE * 10, "x": -1000.0, "s": "zz", "i": 10_000}


def rows_of(file: int) -> tuple[pa.Table, list[int]]:
    """The live rows of a file with two deleted rows, and the positions of these."""
    numbers = range(file * PER_FILE, (file + 1) * PER_FILE)
    rows = [row(number) for number in numbers]
    rows.insert(3, gone(numbers[3]))
    rows.append(gone(numbers[-1]))
    return pa.Table.from_pylist(rows, SCHEMA), [3, len(rows) - 1]


def live(table: pa.Table) -> pa.Table:
    """The rows that are not deleted."""
    return table.filter(pc.field("id") < LIVE)


def whole() -> pa.Table:
    """All live rows."""
    return pa.Table.from_pylist([row(number) for number in range(LIVE)], SCHEMA)


write_parquet = partial(pq.write_table, row_group_size=GROUP_ROWS)


def plain(place: Path) -> None:
    """Parquet files, whose texts have another Arrow type each: dictionary, view and large."""
    place.mkdir()
    texts = (pa.dictionary(pa.int32(), pa.string()), pa.string_view(), pa.large_string())
    at = SCHEMA.get_field_index("s")
    for file in range(FILES):
        table = live(rows_of(file)[0])
        column = table["s"].cast(texts[file % len(texts)])
        write_parquet(table.set_column(at, "s", column), place / f"{file}.parquet")


def hive(place: Path) -> None:
    """Parquet files in folders of a partition column."""
    for file in range(FILES):
        pq.write_to_dataset(
            live(rows_of(file)[0]),
            place,
            partition_cols=["p"],
            basename_template=f"{file}-{{i}}.parquet",
            row_group_size=GROUP_ROWS,
        )


def delta(place: Path) -> None:
    """A table of delta-rs with a partition column."""
    for file in range(FILES):
        write_deltalake(
            place,
            live(rows_of(file)[0]),
            mode="append",
            partition_by=["p"],
            writer_properties=WriterProperties(max_row_group_size=GROUP_ROWS),
        )


DELTA_TYPES = {
    "id": "long",
    "big": "long",
    "i": "integer",
    "x": "double",
    "f": "float",
    "s": "string",
    "y": "binary",
    "d": "date",
    "t": "timestamp_ntz",
    "z": "timestamp",
    "n": "decimal(10,2)",
    "b": "boolean",
    "p": "string",
}
FEATURES = ["columnMapping", "deletionVectors", "timestampNtz"]
Z85 = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
B85 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"


def delta_with_vectors(place: Path) -> None:
    """A Delta table with mapped columns, whose deleted rows deletion vectors name."""
    names = {name: f"col-{at}" for at, name in enumerate(SCHEMA.names)}
    lake = DeltaLake(place)
    place.mkdir()
    member = {"type": "struct", "fields": [_mapped("u", "col-u", "long"), _mapped_w()]}
    kinds = {name: DELTA_TYPES.get(name, member) for name in SCHEMA.names}
    lake.create(
        kinds,
        about={name: _mapping(at, names[name]) for at, name in enumerate(SCHEMA.names)},
        properties={"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "99"},
        protocol={
            "minReaderVersion": 3,
            "minWriterVersion": 7,
            "readerFeatures": FEATURES,
            "writerFeatures": FEATURES,
        },
    )
    for file in range(FILES):
        table, deleted = rows_of(file)
        path = place / f"{file}.parquet"
        struct = pa.struct({"col-u": pa.int64(), "col-w": pa.struct({"col-v": pa.string()})})
        fields = [struct if name == "st" else SCHEMA.field(name).type for name in SCHEMA.names]
        physical = pa.schema(list(zip(names.values(), fields, strict=True)))
        columns = [_renamed(c, f.type) for c, f in zip(table.columns, physical, strict=True)]
        write_parquet(pa.Table.from_arrays(columns, schema=physical), path)
        added = lake.add(path.name, _delta_statistics(table, names), size=path.stat().st_size)
        added["add"]["deletionVector"] = _vector(deleted)
        lake.commit(added)


def _mapping(number: int, physical: str) -> dict[str, Any]:
    return {"delta.columnMapping.id": number + 1, "delta.columnMapping.physicalName": physical}


def _mapped(name: str, physical: str, kind: Any) -> dict[str, Any]:
    about = _mapping(MEMBER_NUMBER + len(name) + len(physical), physical)
    return {"name": name, "type": kind, "nullable": True, "metadata": about}


def _mapped_w() -> dict[str, Any]:
    return _mapped("w", "col-w", {"type": "struct", "fields": [_mapped("v", "col-v", "string")]})


def _renamed(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """The column with other names of the members of its structs."""
    if column.type == kind:
        return column
    outer = column.combine_chunks()
    inner = outer.field("w")
    w = pa.StructArray.from_arrays(
        [inner.field("v")], fields=list(kind.field("col-w").type), mask=inner.is_null()
    )
    return pa.chunked_array(
        [pa.StructArray.from_arrays([outer.field("u"), w], fields=list(kind), mask=outer.is_null())]
    )


def _delta_statistics(table: pa.Table, names: dict[str, str]) -> dict[str, Any]:
    """What Delta records: decimals and floats as numbers, moments as text in milliseconds."""
    ends: dict[str, dict[str, Any]] = {"minValues": {}, "maxValues": {}, "nullCount": {}}
    for name in set(DELTA_TYPES) - {"y", "b"}:
        lower, upper = _ends(table[name])
        if lower is not None:
            ends["minValues"][names[name]] = _delta_value(lower, 0)
            ends["maxValues"][names[name]] = _delta_value(upper, 1)
        ends["nullCount"][names[name]] = table[name].null_count
    return {"numRecords": table.num_rows, **ends}


def _delta_value(value: Any, more: int) -> Any:
    match value:
        case dt.datetime():
            cut = value.replace(microsecond=0) + dt.timedelta(milliseconds=more)
            zone = "Z" if value.tzinfo else ""
            return cut.replace(tzinfo=None).isoformat(timespec="milliseconds") + zone
        case dt.date():
            return value.isoformat()
        case Decimal():
            return float(value)
        case float() if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        case _:
            return value


def _ends(column: pa.ChunkedArray) -> tuple[Any, Any]:
    values = [v for v in column.to_pylist() if v is not None and v == v]  # noqa: PLR0124 - NaN
    return (min(values), max(values)) if values else (None, None)


def _vector(deleted: Sequence[int]) -> dict[str, Any]:
    """A deletion vector that stands in the log."""
    content = (1_681_511_377).to_bytes(4, "little") + BitMap64(deleted).serialize()
    padded = base64.b85encode(content + bytes(-len(content) % 4))
    return {
        "storageType": "i",
        "pathOrInlineDv": padded.translate(bytes.maketrans(B85, Z85)).decode(),
        "sizeInBytes": len(content),
        "cardinality": len(deleted),
    }


ICEBERG_TYPES: dict[str, Any] = {
    **DELTA_TYPES,
    "i": "int",
    "t": "timestamp",
    "z": "timestamptz",
    "n": "decimal(10, 2)",
    "st": {
        "type": "struct",
        "fields": [
            {"id": MEMBER_NUMBER, "name": "u", "required": False, "type": "long"},
            {
                "id": MEMBER_NUMBER + 1,
                "name": "w",
                "required": False,
                "type": {
                    "type": "struct",
                    "fields": [
                        {
                            "id": MEMBER_NUMBER + 2,
                            "name": "v",
                            "required": False,
                            "type": "string",
                        }
                    ],
                },
            },
        ],
    },
}
BUCKETS = 3
BUCKET = BucketTransform(num_buckets=BUCKETS).transform(LongType())


def iceberg(place: Path, gone_by: str = "") -> None:
    """An Iceberg table whose files have one of three specs: none, a value of `p`, a bucket of `id`.

    `gone_by` is "positions" or "equality": how its rows are deleted.
    """
    by_p, by_bucket = (
        {"source-id": SCHEMA.names.index(source) + 1, "field-id": 1000 + at, "name": name}
        | {"transform": transform}
        for at, (source, name, transform) in enumerate(
            [("p", "p", "identity"), ("id", "id_bucket", f"bucket[{BUCKETS}]")]
        )
    )
    specs = [
        {"spec-id": at, "fields": fields} for at, fields in enumerate(([], [by_p], [by_bucket]))
    ]
    lake = IcebergLake(place, {n: ICEBERG_TYPES[n] for n in SCHEMA.names}, specs=specs)
    (place / "data").mkdir()
    for file in range(FILES):
        table = rows_of(file)[0] if gone_by else live(rows_of(file)[0])
        for at, (values, part) in enumerate(_split(table, file % len(specs))):
            name = f"{file}-{at}.parquet"
            write_parquet(_numbered(part), place / "data" / name)
            lake.manifest([_iceberg_entry(lake, name, part, values)], spec=file % len(specs))
            if gone_by == "positions":
                _delete_positions(lake, name, part, values, file % len(specs))
    if gone_by == "equality":
        _delete_equal(lake)
    lake.commit()


def _split(table: pa.Table, spec: int) -> Iterator[tuple[dict[str, Any], pa.Table]]:
    """The rows of each partition of a spec."""
    if spec == 0:
        yield {}, table
        return
    name = "p" if spec == 1 else "id_bucket"
    source = table["p"].to_pylist() if spec == 1 else [BUCKET(v) for v in table["id"].to_pylist()]
    for value in dict.fromkeys(source):
        yield {name: value}, table.filter(pa.array([each == value for each in source]))


def _numbered(table: pa.Table) -> pa.Table:
    """The table with Iceberg's numbers of columns."""

    def field(name: str, number: int, kind: pa.DataType) -> pa.Field:
        return pa.field(name, kind, metadata={"PARQUET:field_id": str(number)})

    fields = [field(f.name, at, f.type) for at, f in enumerate(SCHEMA, start=1)]
    w = pa.struct([field("v", MEMBER_NUMBER + 2, pa.string())])
    struct = pa.struct([field("u", MEMBER_NUMBER, pa.int64()), field("w", MEMBER_NUMBER + 1, w)])
    at = SCHEMA.names.index("st")
    fields[at] = field("st", at + 1, struct)
    return table.cast(pa.schema(fields))


def _iceberg_entry(lake: IcebergLake, name: str, table: pa.Table, values: dict[str, Any]) -> Any:
    scalars = [column for column in SCHEMA.names if column not in ("st", "y", "b")]
    ends = {column: _ends(table[column]) for column in scalars}
    return lake.file(
        name,
        {column: tuple(map(_iceberg_value, pair)) for column, pair in ends.items()},
        {column: table[column].null_count for column in SCHEMA.names if column != "st"},
        rows=table.num_rows,
        partition=values,
        file_size_in_bytes=(lake.folder / "data" / name).stat().st_size,
    )


def _iceberg_value(value: Any) -> Any:
    match value:
        case dt.datetime():
            beginning = dt.datetime(1970, 1, 1, tzinfo=value.tzinfo)
            return (value - beginning) // dt.timedelta(microseconds=1)
        case dt.date():
            return (value - dt.date(1970, 1, 1)).days
        case _:
            return value


def _delete_positions(
    lake: IcebergLake, name: str, part: pa.Table, values: dict[str, Any], spec: int
) -> None:
    """A file of positions for the deleted rows of one data file."""
    positions = [at for at, number in enumerate(part["id"].to_pylist()) if number >= LIVE]
    if not positions:
        return
    path = pa.field("file_path", pa.string(), metadata={"PARQUET:field_id": "2147483546"})
    pos = pa.field("pos", pa.int64(), metadata={"PARQUET:field_id": "2147483545"})
    file = lake.folder / "data" / f"gone-{name}"
    paths = [f"{lake.folder}/data/{name}"] * len(positions)
    pq.write_table(pa.table([paths, positions], schema=pa.schema([path, pos])), file)
    entry = lake.file(file.name, rows=len(positions), partition=values, content=1)
    lake.manifest([entry], spec=spec, content=1, sequence=2)


def _delete_equal(lake: IcebergLake) -> None:
    """A file of the numbers of all deleted rows, for every partition."""
    numbers = [n for file in range(FILES) for n in rows_of(file)[0]["id"].to_pylist() if n >= LIVE]
    number = pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"})
    pq.write_table(
        pa.table([numbers], schema=pa.schema([number])), lake.folder / "data" / "gone.parquet"
    )
    entry = lake.file("gone.parquet", rows=len(numbers), content=2, equality_ids=[1])
    lake.manifest([entry], content=1, sequence=2)


LAKES: dict[str, Callable[[Path], None]] = {
    "plain": plain,
    "hive": hive,
    "delta": delta,
    "delta with vectors": delta_with_vectors,
    "iceberg": iceberg,
    "iceberg with positions": partial(iceberg, gone_by="positions"),
    "iceberg with equality deletes": partial(iceberg, gone_by="equality"),
}


@dataclass(frozen=True)
class Lakes:
    """The places of the tables, and the place of all live rows in one Parquet file."""

    folder: Path

    def place(self, name: str) -> Path:
        """The folder of a table, which is made when it is first asked for."""
        place = self.folder / name.replace(" ", "-")
        if not place.exists():
            LAKES[name](place)
        return place

    @property
    def one_file(self) -> Path:
        """A Parquet file with all live rows, without statistics.

        DataFusion 55 takes bounds without NaN for bounds of all values, and loses `x >= NaN`.
        """
        file = self.folder / "whole.parquet"
        if not file.exists():
            pq.write_table(whole(), file, write_statistics=False)
        return file
