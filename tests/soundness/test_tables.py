"""The cases of soundness-cases.md that need real files: footers, row groups, Hive paths.

Each table is written as the case tells it; each predicate names the row groups that must be kept,
and no others are. The statistics of one column in a footer are tested in tests/tables.

| elsewhere | what |
|---|---|
| H12 H24 | what Delta's log says of partitions and paths |
| H30 K26 K28 | Iceberg's partition values |
| H22 | joins: test_statements.py |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from oracle.clock import days_of

NULL = "__HIVE_DEFAULT_PARTITION__"
Groups = list[pa.Table]


@dataclass(frozen=True)
class Lake:
    """Files by path, each a list of row groups; predicates by the row groups that they keep."""

    name: str
    files: dict[str, Groups]
    kept: dict[str, dict[str, tuple[int, ...]]]
    writer: dict = field(default_factory=dict)


def groups(kind: pa.DataType, *values: list) -> Groups:
    return [pa.table({"x": pa.array(part, kind)}) for part in values]


def points(*values: int) -> Groups:
    return groups(pa.int32(), list(values))


MILLIS = pa.timestamp("ms", "UTC")
MICROS = pa.timestamp("us", "UTC")
YEAR = 31_536_000

FILES = [
    Lake(
        "b2_three_zeros",
        {"a": groups(pa.float64(), [-0.0], [0.0], [7.5])},
        {"x = 0.0": {"a": (0, 1)}, "x = double('-0.0')": {"a": (0, 1)}, "x < 0": {},
         "x > 1 AND x < 8": {"a": (2,)}},
    ),
    Lake(
        "c18_every_value_is_found_by_equality_and_by_list",
        {"a": groups(pa.string(), ["AIR", "SHIP"], ["TRUCK"])},
        {"x = 'SHIP'": {"a": (0,)}, "x IN ('SHIP')": {"a": (0,)}, "x = 'TRUCK'": {"a": (1,)},
         "x IN ('TRUCK', 'ZIP')": {"a": (1,)}, "x = 'RAIL'": {"a": (0,)}, "x = 'ZIP'": {}},
    ),
    Lake(
        "d2_unsigned_16_bits",
        {"a": groups(pa.uint16(), [0, 7], [40_000, 65_535])},
        {"x < 10": {"a": (0,)}, "x > 32767": {"a": (1,)}, "x = 65535": {"a": (1,)}},
    ),
    Lake(
        "d4_unsigned_32_bits",
        {"a": groups(pa.uint32(), [0, 4_000_000_000, 7], [1, 2])},
        {"x = 4000000000": {"a": (0,)}, "x < 0": {}, "x >= 3": {"a": (0,)}},
    ),
    Lake(
        "d10_the_extremes_of_64_bits",
        {"a": groups(pa.int64(), [2**63 - 1], [-(2**63)])},
        {"x = 9223372036854775807": {"a": (0,)}, "x = -9223372036854775808": {"a": (1,)}},
    ),
    Lake(
        "e10_decimals_in_a_dictionary",
        {"a": groups(pa.decimal128(4, 1), [Decimal("1.0"), Decimal("2.0")], [Decimal("3.0")])},
        {"x = 2": {"a": (0,)}, "x = 3.00": {"a": (1,)}, "x > 3": {}},
    ),
    Lake(
        "e2_decimals_of_38_digits_over_two_groups",
        {"a": groups(pa.decimal128(38, 0), [Decimal(-(10**37))], [Decimal(10**37), Decimal(5)])},
        {f"x = {10**37}": {"a": (1,)}, "x < 0": {"a": (0,)}},
    ),
    Lake(
        "e12_decimals_as_integers",
        {"a": groups(pa.decimal128(5, 3), [Decimal("0.100")], [Decimal("99.999")])},
        {"x = 0.1": {"a": (0,)}, "x > 1": {"a": (1,)}},
        {"store_decimal_as_integer": True},
    ),
    Lake(
        "f6_milliseconds",
        {"a": groups(MILLIS, [50 * YEAR * 1000], [10 * YEAR * 1000])},
        {"x > '1990-01-01'": {"a": (0,)}, "x < '1990-01-01'": {"a": (1,)}},
    ),
    Lake(
        "f8_one_column_in_two_units",
        {"a": groups(MILLIS, [1_500]), "b": groups(MICROS, [1_500_000])},
        {"x = '1970-01-01 00:00:01.5'": {"a": (0,), "b": (0,)}, "x > '1971-01-01'": {}},
    ),
    Lake(
        "f10_milliseconds_before_1582",
        {"a": groups(MILLIS, [days_of(1000, 6, 14) * 86_400_000])},
        {"x = '1000-06-14'": {"a": (0,)}, "x < '1000-06-14'": {}},
    ),
    Lake(
        "i8_i14_nulls_in_some_groups",
        {"a": groups(pa.int32(), [1, None], [None, None], [2, 3])},
        {"x IS NULL": {"a": (0, 1)}, "x IS NOT NULL": {"a": (0, 2)}, "x <> 1": {"a": (2,)},
         "NOT (x <=> 1)": {"a": (0, 1, 2)}},
    ),
    Lake(
        "i10_k4_a_column_that_an_old_file_lacks",
        {"a": [pa.table({"y": [1]})], "b": [pa.table({"y": [2], "x": pa.array([5], pa.int32())})]},
        {"x IS NULL": {"a": (0,)}, "x = 5": {"b": (0,)}, "x <=> NULL": {"a": (0,)},
         "y = 1": {"a": (0,)}},
    ),
    Lake(
        "k20_columns_in_another_order",
        {"a": [pa.table({"x": [1], "y": [100]})], "b": [pa.table({"y": [1], "x": [100]})]},
        {"x = 1": {"a": (0,)}, "y = 1": {"b": (0,)}},
    ),
    Lake(
        "k22_two_groups_a_file",
        {"a": groups(pa.int32(), [1], [2]), "b": groups(pa.int32(), [2], [3])},
        {"x = 2": {"a": (1,), "b": (0,)}, "x = 3": {"b": (1,)}},
    ),
    Lake(
        "k18_names_in_another_case",
        {"a": [pa.table({"ID": [1]})], "b": [pa.table({"ID": [2]})]},
        {"id = 2": {"b": (0,)}, "Id < 2": {"a": (0,)}},
    ),
    Lake(
        "n14_bytes_below_the_blank",
        {"a": groups(pa.string(), ["z"], ["z\t"], ["za"])},
        {"x = 'z\t'": {"a": (1,)}, "x = 'z'": {"a": (0,)}, "x >= 'z '": {"a": (2,)}},
    ),
    Lake(
        "b8_a_float_in_a_struct",
        {"a": [pa.table({"b": pa.array([{"xmin": 0.1}], pa.struct({"xmin": pa.float32()}))}),
               pa.table({"b": pa.array([{"xmin": -5.0}], pa.struct({"xmin": pa.float32()}))})]},
        {"b.xmin > 0.1D": {"a": (0,)}, "b.xmin < 0.05D": {"a": (1,)}},
    ),
]  # fmt: skip


def hive(*values: str) -> dict[str, Groups]:
    return {f"k={value}/f": points(index) for index, value in enumerate(values)}


def of(*values: str) -> dict[str, tuple[int, ...]]:
    return {f"k={value}/f": (0,) for value in values}


PATHS = [
    Lake(
        "h2_h4_an_escaped_slash",
        hive("a%2Fb", "a"),
        {"k = 'a/b'": of("a%2Fb"), "k = 'a'": of("a")},
    ),
    Lake(
        "h2_a_plus_is_a_plus",
        hive("a+b", "a b"),
        {"k = 'a+b'": of("a+b"), "k = 'a b'": of("a b")},
    ),
    Lake(
        "h6_h10_the_sentinel_is_null",
        hive(NULL, "x"),
        {"k IS NULL": of(NULL), "k IS NOT NULL": of("x"), f"k = '{NULL}'": {}},
    ),
    Lake(
        "h8_a_null_partition_is_not_an_unknown_one",
        hive(NULL, "5", "6"),
        {"k = 5": of("5"), "k <> 5": of("6"), "k <=> NULL": of(NULL), "k IN (5, NULL)": of("5"),
         "k NOT IN (5)": of("6"), "NOT (k <=> 5)": of(NULL, "6")},
    ),
    Lake(
        "h16_leading_zeros",
        hive("01", "1", "2"),
        {"k = 1": of("01", "1"), "k > 1": of("2")},
    ),
    Lake(
        "h18_almost_a_date",
        hive("2018-02-15AAA", "2018-02-16"),
        {"k = '2018-02-15AAA'": of("2018-02-15AAA"), "k IS NULL": {}},
    ),
    Lake(
        "h20_a_number_and_a_word",
        hive("123", "abc"),
        {"k = '123'": of("123"), "k = 'abc'": of("abc"), "k > '2'": of("abc")},
    ),
    Lake(
        "h28_the_partition_column_also_in_the_file",
        {f"k={NULL}/f": [pa.table({"k": [1], "x": [1]})],
         "k=2/f": [pa.table({"k": [1], "x": [1]})]},
        {"k = 2": {"k=2/f": (0,)}, "k IS NULL": {f"k={NULL}/f": (0,)}, "k = 1": {}},
    ),
    Lake(
        "h32_an_opaque_conjunct_beside_a_partition",
        hive("2024-03-01", "2024-03-02"),
        {"k = '2024-03-01' AND rand() < 2": of("2024-03-01"),
         "CAST(k AS STRING) = '2024-03-02'": of("2024-03-02"),
         "NOT k = '2024-03-02'": of("2024-03-01"), "year(k) = 2023": {}},
    ),
    Lake(
        "j4_two_partition_columns",
        {f"y={y}/m={m}/f": points(y) for y in (2024, 2025) for m in (1, 3)},
        {"(y = 2024 AND m = 3) OR (y = 2025 AND m = 1)":
            {"y=2024/m=3/f": (0,), "y=2025/m=1/f": (0,)}},
    ),
    Lake(
        "j6_partition_against_column",
        hive("0", "1", "5"),
        {"k = x": of("0", "1"), "k <> x": of("5"), "k > x": of("5")},
    ),
    Lake("j16_text_and_a_number", hive("a", "5"), {"k = '5'": of("5"), "k = 'a'": of("a")}),
    Lake(
        "h26_a_filter_is_applied_across_schemas",
        {"k=1/f": [pa.table({"x": [1]})], "k=2/f": [pa.table({"x": [1], "z": [2]})]},
        {"k = 2": {"k=2/f": (0,)}, "z = 2": {"k=2/f": (0,)}},
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("lake", "sql"),
    [
        pytest.param(lake, sql, id=f"{lake.name}-{sql[:40]}")
        for lake in [*FILES, *PATHS]
        for sql in lake.kept
    ],
)
def test_case(tmp_path, lake, sql):
    for name, parts in lake.files.items():
        path = tmp_path / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        with pq.ParquetWriter(path, parts[0].schema, **lake.writer) as writer:
            for part in parts:
                writer.write_table(part)
    plan = whyscan.open(tmp_path).plan(sql, assume_no_nan=True)
    kept = {file.path.removesuffix(".parquet"): file.row_groups for file in plan.files}
    assert kept == lake.kept[sql]


def test_h14_an_empty_folder_name_is_refused(tmp_path):
    """`k=` names no value: nothing may be claimed about its rows, and nothing is."""
    path = tmp_path / "k=" / "f.parquet"
    path.parent.mkdir()
    pq.write_table(pa.table({"x": [1]}), path)
    with pytest.raises(whyscan.WhyscanError, match="partition column without a value"):
        whyscan.open(tmp_path)


def test_a14_possible_nan_is_kept_until_the_user_rules_it_out(tmp_path):
    pq.write_table(pa.table({"x": [1.0, float("nan")]}), tmp_path / "a.parquet")
    table = whyscan.open(tmp_path)
    assert len(table.plan("x <> 1").files) == 1
    assert len(table.plan("x > 5").files) == 1
    assert not table.plan("x > 5", assume_no_nan=True).files


def test_j10_an_empty_table_is_pruned_and_nothing_is_claimed(tmp_path):
    pq.write_table(pa.table({"x": pa.array([], pa.int32())}), tmp_path / "a.parquet")
    assert not whyscan.open(tmp_path).plan("x = 1 OR x IS NULL").files


def test_k18_two_names_that_differ_in_case_alone_are_refused(tmp_path):
    pq.write_table(pa.table({"Name": [1], "name": [2]}), tmp_path / "a.parquet")
    with pytest.raises(whyscan.WhyscanError):
        whyscan.open(tmp_path).plan("NAME = 1")
