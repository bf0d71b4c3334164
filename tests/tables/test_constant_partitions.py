"""Tables whose partitions all have one value: all NaN, all NULL, one value, one file, none.

A reader may hold what is the same in every file as one constant. The rows that `scan` gives are
those that DuckDB finds in the same rows, and a file's verdict is the one that it has beside files
with other values. A new case is a line in `CONSTANT`, a new predicate a line in `PREDICATES`.
"""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import (
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    LongType,
    NestedField,
    StringType,
)

import whyscan
from tables.iceberg.by_hand import Lake
from tables.iceberg.pyiceberg_lakes import Memory

if TYPE_CHECKING:
    from pathlib import Path

NAN = math.nan
TYPES: dict[str, tuple[pa.DataType, Any, str]] = {
    "double": (pa.float64(), DoubleType(), "DOUBLE"),
    "float": (pa.float32(), FloatType(), "FLOAT"),
    "bigint": (pa.int64(), LongType(), "BIGINT"),
    "string": (pa.string(), StringType(), "VARCHAR"),
    "date": (pa.date32(), DateType(), "DATE"),
    "decimal(9, 2)": (pa.decimal128(9, 2), DecimalType(9, 2), "DECIMAL(9, 2)"),
}
CONSTANT: dict[str, list[tuple[str, list[Any]]]] = {
    "all NaN": [("double", [NAN, NAN, NAN]), ("float", [NAN, NAN, NAN])],
    "one file of NaN": [("double", [NAN]), ("float", [NAN])],
    "NaN and NULL": [("double", [NAN, None]), ("float", [None, NAN])],
    "NaN and values": [("double", [NAN, 1.0, 2.0]), ("float", [-1.0, NAN])],
    "all NULL": [(kind, [None, None]) for kind in ("double", "float", "bigint", "string")],
    "infinities": [("double", [math.inf, math.inf]), ("float", [-math.inf])],
    "zeros of both signs": [("double", [-0.0, 0.0])],
    "one value": [
        ("double", [1.0, 1.0]),
        ("float", [1.0]),
        ("bigint", [1, 1]),
        ("string", ["a", "a"]),
        ("date", [date(2024, 3, 1)]),
        ("decimal(9, 2)", [Decimal("1.00")]),
    ],
}
CASES = [
    pytest.param(kind, values, id=f"{what}: {kind}")
    for what, cases in CONSTANT.items()
    for kind, values in cases
]
LITERALS = {"string": "'a'", "date": "DATE '2024-03-01'"}
PREDICATES = (
    "p = {v}", "p <> {v}", "p > {v}", "{v} < p", "p <= {v}", "p IN ({v})", "p NOT IN ({v})",
    "p IS NULL", "NOT (p = {v})", "p = p", "coalesce(p, {v}) = {v}", "p IS NULL OR p > {v}",
    "p IS DISTINCT FROM {v}", "greatest(p, {v}) > {v} AND id >= 0",
)  # fmt: skip
OF_FLOATS = ("p = CAST('NaN' AS DOUBLE)", "isnan(p)", "abs(p) > 1")
OF_DOUBLES = (*OF_FLOATS, "p + 1 > 2")


def rows_of(kind: str, values: list[Any]) -> pa.Table:
    """Two rows per partition value, numbered."""
    spread = [value for value in values for _ in range(2)]
    return pa.table(
        {"p": pa.array(spread, TYPES[kind][0]), "id": pa.array(range(len(spread)), pa.int64())}
    )


def delta(folder: Path, rows: pa.Table, kind: str) -> dict[str, Any]:
    for at in range(0, len(rows), 2):
        write_deltalake(str(folder), rows.slice(at, 2), mode="append", partition_by=["p"])
    return {}


def iceberg(folder: Path, rows: pa.Table, kind: str) -> dict[str, Any]:
    """By PyIceberg, which cannot write a partition of NaN: those are written by hand."""
    if any(isinstance(v, float) and math.isnan(v) for v in rows["p"].to_pylist()):
        return _iceberg_by_hand(folder, rows, kind)
    schema = Schema(
        NestedField(1, "p", TYPES[kind][1], required=False),
        NestedField(2, "id", LongType(), required=False),
    )
    spec = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "p"))
    table = Memory(folder).create(schema, spec, str(folder), 2)
    for at in range(0, len(rows), 2):
        table.append(rows.slice(at, 2))
    return {}


def _iceberg_by_hand(folder: Path, rows: pa.Table, kind: str) -> dict[str, Any]:
    field = {"source-id": 1, "field-id": 1000, "transform": "identity", "name": "p"}
    lake = Lake(folder, {"p": kind, "id": "long"}, [field])
    (folder / "data").mkdir()
    numbered = pa.schema(
        column.with_metadata({"PARQUET:field_id": str(1 + at)})
        for at, column in enumerate(rows.schema)
    )
    entries = []
    for at in range(0, len(rows), 2):
        piece = rows.slice(at, 2)
        path = folder / "data" / f"{at}.parquet"
        pq.write_table(piece.cast(numbered), path)
        value = {"p": piece["p"][0].as_py()}
        size = path.stat().st_size
        entries.append(lake.file(str(path), rows=2, partition=value, file_size_in_bytes=size))
    lake.manifest(entries)
    lake.commit()
    return {}


def hive(folder: Path, rows: pa.Table, kind: str) -> dict[str, Any]:
    for at in range(0, len(rows), 2):
        value = rows["p"][at].as_py()
        text = "__HIVE_DEFAULT_PARTITION__" if value is None else quote(str(value), safe="")
        inside = folder / f"p={text.replace('nan', 'NaN').replace('inf', 'Infinity')}"
        inside.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows.slice(at, 2).select(["id"]), inside / f"{at}.parquet")
    return {"partition_types": {"p": kind}}


def predicates(kind: str) -> list[str]:
    literal = LITERALS.get(kind, "1")
    texts = [text.format(v=literal) for text in PREDICATES]
    return texts + list({"double": OF_DOUBLES, "float": OF_FLOATS}.get(kind, ()))


def expected(rows: pa.Table, texts: list[str]) -> dict[str, list[int]]:
    with duckdb.connect() as connection:
        connection.register("t", rows)
        answers = (connection.execute(f"SELECT id FROM t WHERE {p}").fetchall() for p in texts)
        return {
            p: sorted(row for (row,) in answer) for p, answer in zip(texts, answers, strict=True)
        }


@pytest.mark.parametrize("write", [delta, iceberg, hive])
@pytest.mark.parametrize(("kind", "values"), CASES)
def test_scan_gives_the_rows_of_tables_whose_partitions_are_all_the_same(
    tmp_path, write, kind, values
):
    rows = rows_of(kind, values)
    options = write(tmp_path / "t", rows, kind)
    table = whyscan.open(tmp_path / "t", **options)
    texts = predicates(kind)
    scanned = {
        predicate: sorted(table.plan(predicate, dialect="duckdb").to_arrow()["id"].to_pylist())
        for predicate in texts
    }
    assert scanned == expected(rows, texts)


@pytest.mark.parametrize("write", [delta, iceberg, hive])
def test_a_file_of_nan_has_one_verdict_alone_and_beside_other_files(tmp_path, write):
    kind = "double"
    alone, beside = rows_of(kind, [NAN]), rows_of(kind, [NAN, 1.0, None])
    tables = []
    for name, rows in (("alone", alone), ("beside", beside)):
        options = write(tmp_path / name, rows, kind)
        tables.append(whyscan.open(tmp_path / name, **options))
    wrong = {}
    for predicate in predicates(kind):
        lost = []
        for table in tables:
            report = table.explain(predicate, dialect="duckdb", verbose=True)
            lost.append({f["path"]: f["verdict"] for f in of_nan(report.to_dict()["files"])})
        verdicts = [sorted(map(str, one.values())) for one in lost]
        if verdicts[0] != verdicts[1]:
            wrong[predicate] = verdicts
    assert wrong == {}


def of_nan(files: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [file for file in files if "nan" in str(file["partition"]).lower()]
