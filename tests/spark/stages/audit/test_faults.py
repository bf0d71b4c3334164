"""A worker that dies, a table that goes away: the run ends, and says what happened."""

from __future__ import annotations

import pickle
import shutil
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from msgspec.structs import replace

import whyscan
from spark.stages.audit.lake import write_delta, write_hive
from support.spark_sessions import persisted
from tables.iceberg.by_hand import Lake
from whyscan.spark import audit
from whyscan.spark.pinned_tables import Pinned, pin
from whyscan.spark.stages.audit.stage import explain_workload
from whyscan.spark.stages.workload.query import Query, Workload
from whyscan.spark.tables import NamedTable

pytestmark = pytest.mark.spark


class DiesOnce:
    """Kills the process that unpickles it, the first time; then it is what it stands for."""

    def __init__(self, marker, pickled):
        self.names = {"marker": str(marker), "pickled": pickled}

    def __reduce__(self):
        dies = (
            "__import__('pickle').loads(pickled) if __import__('os').path.exists(marker) else "
            "(open(marker, 'w').close(), __import__('os').kill(__import__('os').getpid(), 9))"
        )
        return eval, (dies, self.names)


def test_a_worker_that_is_killed_costs_nothing(spark, tmp_path):
    write_hive(tmp_path / "t", 2)
    healthy = pin(NamedTable("t", str(tmp_path / "t")))
    deadly = pickle.dumps(DiesOnce(tmp_path / "died", healthy.snapshot))
    sql = "SELECT * FROM t WHERE id < 5"

    audited, _ = explain_workload(
        spark, Workload((Query(sql, "spark"),)), [replace(healthy, snapshot=deadly)]
    )

    assert (tmp_path / "died").exists()
    report = whyscan.explain_sql(sql, {"t": str(tmp_path / "t")})
    assert audited.queries[0].tables[0].scan.report.levels == report.scans[0].report.levels


@pytest.mark.parametrize("step", ["explain", "answer"])
def test_a_worker_that_is_killed_in_a_round_of_slices_costs_nothing(spark, tmp_path, step):
    write_hive(tmp_path / "t", 2)
    table = pin(NamedTable("t", str(tmp_path / "t")), files_each=3)
    first, *others = table.slices
    deadly = (
        replace(table, snapshot=pickle.dumps(DiesOnce(tmp_path / "died", table.snapshot)))
        if step == "explain"
        else replace(table, slices=(pickle.dumps(DiesOnce(tmp_path / "died", first)), *others))
    )
    sql = "SELECT * FROM t WHERE id < 5"

    audited, _ = explain_workload(spark, Workload((Query(sql, "spark"),)), [deadly])

    assert (tmp_path / "died").exists()
    report = whyscan.explain_sql(sql, {"t": str(tmp_path / "t")})
    assert audited.queries[0].tables[0].scan.report.levels == report.scans[0].report.levels


def test_ctrl_c_in_a_round_leaves_nothing_in_the_executors(spark, tmp_path):
    write_hive(tmp_path / "t", 2)
    table = pin(NamedTable("t", str(tmp_path / "t")), files_each=3)
    workload = Workload((Query("SELECT * FROM t WHERE id < 5", "spark"),))
    before = persisted(spark)

    def interrupt(text):
        if text.startswith("round 3"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explain_workload(spark, workload, [table], progress=interrupt)

    assert persisted(spark) <= before


def test_a_worker_that_is_killed_while_logs_are_read_costs_nothing(spark, tmp_path, monkeypatch):
    write_hive(tmp_path / "t", 1)
    (tmp_path / "log.sql").write_text("SELECT * FROM t WHERE id < 5;\n")
    # What executors get of a log has the options of its store.
    monkeypatch.setattr("whyscan.spark.stages.inputs.IN_PROCESS", 0)
    deadly = DiesOnce(tmp_path / "died", pickle.dumps("off"))
    logs, storage = [tmp_path / "log.sql"], {"cache": deadly}

    audited = audit(spark, logs, {"t": str(tmp_path / "t")}, storage=storage)

    assert (tmp_path / "died").exists()
    assert [query.error for query in audited.queries] == [None]


def test_a_slice_that_cannot_be_read_is_the_error_of_its_table(spark, tmp_path):
    write_hive(tmp_path / "t", 2)
    write_hive(tmp_path / "whole", 1)
    table = pin(NamedTable("t", str(tmp_path / "t")), files_each=3)
    whole = pin(NamedTable("whole", str(tmp_path / "whole")), files_each=1)
    for file in sorted((tmp_path / "t").rglob("*.parquet"))[-1:]:
        file.write_bytes(b"PAR1 this is no footer PAR1")
    queries = tuple(Query(f"SELECT * FROM {name} WHERE id = 3", "spark") for name in ("t", "whole"))

    audited, _ = explain_workload(spark, Workload(queries), [table, whole])

    lines = {one.table_names[0]: one for one in audited.queries}
    assert file.name in lines["t"].error
    assert "\n" not in lines["t"].error
    assert lines["whole"].error is None


class Refusing(BaseHTTPRequestHandler):
    """A store whose keys are no longer valid."""

    def do_GET(self) -> None:
        body = b"<Error><Code>ExpiredToken</Code><Message>The token has expired.</Message></Error>"
        self.send_response(403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


@pytest.fixture
def refusing_store():
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_bad_tables_among_two_hundred_are_named_and_the_others_have_their_answers(
    spark, tmp_path, refusing_store
):
    write_delta(tmp_path / "t0", 1, ())
    for number in range(1, 199):
        shutil.copytree(tmp_path / "t0", tmp_path / f"t{number}")
    tables = [pin(NamedTable(f"t{n}", str(tmp_path / f"t{n}"))) for n in range(199)]
    keys = {"access_key_id": "k", "secret_access_key": "s", "region": "us-east-1"}
    store = {**keys, "endpoint": refusing_store, "allow_http": "true"}
    tables.append(Pinned("expired", "s3://bucket/expired", store, format="delta", version=0))
    shutil.rmtree(tmp_path / "t7")
    (log,) = (tmp_path / "t8" / "_delta_log").glob("*.json")
    log.write_bytes(log.read_bytes()[:-30])
    queries = [Query(f"SELECT * FROM {table.name} WHERE id = 3", "spark") for table in tables]

    audited, _ = explain_workload(spark, Workload(tuple(queries)), tables)

    errors = {one.table_names[0]: one.error for one in audited.queries if one.error is not None}
    assert errors.keys() == {"t7", "t8", "expired"}
    assert "permission denied (check the credentials" in errors["expired"]
    assert not any("\n" in error for error in errors.values())
    assert len(audited.queries) == len(tables)
    assert {one.bytes_needed for one in audited.queries if one.error is None} == {
        audited.queries[0].bytes_needed
    }


def test_a_table_that_is_deleted_between_stages_stops_no_other(spark, tmp_path):
    write_delta(tmp_path / "kept", 1)
    write_delta(tmp_path / "deleted", 1)
    write_hive(tmp_path / "emptied", 1)
    tables = [
        pin(NamedTable(name, str(tmp_path / name))) for name in ("kept", "deleted", "emptied")
    ]
    shutil.rmtree(tmp_path / "deleted")
    shutil.rmtree(tmp_path / "emptied")
    queries = tuple(
        Query(f"SELECT * FROM {name} WHERE id = 3", "spark")
        for name in ("kept", "deleted", "emptied")
    )
    queries += (Query("SELECT * FROM kept VERSION AS OF 99", "spark"),)

    audited, _ = explain_workload(spark, Workload(queries), tables)

    lines = {one.table_names[0]: one for one in audited.queries}
    assert lines["kept"].error is None
    assert f"{tmp_path / 'deleted'} is no Delta table any more" in lines["deleted"].error
    assert f"{tmp_path / 'emptied'}" in lines["emptied"].error
    assert {t.name for t in audited.tables if t.error is not None} == {"deleted", "emptied"}
    assert [(one.text, "99" in one.why) for one in audited.unparsed] == [(queries[3].text, True)]


def test_one_corrupt_manifest_among_ten_thousand_is_named_and_stops_no_other(spark, tmp_path):
    wide = Lake(tmp_path / "wide", {"id": "long"})
    first = wide.manifest([wide.file("a.parquet", {"id": (0, 9)})])
    for number in range(1, 10_000):
        copy = first.with_name(f"copy-{number}.avro")
        copy.hardlink_to(first)
        wide.manifests.append({**wide.manifests[0], "manifest_path": str(copy)})
    wide.commit()
    broken = first.with_name("copy-7777.avro")
    broken.unlink()
    broken.write_bytes(first.read_bytes()[:-40])
    write_hive(tmp_path / "whole", 1)
    sources = [NamedTable(name, str(tmp_path / name)) for name in ("wide", "whole")]
    queries = tuple(Query(f"SELECT * FROM {s.name} WHERE id = 3", "spark") for s in sources)

    audited, _ = explain_workload(spark, Workload(queries), [pin(one) for one in sources])

    lines = {one.table_names[0]: one for one in audited.queries}
    assert lines["whole"].error is None
    assert "copy-7777.avro" in lines["wide"].error
    assert "\n" not in lines["wide"].error
