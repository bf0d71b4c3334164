"""Tables that lie: each lie is named, by file and column, with what is recorded and what is."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spark.stages.verify.proofs import verified
from support.formats import text
from tables.delta.conftest import Lake
from tables.iceberg.by_hand import Lake as IcebergLake
from whyscan.spark.stages.verify.result import Contradiction, Lie, Wrong

pytestmark = pytest.mark.spark

NOON = datetime(2024, 3, 7, 12, 30, tzinfo=UTC)
ZOO = Path(__file__).parents[5] / "shared" / "zoo"


def values(x, **more) -> pa.Table:
    return pa.table({"x": pa.array(x, pa.int64()), "s": pa.array(["s"] * len(x)), **more})


def add(lake, name, rows, /, **lies):
    """A file that holds a table, and an honest add action, but for `lies`."""
    path = lake.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows, path)
    present = [v for v in rows["x"].to_pylist() if v is not None]
    stats = {
        "numRecords": lies.get("rows", len(rows)),
        "minValues": {"x": lies.get("lower", min(present, default=None)), "s": "s"},
        "maxValues": {"x": lies.get("upper", max(present, default=None)), "s": "s"},
        "nullCount": {"x": lies.get("nulls", rows["x"].null_count), "s": 0},
    }
    size = lies.get("size", path.stat().st_size)
    return lake.add(name, stats, size=size, partition=lies.get("partition", {}))


@pytest.fixture(scope="module")
def delta(spark, tmp_path_factory):
    """A table of which each file but one lies in one way."""
    lake = Lake(tmp_path_factory.mktemp("lies") / "t").create({"x": "long", "s": "string"})
    lake.commit(
        add(lake, "honest.parquet", values([1, 2, None])),
        add(lake, "lower.parquet", values([10, 12]), lower=11),
        add(lake, "upper.parquet", values([20, 99]), upper=21),
        add(lake, "nulls.parquet", values([30, None, None]), nulls=1),
        add(lake, "only_nulls.parquet", values([40, None]), nulls=2, lower=None, upper=None),
        add(lake, "rows.parquet", values([50, 51]), rows=3),
        add(lake, "size.parquet", values([60]), size=7),
        add(lake, "crossed.parquet", values([70, 71]), lower=71, upper=70),
    )
    predicates = ("x = 10", "x = 99", "x >= 11 AND x <= 21", "x < 5 AND s = 's'", "x = 40")
    return lake, verified(spark, lake.folder, *predicates)


def test_every_lie_of_a_log_is_named_with_what_is_there(delta):
    size = (delta[0].folder / "size.parquet").stat().st_size

    assert set(delta[1].tables[0].lies) == {
        Lie("lower.parquet", None, "x", "lower", 11, 10),
        Lie("upper.parquet", None, "x", "upper", 21, 99),
        Lie("nulls.parquet", None, "x", "nulls", 1, 2),
        Lie("only_nulls.parquet", None, "x", "nulls", 2, 1),
        Lie("rows.parquet", None, None, "rows", 3, 2),
        Lie("size.parquet", None, None, "bytes", 7, size),
    }
    assert delta[1].tables[0].contradictions == (
        Contradiction("files", "x", 1, ("crossed.parquet",)),
    )
    assert delta[1].exit_code == 1


def test_rows_that_lying_bounds_lose_are_named_with_their_place(delta):
    proofs = {proof.predicate: proof for proof in delta[1].tables[0].predicates}

    assert proofs["x = 10"].lost == (Wrong("files", "lower.parquet", None, 1, 0),)
    assert proofs["x = 99"].lost == (Wrong("files", "upper.parquet", None, 1, 1),)
    assert proofs["x = 40"].lost == (Wrong("files", "only_nulls.parquet", None, 1, 0),)
    assert proofs["x < 5 AND s = 's'"].lost == ()


def test_containers_wrongly_called_all_are_named(delta):
    proof = delta[1].tables[0].predicates[2]

    assert set(proof.false_all) == {
        Wrong("files", "lower.parquet", None, 1, 0),
        Wrong("files", "upper.parquet", None, 1, 1),
    }
    assert proof.lost == ()


def test_delta_on_spark_loses_the_same_rows_and_is_called_unsound(spark, delta):
    verification = verified(spark, delta[0].folder, "x = 99", engines=["spark-delta"]).tables[0]
    (proof,) = verification.predicates

    assert (proof.rows_true, proof.native) == (1, 1)
    assert (proof.engines[0].rows, proof.engines[0].sound) == (0, False)


def test_the_text_says_it_all(delta):
    printed = " ".join(text(delta[1]).split())

    assert printed.startswith(
        "unsound: 3 rows lost, 2 containers wrongly called all, 7 statistics lie"
    )
    assert "upper.parquet, x: the upper bound is recorded as 21, and is 99" in printed
    assert "lost: upper.parquet is dropped and holds 1 row for which it is TRUE, one at" in printed


def test_a_partition_value_that_the_file_contradicts(spark, tmp_path):
    lake = Lake(tmp_path / "t").create({"x": "long", "s": "string", "p": "integer"}, ("p",))
    rows = values([1, 2], p=pa.array([5, 6], pa.int32()))
    lake.commit(
        add(lake, "p=5/a.parquet", rows, partition={"p": "5"}),
        add(lake, "p=6/b.parquet", values([1]), partition={"p": "6"}),
    )

    verification = verified(spark, lake.folder, "p = 5")

    assert verification.tables[0].lies == (
        Lie("p=5/a.parquet", None, "p", "partition upper", 5, 6),
    )
    assert verification.exit_code == 1


def test_nulls_of_a_list_that_are_not_there(spark, tmp_path):
    """A list has no bounds, and its count of NULLs is what `IS NULL` goes by."""
    listed = {"type": "array", "elementType": "long", "containsNull": True}
    lake = Lake(tmp_path / "t").create({"a": listed})
    pq.write_table(pa.table({"a": pa.array([[1], None])}), lake.folder / "a.parquet")
    size = (lake.folder / "a.parquet").stat().st_size
    lake.commit(lake.add("a.parquet", {"numRecords": 2, "nullCount": {"a": 0}}, size=size))

    verification = verified(spark, lake.folder, "a IS NULL")

    assert verification.tables[0].lies == (Lie("a.parquet", None, "a", "nulls", 0, 1),)
    assert verification.tables[0].predicates[0].lost_rows == 1
    assert verification.exit_code == 1


TYPES = {
    # Delta's type, what the file holds, and what the log says: lower, upper, one bound off.
    "string": (pa.array(["ab", "zz"]), "ab", "zz", "zy"),
    "date": (
        pa.array([date(1500, 3, 1), date(2024, 1, 2)]),
        "1500-03-01",
        "2024-01-02",
        "2024-01-01",
    ),
    "decimal(9,2)": (pa.array([Decimal("-1.50"), Decimal("2.25")]), -1.5, 2.25, 2.24),
    "double": (pa.array([-0.0, 2.5]), 0.0, 2.5, 2.25),
    "boolean": (pa.array([False, True]), None, None, None),
    "timestamp": (
        pa.array([NOON, NOON.replace(microsecond=1999)], pa.timestamp("us", "UTC")),
        "2024-03-07T12:30:00.000Z",
        "2024-03-07T12:30:00.001Z",
        "2024-03-07T12:30:00.000Z",
    ),
    "binary": (pa.array([b"\x00", b"\xff"]), None, None, None),
}


def test_bounds_of_every_type_in_a_log(spark, tmp_path):
    """The honest one is cut to milliseconds, as writers do, or leaves the sign of zero out."""
    names = {f"c{number}": kind for number, kind in enumerate(TYPES)}
    lake = Lake(tmp_path / "t").create(names)
    rows = pa.table({name: TYPES[kind][0] for name, kind in names.items()})
    lower = {name: TYPES[kind][1] for name, kind in names.items() if TYPES[kind][1] is not None}
    upper = {name: TYPES[kind][2] for name, kind in names.items() if TYPES[kind][2] is not None}
    wrong = {name: TYPES[kind][3] for name, kind in names.items() if TYPES[kind][3] is not None}
    actions = []
    for file, ends in {"honest": upper, "lying": wrong}.items():
        path = lake.folder / f"{file}.parquet"
        pq.write_table(rows, path)
        stats = {"numRecords": 2, "minValues": lower, "maxValues": ends}
        actions.append(lake.add(path.name, stats, size=path.stat().st_size))
    lake.commit(*actions)

    verification = verified(spark, lake.folder, "true", select=["*"])
    lies = {(lie.path, names[lie.column], lie.what) for lie in verification.tables[0].lies}

    assert lies == {("lying.parquet", names[name], "upper") for name in wrong}
    assert verification.exit_code == 1


def test_a_deletion_vector_that_is_said_to_delete_more_than_it_does(spark, tmp_path):
    name = f"delta.`{tmp_path}/t`"
    vectors = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    spark.sql(f"CREATE TABLE {name} USING delta {vectors} AS SELECT id FROM RANGE(0, 20, 1, 1)")
    spark.sql(f"DELETE FROM {name} WHERE id IN (3, 4)")
    log = tmp_path / "t" / "_delta_log" / "00000000000000000001.json"
    changed = log.read_text().replace('"cardinality":2', '"cardinality":7')
    assert changed != log.read_text()
    log.write_text(changed)
    (log.parent / f".{log.name}.crc").unlink(missing_ok=True)

    verification = verified(spark, tmp_path / "t", "id < 10")

    (lie,) = verification.tables[0].lies
    assert (lie.column, lie.what, lie.recorded, lie.actual) == (None, "deleted", 7, 2)
    assert verification.exit_code == 1


def test_a_footer_with_a_wrong_count_of_nulls(spark, tmp_path):
    """777 NULLs, zigzag and in seven bits a byte, become 776."""
    values = [None] * 777 + list(range(223))
    pq.write_table(pa.table({"x": pa.array(values, pa.int64())}), tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    assert whole[footer:].count(b"\x16\x92\x0c") == 1
    lying = whole[footer:].replace(b"\x16\x92\x0c", b"\x16\x90\x0c")
    (tmp_path / "a.parquet").write_bytes(whole[:footer] + lying)

    verification = verified(spark, tmp_path, "x IS NULL")

    assert verification.tables[0].lies == (Lie("a.parquet", 0, "x", "nulls", 776, 777),)
    assert verification.exit_code == 1


def test_a_footer_with_wrong_bounds(spark, tmp_path):
    """A bound is eight bytes in the footer; the pages stay as they are."""
    least, wrong, greatest = 0x0123456000, 0x0123456100, 0x0123456789
    table = pa.table({"x": pa.array([5, 6, least, greatest], pa.int64())})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=2, use_dictionary=False)
    whole = (tmp_path / "a.parquet").read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    ends = (number.to_bytes(8, "little") for number in (greatest, wrong))
    (tmp_path / "a.parquet").write_bytes(whole[:footer] + whole[footer:].replace(*ends))

    verification = verified(spark, tmp_path, f"x > {wrong}", f"x <= {wrong}")
    (table,) = verification.tables
    lost, false = table.predicates

    assert table.lies == (Lie("a.parquet", 1, "x", "upper", wrong, greatest),)
    assert lost.lost == (Wrong("files", "a.parquet", None, 1, 3),)
    assert false.false_all == (Wrong("files", "a.parquet", None, 1, 3),)
    assert verification.exit_code == 1


def test_a_manifest_with_wrong_bounds_and_partition(spark, tmp_path):
    fields = [{"name": "p", "transform": "identity", "source-id": 2, "field-id": 1000}]
    lake = IcebergLake(tmp_path / "t", {"x": "long", "p": "int"}, fields)
    (lake.folder / "data").mkdir()

    def file(name, x, p, bounds, partition):
        path = lake.folder / "data" / name
        schema = pa.schema(
            [
                pa.field("x", pa.int64(), metadata={"PARQUET:field_id": "1"}),
                pa.field("p", pa.int32(), metadata={"PARQUET:field_id": "2"}),
            ]
        )
        rows = pa.table([pa.array(x, pa.int64()), pa.array(p, pa.int32())], schema=schema)
        pq.write_table(rows, path)
        size = path.stat().st_size
        nulls = {"x": 0, "p": 0}
        return lake.file(name, bounds, nulls, len(x), {"p": partition}, file_size_in_bytes=size)

    summaries = [
        {"contains_null": False, "lower_bound": b"\x01\0\0\0", "upper_bound": b"\x01\0\0\0"}
    ]
    lake.manifest(
        [
            file("honest.parquet", [1, 2], [1, 1], {"x": (1, 2)}, 1),
            file("bounds.parquet", [10, 20], [1, 1], {"x": (10, 15)}, 1),
            file("partition.parquet", [1], [3], {"x": (1, 1)}, 1),
        ],
        summaries=summaries,
    )
    lake.commit()

    verification = verified(spark, lake.folder, "x = 20", "p = 3")
    (table,) = verification.tables
    names = {
        Path(lie.path).name: (lie.column, lie.what, lie.recorded, lie.actual) for lie in table.lies
    }

    assert names == {
        "bounds.parquet": ("x", "upper", 15, 20),
        "partition.parquet": ("p", "partition upper", 1, 3),
    }
    assert [(w.level, Path(w.path).name) for w in table.predicates[0].lost] == [
        ("files", "bounds.parquet")
    ]
    assert [(w.level, Path(w.path).name) for w in table.predicates[1].lost] == [
        ("manifests", "partition.parquet")
    ]
    assert verification.exit_code == 1


@pytest.mark.skipif(not ZOO.exists(), reason=f"there is no zoo at {ZOO}")
def test_a_table_of_the_zoo_whose_log_does_not_describe_its_data(spark):
    verification = verified(spark, ZOO / "delta-explain" / "test-table-flat", "age > 40")

    assert verification.exit_code == 1
    assert {lie.column for lie in verification.tables[0].lies} >= {"age"}
