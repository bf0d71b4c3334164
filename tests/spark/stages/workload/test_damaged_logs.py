"""Whatever is done to a log, it is read or said to be unreadable; and no filter is ever made up."""

from __future__ import annotations

import json
import random
import threading
from http.server import ThreadingHTTPServer

import cramjam
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from tables.storage.test_web import Files
from whyscan.spark.plans.printed_filters import ScanColumns, read_filters, text_of
from whyscan.spark.stages.workload import read_workload
from whyscan.spark.stages.workload.codecs import Tail, UnsupportedCodec, plain

P = "org.apache.spark.sql.execution.ui."


def event(name, **fields):
    return json.dumps({"Event": name, **fields}, separators=(",", ":"))


def scan(metadata=None, text="FileScan parquet [id#1L,p#2] Batched: true", name="Scan parquet "):
    plan = {
        "Format": "Parquet",
        "Location": "InMemoryFileIndex(1 paths)[file:/lake/t]",
        "PartitionFilters": "[isnotnull(p#2), (p#2 = 3)]",
        "DataFilters": "[(id#1L > 5)]",
        "ReadSchema": "struct<id:bigint>",
    }
    metrics = [
        {"name": "number of files read", "accumulatorId": 7, "metricType": "sum"},
        {"name": "size of files read", "accumulatorId": 8, "metricType": "size"},
    ]
    return {
        "nodeName": name,
        "simpleString": text,
        "children": [],
        "metadata": plan | (metadata or {}),
        "metrics": metrics,
    }


def log(*scans, **start):
    """One execution of a small application, as Spark writes it."""
    plan = {"nodeName": "Union", "simpleString": "Union", "children": list(scans), "metrics": []}
    execution = {"executionId": 0, "description": "collect at x.py:1", "time": 1772442000000}
    return [
        event("SparkListenerLogStart", **{"Spark Version": "4.1.4"}),
        event("SparkListenerApplicationStart", **{"App Name": "shop", "App ID": "app-7"}),
        event(
            "SparkListenerEnvironmentUpdate",
            **{"Spark Properties": {}, "System Properties": {"user.timezone": "Asia/Tokyo"}},
        ),
        event(f"{P}SparkListenerSQLExecutionStart", **execution, **start, sparkPlanInfo=plan),
        event(
            f"{P}SparkListenerDriverAccumUpdates", executionId=0, accumUpdates=[[7, 2], [8, 900]]
        ),
        event(f"{P}SparkListenerSQLExecutionEnd", executionId=0, time=1772442001000),
    ]


def read(folder, lines, name="app-7"):
    (folder / name).write_text("\n".join(lines) + "\n", "utf-8")
    return read_workload([str(folder / name)])


def test_an_application_has_its_name_and_the_zone_of_its_machine(tmp_path):
    filters = {
        "DataFilters": "[(ts#3 > 2026-01-01 09:00:00)]",
        "ReadSchema": "struct<ts:timestamp>",
    }

    (query,) = read(tmp_path, log(scan(filters, "FileScan parquet [ts#3,p#2] "))).queries

    assert query.text == (
        "SELECT `ts`, `p` FROM parquet.`/lake/t` "
        "WHERE `p` = '3' AND `ts` > TIMESTAMP '2026-01-01 00:00:00+00:00'"
    )
    assert query.origins == ("app-7/execution 0: a scan, written from its plan",)
    assert (query.bytes_read, query.actual[0].files) == (900, 2)


@pytest.mark.parametrize(
    ("metadata", "name", "why"),
    [
        ({"Format": "JSON"}, "Scan json ", "it reads json, which is no table of the lake"),
        (
            {"Location": "InMemoryFileIndex(3 paths)[file:/lake/a, ...]"},
            "Scan parquet ",
            "it reads InMemoryFileIndex(3 paths)[file:/lake/a, ...]",
        ),
        (
            {
                "Location": "TahoeBatchFileIndex(1 paths)[file:/lake/t]",
                "PartitionFilters": "[]",
                "DataFilters": "[]",
            },
            "Scan parquet ",
            "it reads files that a command of Delta has chosen",
        ),
    ],
)
def test_a_scan_that_cannot_be_written_is_listed(tmp_path, metadata, name, why):
    workload = read(tmp_path, log(scan(metadata, name=name)))

    assert workload.queries == ()
    assert [entry.why for entry in workload.unparsed] == [why]


def test_spark_3_0_does_not_count_paths_and_knows_no_roots_and_tags(tmp_path):
    (query,) = read(tmp_path, log(scan({"Location": "InMemoryFileIndex[file:/lake/t]"}))).queries
    several = read(
        tmp_path, log(scan({"Location": "InMemoryFileIndex[file:/lake/a, file:/lake/b]"}))
    )

    assert "/lake/t" in query.text
    assert (several.queries, len(several.unparsed)) == ((), 1)


def test_a_table_of_a_catalog_is_called_by_its_name(tmp_path):
    (query,) = read(tmp_path, log(scan(name="Scan parquet lake.db.visits"))).queries

    assert " FROM `lake`.`db`.`visits` WHERE " in query.text


def test_columns_that_spark_cut_off_are_those_of_the_schema(tmp_path):
    wide = scan(text="FileScan parquet [id#1L,... 30 more fields] Batched: true")

    (query,) = read(tmp_path, log(wide)).queries

    assert query.text == "SELECT `id` FROM parquet.`/lake/t` WHERE `p` = '3' AND `id` > 5"


def test_events_without_the_parts_of_their_kind_are_counted(tmp_path):
    broken = [
        event(f"{P}SparkListenerSQLExecutionStart", description="no number"),
        event(f"{P}SparkListenerDriverAccumUpdates", executionId="x", accumUpdates=5),
        event("SparkListenerStageCompleted", **{"Stage Info": 7}),
        '{"Event":"SparkListenerTaskEnd","Task',
    ]

    workload = read(tmp_path, [*log(scan()), *broken])

    assert len(workload.queries) == 1
    assert [entry.why for entry in workload.unparsed] == ["lines that are no events: 4"]


def snappy(content):
    blocks = [content[at : at + 999] for at in range(0, len(content), 999)]
    packed = [bytes(cramjam.snappy.compress_raw(block)) for block in blocks]
    header = b"\x82SNAPPY\x00" + bytes([0, 0, 0, 1, 0, 0, 0, 1])
    return header + b"".join(len(block).to_bytes(4, "big") + block for block in packed)


def lz4(content):
    blocks = [content[at : at + 999] for at in range(0, len(content), 999)]
    packed = [bytes(cramjam.lz4.compress_block(block, store_size=False)) for block in blocks]
    return b"".join(
        b"LZ4Block\x25"
        + len(block).to_bytes(4, "little")
        + len(whole).to_bytes(4, "little")
        + bytes(4)
        + block
        for block, whole in zip(packed, blocks, strict=True)
    )


@pytest.mark.parametrize("flag", [b"\x00", b"\x01"])
def test_a_log_in_lzf_is_refused_by_name(tmp_path, flag):
    (tmp_path / "app-7.lzf").write_bytes(b"ZV" + flag + b"\x00\x05hello" * 10)

    with pytest.raises(UnsupportedCodec, match="compressed with lzf") as caught:
        list(plain([b"ZV" + flag + b"\x00\x05hello"], Tail(), "log"))
    workload = read_workload([str(tmp_path / "app-7.lzf")])

    assert "zstd" in caught.value.hint
    assert [(entry.origin, entry.why) for entry in workload.unparsed] == [
        ("app-7.lzf", f"cannot read {tmp_path}/app-7.lzf: it is compressed with lzf")
    ]


def test_a_text_that_begins_like_lzf_is_read():
    assert b"".join(plain([b"ZVEZDA"], Tail(), "log")) == b"ZVEZDA"


@pytest.mark.parametrize("pack", [bytes, snappy, lz4, zstd.compress, cramjam.gzip.compress])
def test_a_damaged_log_is_read_in_part_or_said_to_be_unreadable(tmp_path, pack):
    content = "\n".join(log(scan()) * 5).encode()
    whole = bytes(pack(content))
    dice = random.Random(7)
    for number in range(60):
        damaged = bytearray(whole[: dice.randrange(30, len(whole))] if number % 2 else whole)
        for _ in range(3):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        (tmp_path / "app-7").write_bytes(bytes(damaged))

        workload = read_workload([str(tmp_path / "app-7")], form="spark")

        assert workload.queries or workload.unparsed


def test_a_log_of_a_web_server_is_read(tmp_path):
    (tmp_path / "log.sql").write_text("SELECT a FROM t;\n" * 3)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Files)
    server.folder = tmp_path
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        address = f"http://127.0.0.1:{server.server_address[1]}/log.sql"
        (query,) = read_workload([address], storage={"allow_http": "true"}).queries
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

    assert (query.text, query.times) == ("SELECT a FROM t", 3)


VALUES = st.one_of(
    st.text("ab ,()#='\\12", max_size=12),
    st.sampled_from(["), (id#9L = 5", "x) OR (s#2 = y", " AND ", "null", "a, b), (c", ":) :("]),
).filter(lambda value: "#1" not in value and "s#2" not in value)


@given(st.lists(st.tuples(st.sampled_from(["=", ">", "<="]), VALUES), max_size=5), st.integers())
def test_every_filter_that_is_read_was_asked_whatever_strings_hold(written, number):
    """Strings of any kind, between numbers: a conjunct that comes out went in."""
    parts = [f"(s#2 {operator} {value})" for operator, value in written]
    parts.insert(len(parts) // 2, f"(id#1L > {number})")
    text = f"[{', '.join(parts)}]"

    filters = read_filters([text], ScanColumns({"id#1L": "bigint", "s#2": "string"}, "UTC"))

    expected = {f"`s` {operator} {text_of(value)}" for operator, value in written}
    assert set(filters.conjuncts) <= expected | {f"`id` > {number}"}


@given(st.lists(VALUES, min_size=2, max_size=6, unique=True), st.booleans())
def test_a_list_that_is_read_holds_every_value_that_was_asked(values, long):
    text = f"s#2 INSET {', '.join(values)}" if long else f"s#2 IN ({','.join(values)})"

    filters = read_filters(
        [f"[{text}, (id#1L > 5)]"], ScanColumns({"id#1L": "bigint", "s#2": "string"})
    )

    lists = [conjunct for conjunct in filters.conjuncts if " IN (" in conjunct]
    assert all(text_of(value) in conjunct for value in values for conjunct in lists)
    assert set(filters.conjuncts) - set(lists) <= {"`id` > 5"}
