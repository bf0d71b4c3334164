"""A Hive table as the planner sees it: schema, files, row groups, and what was read for them."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from whyscan.errors import TableError
from whyscan.tables import open_snapshot
from whyscan.tree.nodes import Column
from whyscan.tree.types import BIGINT, STRING, TIMESTAMP


def write(path, table, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(table), path, **options)


def lake(root):
    for month in ("01", "02"):
        for part in range(2):
            rows = {"x": range(100), "y": [str(i) for i in range(100)]}
            write(root / f"year=2024/month={month}/{part}.parquet", rows, row_group_size=40)
    return open_snapshot([str(root)], {}, {})


def test_opening_and_listing_open_no_file(tmp_path):
    snapshot = lake(tmp_path)

    files = snapshot.files([])

    assert (snapshot.format, snapshot.uri) == ("hive", str(tmp_path))
    assert snapshot.partition_sources == (("year",), ("month",))
    assert files.paths[0].as_py() == "year=2024/month=01/0.parquet"
    assert files.partition.to_pylist()[-1] == {"year": 2024, "month": 2}
    assert (snapshot.traffic().objects, snapshot.traffic().bytes) == (0, 0)


def test_row_groups_of_some_files(tmp_path):
    snapshot = lake(tmp_path)
    files = snapshot.files([])

    groups = snapshot.row_groups(files, pa.array([1, 3]), [Column(("x",), BIGINT)], None)

    assert groups.file.to_pylist() == [0, 0, 0, 1, 1, 1]
    assert groups.ordinal.to_pylist() == [0, 1, 2, 0, 1, 2]
    assert groups.containers.rows.to_pylist() == [40, 40, 20] * 2
    assert groups.containers.partition[("month",)].lower.to_pylist() == [1] * 3 + [2] * 3
    assert groups.containers.statistics[("x",)].upper.to_pylist() == [39, 79, 99] * 2
    assert snapshot.traffic().objects == 2


@pytest.mark.parametrize(
    "projection", [None, [("x",)], [("y",)], [("x",), ("y",)], [("none",)], []]
)
@pytest.mark.parametrize("writer", ["arrow", "duckdb"])
def test_byte_ranges_are_those_of_the_column_chunks(tmp_path, projection, writer):
    path = tmp_path / "f.parquet"
    write(
        path,
        {"x": range(100), "z": range(100), "y": [str(i) for i in range(100)]},
        row_group_size=40,
    )
    if writer == "duckdb":
        duckdb.sql(f"COPY (FROM '{path}') TO '{path}'")
    snapshot = open_snapshot([str(path)], {}, {})

    groups = snapshot.row_groups(snapshot.files([]), pa.array([0]), [], projection)

    metadata = pq.read_metadata(path)
    names = {"x", "y", "z"} if projection is None else {name for (name,) in projection}
    for at in range(metadata.num_row_groups):
        chunks = [metadata.row_group(at).column(i) for i in range(3)]
        expected = set()
        for chunk in chunks:
            if chunk.path_in_schema in names:
                start = chunk.dictionary_page_offset or chunk.data_page_offset
                expected |= set(range(start, start + chunk.total_compressed_size))
        got = {byte for start, end in groups.ranges[at].as_py() for byte in range(start, end)}
        assert got == expected
        assert groups.bytes[at].as_py() == sum(chunk.total_compressed_size for chunk in chunks)


def test_a_partition_column_in_the_file_too_is_the_folders(tmp_path):
    write(tmp_path / "k=5/f.parquet", {"k": [1, 2], "x": [3, 4]})
    snapshot = open_snapshot([str(tmp_path)], {}, {})

    groups = snapshot.row_groups(snapshot.files([]), pa.array([0]), [Column(("k",), BIGINT)], None)

    assert [(f.name, str(f.type)) for f in snapshot.schema().fields] == [
        ("k", "int"),
        ("x", "bigint"),
    ]
    assert groups.containers.statistics == {}
    assert groups.containers.partition[("k",)].lower.to_pylist() == [5]


def test_a_column_of_one_file_in_the_middle_is_found_when_it_is_named(tmp_path):
    for at in range(5):
        write(tmp_path / f"{at}.parquet", {"x": [1]} | ({"new": [2]} if at == 2 else {}))
    snapshot = open_snapshot([str(tmp_path)], {}, {})

    assert snapshot.schema().names() == ("x",)
    assert snapshot.traffic().objects == 2
    assert snapshot.schema(["new"]).names() == ("x", "new")
    assert snapshot.traffic().objects == 5


def test_constants_of_a_file(tmp_path):
    write(tmp_path / "a b.parquet", {"x": [1]})
    names = {"file_path": STRING, "file_name": STRING, "file_size": BIGINT}
    columns = [Column(("_metadata", n), k) for n, k in names.items()]
    columns.append(Column(("_metadata", "file_modification_time"), TIMESTAMP))

    interval = open_snapshot([str(tmp_path)], {}, {}).files(columns).containers.partition

    assert interval[("_metadata", "file_path")].lower.to_pylist() == [
        f"file:{tmp_path}/a%20b.parquet".encode()
    ]
    assert interval[("_metadata", "file_name")].upper.to_pylist() == [b"a%20b.parquet"]
    assert interval[("_metadata", "file_size")].lower.to_pylist() == [
        (tmp_path / "a b.parquet").stat().st_size
    ]
    (moment,) = interval[("_metadata", "file_modification_time")].lower.cast(pa.int64()).to_pylist()
    assert moment % 1000 == 0


def test_columns_that_differ_only_in_case_are_an_error_when_they_are_asked_for(tmp_path):
    write(tmp_path / "0.parquet", {"x": [1]})
    write(tmp_path / "1.parquet", {"x": [1], "X": [2]})
    snapshot = open_snapshot([str(tmp_path)], {}, {})

    with pytest.raises(TableError, match="several columns that answer to 'x'"):
        snapshot.row_groups(snapshot.files([]), pa.array([0, 1]), [Column(("x",), BIGINT)], None)


def test_footers_longer_than_the_first_read_are_read_whole(tmp_path):
    names = [f"a_long_column_name_{i}" for i in range(2000)]
    write(tmp_path / "f.parquet", {name: [i] for i, name in enumerate(names)})
    snapshot = open_snapshot([str(tmp_path)], {}, {})
    column = Column((names[-1],), BIGINT)

    groups = snapshot.row_groups(snapshot.files([]), pa.array([0]), [column], None)

    assert groups.containers.statistics[column.path].lower.to_pylist() == [1999]


def test_a_file_without_row_groups_has_none(tmp_path):
    write(tmp_path / "f.parquet", {"x": pa.array([], pa.int64())})
    snapshot = open_snapshot([str(tmp_path)], {}, {})

    assert snapshot.row_groups(snapshot.files([]), pa.array([0]), [], None).count in {0, 1}


def test_no_file_opened_gives_no_row_groups(tmp_path):
    snapshot = lake(tmp_path)
    column = Column(("x",), BIGINT)

    groups = snapshot.row_groups(snapshot.files([]), pa.array([], pa.int64()), [column], None)

    assert groups.count == 0
