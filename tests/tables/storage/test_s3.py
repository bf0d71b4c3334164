"""A table in a bucket is the table on disk: the same plan, however the bucket is reached."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support import commands
from tables.storage.faults import Fault, Kind
from tables.storage.lakes_to_upload import QUESTIONS, about
from tables.storage.seaweed import BUCKET, KEY, SECRET

pytestmark = pytest.mark.xdist_group("s3")

UNIQUE = "part-00000-0188c3a1-1b2c-4d5e-8f90-0123456789ab-c000.parquet"


def answer(report):
    """What a report says, but for where the table is and what reading it took.

    An Iceberg table knows where it was written, and notes that it is elsewhere now.
    """
    table = {key: value for key, value in report["table"].items() if key != "uri"}
    notes = [note for note in report["notes"] if not note.startswith("moved")]
    return {**report, "table": table, "notes": notes, "metadata": None}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_bucket_gives_the_same_report_as_a_folder(s3, remote, local, name):
    there, local_report = remote(name), local(name)

    assert answer(there) == answer(local_report)
    assert there["table"]["uri"] == f"s3://{BUCKET}/{name}"
    assert any(0 < level["kept"] < level["total"] for level in local_report["levels"]), (
        local_report["levels"]
    )


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_second_run_gives_the_same_report_and_reads_less(s3, remote, name):
    first = remote(name)
    requests = len(s3.seen)
    second = remote(name)

    assert answer(second) == answer(first)
    assert second["metadata"]["objects"] == first["metadata"]["objects"]
    assert len(s3.seen) - requests < requests, s3.seen


def test_the_report_counts_what_came_from_the_cache(s3, remote, tmp_path):
    first, second = remote("hive"), remote("hive")

    assert (first["metadata"]["from_cache"], second["metadata"]["from_cache"]) == (0, 3)
    text = commands.whyscan("explain", f"s3://{BUCKET}/hive", "-w", QUESTIONS["hive"], cwd=tmp_path)
    assert text.out.rstrip().endswith("read, 3 from the cache")


def test_no_cache_reads_everything_again_and_keeps_nothing(s3, remote, cloud):
    remote("delta", "--no-cache")
    report = remote("delta", "--no-cache")

    assert report["metadata"]["from_cache"] == 0
    assert not cloud.exists()


def test_a_delta_log_comes_from_the_cache_but_its_listing_does_not(s3, remote):
    remote("delta")
    s3.seen.clear()
    remote("delta")

    assert [path for path in s3.seen if ".json" in path or "checkpoint.parquet" in path] == []
    assert any("list-type=2" in path and "_delta_log" in path for path in s3.seen)


def test_a_metadata_folder_is_looked_into_and_then_listed_once(s3, remote):
    remote("iceberg")

    assert len([path for path in s3.seen if "list-type=2" in path and "metadata" in path]) == 2


def footers(seen):
    """The requests for the ends of data files."""
    return [path for path in seen if ".parquet" in path and "_delta_log" not in path]


@pytest.mark.parametrize("name", ["delta", "iceberg"])
def test_footers_of_data_files_come_from_the_cache(s3, remote, name):
    first = remote(name)
    opened = len(footers(s3.seen))
    s3.seen.clear()
    second = remote(name)

    assert answer(second) == answer(first)
    assert (opened > 0, footers(s3.seen)) == (True, [])
    assert second["metadata"]["from_cache"] >= opened + first["metadata"]["from_cache"]

    remote(name, "--no-cache")
    assert len(footers(s3.seen)) == opened


def put_table_of_one_file(server, name, values):
    """A Delta table with row groups of five rows; its file has the same name whatever is in it."""
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"x": pa.array(values, pa.int64())}), sink, row_group_size=5)
    content = sink.getvalue().to_pybytes()
    actions = [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {"metaData": about() | {"partitionColumns": []}},
        {"add": {"path": UNIQUE, "size": len(content), "partitionValues": {}}},
    ]
    server.store().put(f"{name}/{UNIQUE}", content)
    log = "\n".join(map(json.dumps, actions)).encode()
    server.store().put(f"{name}/_delta_log/{0:020}.json", log)


def test_a_data_file_of_another_size_is_not_taken_for_the_one_before(s3, server, explain):
    def row_groups():
        report = json.loads(explain(f"s3://{BUCKET}/resized", "x >= 3").out)
        return report["levels"][-1]["total"], report["metadata"]["from_cache"]

    put_table_of_one_file(server, "resized", range(10))
    assert (row_groups(), row_groups()) == ((2, 0), (2, 2))

    put_table_of_one_file(server, "resized", range(20))
    assert row_groups() == (4, 0)


def test_a_table_written_again_at_the_same_place_is_not_taken_for_the_old_one(
    s3, server, explain, lake
):
    place = f"s3://{BUCKET}/again"
    log = (lake / "delta" / "_delta_log" / f"{0:020}.json").read_bytes()
    name = f"again/_delta_log/{0:020}.json"

    def bounds():
        return json.loads(explain(place, "x > 5", "--depth", "files").out)["files"][0]["bounds"]

    server.store().put(name, log)
    before = bounds()
    server.store().put(name, log.replace(b'\\"x\\": 19', b'\\"x\\": 18'))

    assert (before, bounds()) == ({"x": [0, 19]}, {"x": [0, 18]})


def test_rows_are_never_kept(s3, server, explain, cloud, tmp_path):
    words = pa.array(["aaa", *("the row that is nobody's business",) * 3, "zzz"])
    pq.write_table(pa.table({"s": words}), tmp_path / "a.parquet", use_dictionary=False)
    server.upload(tmp_path, "private")
    explain(f"s3://{BUCKET}/private/a.parquet", "s > 'b'")

    kept = [file.read_bytes() for file in cloud.rglob("*") if file.is_file()]
    assert any(b"parquet" in content for content in kept)
    assert not any(b"nobody's business" in content for content in kept)


@pytest.mark.parametrize("address", ["s3a://{}/hive", "s3n://{}/hive", "S3://{}/hive/"])
def test_other_spellings(s3, explain, address):
    assert explain(address.format(BUCKET), QUESTIONS["hive"]).code == 0


def test_globs_and_files_of_a_bucket(s3, explain):
    some = explain(f"s3://{BUCKET}/hive/country=*/part-?.parquet", "age > 40")
    one = explain(f"s3://{BUCKET}/hive/country=DE/part-0.parquet", "age > 40")

    assert [json.loads(run.out)["levels"][0]["total"] for run in (some, one)] == [6, 1]


def test_many_reads_are_under_way_at_once_and_no_more_than_asked(s3, remote):
    s3.faults.append(Fault(Kind.SLOW, match=".json", seconds=20, together=3))
    remote("delta", "--option", "concurrency=3", "--no-cache")

    assert s3.gauge.most == 3


def test_an_iceberg_table_is_opened_with_one_request_an_object(s3, remote):
    remote("iceberg", "--no-cache", "--depth", "files")

    objects = [path for path in s3.seen if "list-type=2" not in path]
    assert sorted(set(objects)) == sorted(objects)


@pytest.mark.parametrize("hint", [b"", b"1", b"x" * 5_000])
def test_a_hint_that_names_nothing_is_passed_over(s3, server, lake, explain, hint):
    server.upload(lake / "iceberg", "hinted")
    server.store().put("hinted/metadata/version-hint.text", hint)

    run = explain(f"s3://{BUCKET}/hinted", QUESTIONS["iceberg"], "--no-cache")

    assert run.code == 0, run.err
    assert any(note.startswith("no version hint") for note in json.loads(run.out)["notes"])


def test_a_profile_brings_keys_region_and_endpoint(cloud, explain, proxy, uploaded, monkeypatch):
    folder = cloud.parent / "home" / ".aws"
    folder.mkdir(parents=True)
    keys = f"[lakes]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n"
    (folder / "credentials").write_text(keys)
    settings = f"[profile lakes]\nregion = eu-central-1\nendpoint_url = {proxy.endpoint}\n"
    (folder / "config").write_text(settings)
    place = f"s3://{BUCKET}/hive"

    by_option = explain(place, QUESTIONS["hive"], "--option", "profile=lakes")
    monkeypatch.setenv("AWS_PROFILE", "lakes")
    by_variable = explain(place, QUESTIONS["hive"])
    # A named profile is used, although the environment has keys of another account.
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "other")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "other")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "other")
    named = explain(place, QUESTIONS["hive"], "--option", "profile=lakes")

    assert [run.code for run in (by_option, by_variable, named)] == [0, 0, 0], named.err


def test_options_alone_are_enough(cloud, explain, proxy, uploaded):
    keys = {"endpoint": proxy.endpoint, "access_key_id": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
    more = [word for pair in keys.items() for word in ("--option", "=".join(pair))]

    assert explain(f"s3://{BUCKET}/hive", QUESTIONS["hive"], *more).code == 0


@pytest.mark.parametrize(
    ("place", "more", "said"),
    [
        ("s3://no-such-bucket/t", (), "it is not there"),
        (f"s3://{BUCKET}/hive", ("--option", "access_key_id=nobody"), "permission denied"),
        (f"s3://{BUCKET}/hive", ("--option", "skip_signature=true"), "permission denied"),
        (f"s3://{BUCKET}/nothing", (), "holds no Parquet files"),
        (f"s3://{BUCKET}/hive/no.parquet", (), "there is no s3://"),
    ],
)
def test_a_refusal_is_one_line_with_exit_code_3(s3, explain, place, more, said):
    run = explain(place, "age > 1", *more)

    assert (run.code, run.out) == (3, "")
    assert said in run.err
    assert len(run.err.splitlines()) <= 2
