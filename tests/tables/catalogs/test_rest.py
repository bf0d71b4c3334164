"""SeaweedFS's Iceberg catalog: a real server, whose credentials open one table for a while."""

from __future__ import annotations

import pytest

from tables.catalogs import events
from tables.catalogs.conftest import TABLES, rest_properties
from tables.storage.seaweed import KEY, SECRET

pytestmark = pytest.mark.xdist_group("s3")


@pytest.fixture(scope="module")
def properties(server):
    return rest_properties(server)


@pytest.fixture(scope="module")
def table(properties, s3_keys):
    made = events.catalog("lake", **properties, **s3_keys)
    path = events.write(made, "db", "events")
    events.write(made, "outer", "inner", "events")
    made.close()
    return path


@pytest.fixture
def lake(table, properties, configure):
    configure("lake", **properties)
    return table


def answer(report):
    return {**report, "notes": None, "metadata": None}


def test_vended_credentials_alone_give_the_same_report_as_keys_and_the_path(lake, server, report):
    keys = {"endpoint": server.endpoint, "access_key_id": KEY, "secret_access_key": SECRET}
    more = [word for pair in keys.items() for word in ("--option", "=".join(pair))]

    by_name, by_path = report("lake.db.events"), report(lake.location(), *more)

    assert answer(by_name) == answer(by_path)
    assert by_name["table"]["uri"] == f"s3://{TABLES}/db/events"
    assert [level["kept"] for level in by_name["levels"]][1:] == [2, 2]


def test_without_vended_credentials_the_table_stays_closed(lake, configure, error):
    configure("lake", **{"header.X-Iceberg-Access-Delegation": "nothing"})

    assert "no credentials were found" in error("lake.db.events", "--option", "max_retries=0")


def test_the_second_run_comes_from_the_cache(lake, report):
    report("lake.db.events")
    again = report("lake.db.events")["metadata"]

    assert again["from_cache"] > again["objects"] / 2


def test_an_older_snapshot(lake, report):
    first = lake.metadata.snapshots[0].snapshot_id

    assert report("lake.db.events", "--at-snapshot", first)["levels"][1]["total"] == 1


def test_a_namespace_of_two_parts(lake, report):
    assert report("lake.outer.inner.events")["levels"][1]["total"] == 4


def test_a_table_that_is_not_there(lake, error):
    assert "the catalog 'lake' has no table db.nothing" in error("lake.db.nothing")


def test_credentials_that_the_catalog_does_not_accept(lake, configure, error):
    configure("lake", credential="nobody:canary")

    assert "cannot ask the catalog 'lake': it does not accept the cred" in error("lake.db.events")
