"""SQL catalogs, with tables that PyIceberg writes: on this machine and in a bucket."""

from __future__ import annotations

import pytest

import whyscan
from tables.catalogs import events
from tables.storage.seaweed import BUCKET


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """A warehouse on disk: the properties of its catalog, and its folder."""
    folder = tmp_path_factory.mktemp("lake")
    properties = {"uri": f"sqlite:///{folder}/catalog.db", "warehouse": f"file://{folder}"}
    made = events.catalog("prod", **properties)
    events.write(made, "db", "events")
    events.write(made, "a", "b", "events.2024")
    made.close()
    return properties, folder


@pytest.fixture
def prod(lake, configure):
    configure("prod", **lake[0])
    return lake[1]


def answer(report):
    """What a report says, but for the notes and what reading took."""
    return {**report, "notes": None, "metadata": None}


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("prod.db.events", "db/events"),
        ("prod.a.b.`events.2024`", "a.b/events.2024"),
    ],
)
def test_a_name_gives_the_same_report_as_the_path(prod, report, name, folder):
    by_name, by_path = report(name), report(prod / folder)

    assert answer(by_name) == answer(by_path)
    assert by_name["table"]["uri"] == str(prod / folder)
    assert [file["verdict"] for file in by_name["files"]].count("none") == 2


def test_the_note_says_by_which_catalog_and_metadata_file(prod, report):
    (note,) = report("prod.db.events")["notes"]

    assert note.startswith("by the catalog prod, table db.events: metadata/00004-")


def test_older_versions_as_by_path(prod, report):
    ids = [s.snapshot_id for s in _table(prod).metadata.snapshots]

    def total(*travel):
        return report("prod.db.events", *travel)["levels"][1]["total"]

    assert total("--at-snapshot", ids[1]) == 2
    assert total("--ref", "main") == 4
    assert total("--as-of", "2999-01-01") == 4


def _table(folder):
    made = events.catalog("prod", uri=f"sqlite:///{folder}/catalog.db")
    try:
        return made.load_table("db.events")
    finally:
        made.close()


def test_from_python(prod):
    table = whyscan.open("prod.db.events", snapshot=_table(prod).metadata.snapshots[0].snapshot_id)

    assert table.plan("age > 0").summary.files_total == 1
    assert (table.uri, table.format) == (str(prod / "db" / "events"), "iceberg")


def test_delta_versions_are_refused(prod, explain):
    done = explain("prod.db.events", "--at-version", "1")

    assert (done.code, "Iceberg tables have no version" in done.err) == (2, True)


@pytest.mark.parametrize("name", ["prod.db.nothing", "prod.nowhere.events", "prod.db.events.more"])
def test_a_table_that_is_not_there(prod, error, name):
    assert f"the catalog 'prod' has no table {name.partition('.')[2]}" in error(name)


def test_the_table_of_a_file_that_is_gone(configure, error, tmp_path):
    made = events.catalog("gone", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}")
    table = events.write(made, "db", "events")
    made.close()
    (tmp_path / "db" / "events" / "metadata" / table.metadata_location.rpartition("/")[2]).unlink()
    configure("gone", uri=f"sqlite:///{tmp_path}/c.db")

    assert "there is no /" in error("gone.db.events")


def test_a_database_without_a_catalog_stays_without_one(configure, error, tmp_path):
    database = tmp_path / "empty.db"
    database.touch()
    configure("prod", uri=f"sqlite:///{database}")

    assert "its database did not answer, or holds no catalog" in error("prod.db.events")
    assert database.read_bytes() == b""


def test_a_database_that_is_not_there_is_not_made(configure, error, tmp_path):
    configure("prod", uri=f"sqlite:///{tmp_path}/none.db")

    assert f"there is no database {tmp_path}/none.db" in error("prod.db.events")
    assert not (tmp_path / "none.db").exists()


def test_a_file_of_configuration_works_as_it_is(lake, report, tmp_path):
    properties, folder = lake
    lines = "".join(f"    {key}: {value}\n" for key, value in properties.items())
    (tmp_path / ".pyiceberg.yaml").write_text(f"catalog:\n  prod:\n{lines}")

    assert report("prod.db.events")["table"]["uri"] == str(folder / "db" / "events")


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        (
            {"uri": "postgresql://user:canary@127.0.0.1:1/db"},
            "the catalog needs psycopg",
        ),
        ({"uri": "nonsense:canary"}, "its configuration is not complete or not right"),
        ({"type": "sql"}, "its configuration is not complete or not right"),
        ({"type": "canary", "uri": "sqlite://"}, "its configuration is not complete"),
    ],
)
def test_a_wrong_configuration_is_one_line_without_secrets(configure, error, properties, said):
    configure("prod", **properties)

    assert said in error("prod.db.events")


@pytest.mark.xdist_group("s3")
def test_a_bucket_by_the_catalogs_own_properties(in_bucket, configure, report):
    table, properties = in_bucket
    configure("prod", **properties)
    keys = ("access_key_id", "secret_access_key", "endpoint")
    credentials = [properties[f"s3.{key.replace('_', '-')}"] for key in keys]
    more = [w for pair in zip(keys, credentials, strict=True) for w in ("--option", "=".join(pair))]

    by_name, by_path = report("prod.db.events"), report(table.location(), *more)

    assert answer(by_name) == answer(by_path)
    assert by_name["table"]["uri"] == f"s3://{BUCKET}/warehouse/db/events"


@pytest.mark.xdist_group("s3")
def test_the_users_options_stand_before_the_catalogs(in_bucket, configure, error, report):
    _, properties = in_bucket
    configure("prod", **{**properties, "s3.endpoint": "http://127.0.0.1:1"})
    option = ("--option", f"AWS_ENDPOINT_URL={properties['s3.endpoint']}")

    assert report("prod.db.events", *option)["levels"][1]["total"] == 4
    mine = ("--option", "access_key_id=me", "--option", "secret_access_key=mine")
    assert "permission denied" in error("prod.db.events", *option, *mine)


@pytest.mark.xdist_group("s3")
def test_keys_of_the_environment_are_not_mixed_with_the_catalogs(
    in_bucket, configure, report, monkeypatch
):
    configure("prod", **in_bucket[1])
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "other")

    assert report("prod.db.events")["levels"][1]["total"] == 4
