"""A worker that dies, a table that goes away: the run ends, and says what happened."""

from __future__ import annotations

import pickle
import shutil

import pytest
from msgspec.structs import replace

import whyscan
from spark.stages.audit.lake import write_delta, write_hive
from tables.iceberg.by_hand import Lake
from whyscan.spark.pinned_tables import pin
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
    assert audited.queries[0].tables[0].levels == report.scans[0].report.levels


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

    lines = {one.tables[0].name: one for one in audited.queries}
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

    lines = {one.tables[0].name: one for one in audited.queries}
    assert lines["whole"].error is None
    assert "copy-7777.avro" in lines["wide"].error
    assert "\n" not in lines["wide"].error
