"""Bounds that are no value of their column's type say nothing, and are counted.

A text bound may be cut in the middle of a character: that is a bound. A case is a line of `TEXTS`
or `OTHERS`.
"""

from __future__ import annotations

import json
import struct
from decimal import Decimal
from itertools import product

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

import whyscan
from tables.by_hand import set_statistics
from tables.iceberg.by_hand import Lake, summary
from whyscan.pruning.functions.text.utf8 import text_or_unknown
from whyscan.tables import open_snapshot
from whyscan.tree.nodes import Column
from whyscan.tree.types import STRING

TEXTS: dict[str, tuple[bytes, bytes, bool]] = {
    "no UTF-8 at all": (b"\xff\xfe", b"\xff\xff", False),
    "an upper bound of other bytes": (b"a", b"\xff", False),
    "a lower bound of other bytes": (b"\x80", b"\xc3\xa9", False),
    "Latin-1": (b"caf\xe9 au lait", b"d", False),
    "an overlong character": (b"\xc0\x80", b"b", False),
    "a surrogate": (b"\xed\xa0\x80", b"\xef", False),
    "a character that is too large": (b"a", b"\xf5\x80\x80\x80", False),
    "a cut that goes on": (b"\xe2\x82a", b"\xf0", False),
    "plain text": (b"a", b"b", True),
    "a character cut after one byte of two": (b"a\xc3", b"b", True),
    "a character cut after two bytes of three": (b"a", b"a\xe2\x82", True),
    "a character cut after three bytes of four": (b"a", b"a\xf0\x9f\x98", True),
    "the last character, cut": (b"a", b"\xf4\x8f\xbf", True),
    "empty text": (b"", b"a", True),
}


def group_of(folder, name="s", kind=STRING):
    snapshot = open_snapshot([str(folder)], {}, {})
    files = snapshot.files([])
    column = Column((name,), kind or snapshot.schema().fields[0].type)
    groups = snapshot.row_groups(files, pa.array([0]), [column], None)
    return groups.containers.statistics[name,], groups


@pytest.mark.parametrize(("lower", "upper", "believed"), TEXTS.values(), ids=TEXTS)
def test_text_bounds_of_a_footer(tmp_path, lower, upper, believed):
    pq.write_table(pa.table({"s": ["m"]}), tmp_path / "f.parquet")
    set_statistics(tmp_path / "f.parquet", 0, lower=lower, upper=upper, null_count=0)
    interval, groups = group_of(tmp_path)
    ends = [interval.lower.to_pylist(), interval.upper.to_pylist()]
    assert ends == ([[lower], [upper]] if believed else [[None], [None]])
    assert groups.containers.unreadable_statistics == (0 if believed else 1)
    assert interval.null is False  # The count of NULLs is still one.
    if not believed:
        for predicate in ("s = 'm'", "s > 'a'", "s < 'z'", "s LIKE 'm%'"):
            rows = whyscan.open(tmp_path).plan(predicate).to_arrow()
            assert rows["s"].to_pylist() == ["m"], predicate


@pytest.mark.parametrize(("lower", "upper", "believed"), TEXTS.values(), ids=TEXTS)
def test_text_bounds_of_a_file_in_iceberg(tmp_path, lower, upper, believed):
    lake = Lake(tmp_path / "t", {"s": "string"})
    lake.manifest([lake.file("a", bounds={"s": (lower, upper)}, nulls={"s": 0})])
    lake.manifest([lake.file("b", bounds={"s": (b"x", b"y")}, nulls={"s": 0})])
    files = lake.commit().open().files([Column(("s",), STRING)])
    assert files.containers.unreadable_statistics == (0 if believed else 1)
    interval = files.containers.statistics["s",]
    assert interval.lower.to_pylist() == [lower if believed else None, b"x"]
    assert "a" in lake.kept("s = 'm'") or believed


@pytest.mark.parametrize(("lower", "upper", "believed"), TEXTS.values(), ids=TEXTS)
def test_text_bounds_of_a_manifest_summary(tmp_path, lower, upper, believed):
    field = {"source-id": 1, "field-id": 1000, "transform": "identity", "name": "s"}
    lake = Lake(tmp_path / "t", {"s": "string"}, [field])
    lake.manifest(
        [lake.file("a", partition={"s": "m"})],
        summaries=[summary(lower, upper)],
    )
    plan = lake.commit().plan("s = 'm'")
    manifests = plan.snapshot.manifests()
    interval = manifests.containers.partition["s",]
    assert interval.lower.to_pylist() == [lower if believed else None]
    if not believed:
        assert lake.kept("s = 'm'") == ["a"]


def delta_with(folder, column: pa.Array, lower: str, upper: str) -> None:
    """A Delta table of one file whose bounds are the two JSON texts."""
    write_deltalake(str(folder), pa.table({"s": column}))
    (log,) = (folder / "_delta_log").glob("*.json")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if "add" in line:
            rows = len(column)
            line["add"]["stats"] = (
                f'{{"numRecords": {rows}, "minValues": {{"s": {lower}}},'
                f' "maxValues": {{"s": {upper}}}, "nullCount": {{"s": 0}}}}'
            )
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))


DELTA = {
    "a lone surrogate": (pa.array(["m"]), '"\\ud800"', '"\\udfff"', "s = 'm'"),
    "a surrogate as the upper bound": (pa.array(["m"]), '"a"', '"a\\udc00"', "s = 'm'"),
    "a fraction of an integer": (pa.array([1], pa.int64()), "1.5", "1.5", "s = 1"),
    "an exponent of an integer": (pa.array([1], pa.int64()), "1e1", "2e1", "s = 1"),
    "words for an integer": (pa.array([1], pa.int64()), '"x"', '"y"', "s = 1"),
    "no boolean": (pa.array([True]), "2", "2", "s"),
    "no date": (pa.array([19_000], pa.date32()), '"2030-13-45"', '"2030-99-99"', "s IS NOT NULL"),
}


@pytest.mark.parametrize(("column", "lower", "upper", "predicate"), DELTA.values(), ids=DELTA)
def test_bounds_of_a_delta_log_that_cannot_be_read_drop_no_file(
    tmp_path, column, lower, upper, predicate
):
    delta_with(tmp_path / "t", column, lower, upper)
    table = whyscan.open(tmp_path / "t")
    kind = table.schema.fields[0].type
    assert table.plan(predicate).to_arrow().num_rows == 1
    assert table.snapshot.files([Column(("s",), kind)]).containers.unreadable_statistics == 1


OTHERS: dict[str, tuple[pa.Array, bytes, str]] = {
    "a boolean of 2": (pa.array([True]), b"\x02", "s"),
    "a boolean of two bytes": (pa.array([True]), b"\x00\x00", "s"),
    "an int of one byte": (pa.array([7], pa.int32()), b"\x01", "s = 7"),
    "a long of four bytes": (pa.array([7], pa.int64()), b"\x01\0\0\0", "s = 7"),
    "a tinyint beyond its range": (
        pa.array([7], pa.int8()),
        struct.pack("<i", 1000),
        "s = 7",
    ),
    "a decimal of no bytes": (pa.array([Decimal("7.00")], pa.decimal128(25, 2)), b"", "s = 7"),
    "a decimal of more digits than it has": (
        pa.array([Decimal("7.00")], pa.decimal128(25, 2)),
        (10**30).to_bytes(14, "big"),
        "s = 7",
    ),
    "a date of eight bytes": (pa.array([7], pa.date32()), bytes(8), "s > DATE '1970-01-02'"),
    "a timestamp of four bytes": (
        pa.array([7], pa.timestamp("us")),
        bytes(4),
        "s > TIMESTAMP_NTZ '1970-01-01'",
    ),
}


@pytest.mark.parametrize(("column", "bound", "predicate"), OTHERS.values(), ids=OTHERS)
def test_bounds_of_a_footer_that_are_no_values_drop_no_row_group(
    tmp_path, column, bound, predicate
):
    pq.write_table(pa.table({"s": column}), tmp_path / "f.parquet")
    set_statistics(tmp_path / "f.parquet", 0, lower=bound, upper=bound, null_count=0)
    interval, groups = group_of(tmp_path, kind=None)
    assert interval.lower.null_count == interval.upper.null_count == 1
    assert groups.containers.unreadable_statistics == 1
    report = whyscan.open(tmp_path).explain(predicate, depth="row-groups").to_dict()
    assert [level["kept"] for level in report["levels"]] == [1, 1]


ICEBERG = {
    "a boolean of 2": ("boolean", b"\x02"),
    "a boolean of two bytes": ("boolean", b"\x01\x00"),
    "an int of two bytes": ("int", b"\x01\x00"),
    "a long of three bytes": ("long", b"\x01\x00\x00"),
    "a decimal of more digits than it has": ("decimal(5, 2)", (10**6).to_bytes(4, "big")),
    "a decimal of no bytes": ("decimal(5, 2)", b""),
    "a uuid of 15 bytes": ("uuid", bytes(15)),
    "a date of three bytes": ("date", bytes(3)),
    "a timestamp of five bytes": ("timestamp", bytes(5)),
}


@pytest.mark.parametrize(("kind", "bound"), ICEBERG.values(), ids=ICEBERG)
def test_bounds_of_iceberg_that_are_no_values_are_unknown_and_counted(tmp_path, kind, bound):
    lake = Lake(tmp_path / "t", {"s": kind})
    lake.manifest([lake.file("a", bounds={"s": (bound, bound)}, nulls={"s": 0})])
    snapshot = lake.commit().open()
    files = snapshot.files([Column(("s",), snapshot.schema().fields[0].type)])
    interval = files.containers.statistics["s",]
    assert interval.lower.null_count == interval.upper.null_count == 1
    assert files.containers.unreadable_statistics == 1


def test_every_cut_of_a_text_is_believed_and_nothing_else():
    """All texts of some characters of each length, cut anywhere; all two bytes that are none."""
    words = [b"", *("".join(p).encode() for p in product("aé€😀", repeat=2))]
    cuts = sorted({word[:end] for word in words for end in range(len(word) + 1)})
    column = pa.array(cuts, pa.binary())
    assert text_or_unknown(column, column) == (column, column)
    for pair in product(range(256), repeat=2):
        damaged = bytes(pair)
        lower, _ = text_or_unknown(pa.array([damaged]), pa.array([b"z"]))
        assert lower[0].is_valid == _is_a_cut(damaged), damaged


def _is_a_cut(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return True


def test_every_report_counts_the_statistics_that_cannot_be_read(tmp_path):
    for name in ("a", "b"):
        pq.write_table(pa.table({"s": ["m"]}), tmp_path / f"{name}.parquet")
        set_statistics(tmp_path / f"{name}.parquet", 0, lower=b"\xff", upper=b"\xff", null_count=0)
    table = whyscan.open(tmp_path)

    of_table = table.explain("s = 'm'")
    of_statement = whyscan.explain_sql("SELECT * FROM t WHERE s = 'm'", {"t": table})
    stats = table.stats()

    for report in (of_table, of_statement.scans[0].report):
        [finding] = [f for f in report.findings if f.code == "UNREADABLE_STATISTICS"]
        assert finding.message.startswith("2 statistics of 1 column in 2 files cannot"), finding
        assert finding.evidence == {"statistics": 2, "files": 2, "columns": 1}
    assert "2 statistics of 1 column in 2 files" in " ".join(str(of_statement).split())
    assert [(u.level, u.why) for u in stats.unchecked] == [
        ("row_groups", "2 statistics cannot be read")
    ]


def test_files_and_columns_with_unreadable_statistics_are_two_numbers(tmp_path):
    """Two columns of one file, and the same two of the other: four statistics."""
    table = pa.table({"s": ["m"], "t": ["m"]})
    for name in ("a", "b"):
        pq.write_table(table, tmp_path / f"{name}.parquet")
        for column in (0, 1):
            path = tmp_path / f"{name}.parquet"
            set_statistics(path, column, lower=b"\xff", upper=b"\xff", null_count=0)

    report = whyscan.open(tmp_path).explain("s = 'm' AND t = 'm'")

    [finding] = [f for f in report.findings if f.code == "UNREADABLE_STATISTICS"]
    assert finding.evidence == {"statistics": 4, "files": 2, "columns": 2}
