"""Glue: its configuration reaches PyIceberg's client, and what Glue says is understood."""

from __future__ import annotations

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tables.catalogs import events

KEYS = {"glue.access-key-id": "me", "glue.secret-access-key": "canary"}


@contextmanager
def glue(answer):
    """A server that gives one answer to whatever Glue's client asks: its address, the requests."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            requests.append((self.headers["X-Amz-Target"], json.loads(body)))
            status, content = answer
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", requests
        finally:
            server.shutdown()
            thread.join()


def entry(**parameters):
    return {"Table": {"DatabaseName": "db", "Name": "events", "Parameters": parameters}}


@pytest.fixture
def lake(configure):
    def add(endpoint, **more):
        named = {"type": "glue", "glue.region": "eu-west-1", "glue.endpoint": endpoint}
        configure("aws", **named, **{"glue.max-retries": "1"}, **more)

    return add


def test_a_table_is_found_by_glues_answer(lake, report, tmp_path):
    made = events.catalog("w", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}")
    place = events.write(made, "db", "events").metadata_location
    made.close()

    with glue((200, entry(table_type="ICEBERG", metadata_location=place))) as (endpoint, requests):
        lake(endpoint, **KEYS)
        document = report("aws.db.events")

    assert requests == [("AWSGlue.GetTable", {"DatabaseName": "db", "Name": "events"})]
    assert document["levels"] == report(tmp_path / "db" / "events")["levels"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((200, entry()), "aws.db.events is no Iceberg, Delta or Hive table"),
        ((200, entry(table_type="canary")), "aws.db.events is no Iceberg, Delta or Hive table"),
        ((200, entry(table_type="ICEBERG")), "aws.db.events is no Iceberg, Delta or Hive table"),
        (
            (400, {"__type": "EntityNotFoundException", "Message": "canary"}),
            "the catalog 'aws' has no table db.events",
        ),
        ((400, {"__type": "AccessDeniedException", "Message": "canary"}), "it refuses to answer"),
    ],
)
def test_what_glue_refuses(lake, error, answer, said):
    with glue(answer) as (endpoint, _):
        lake(endpoint, **KEYS)
        assert said in error("aws.db.events")


def test_glue_that_does_not_answer(lake, error):
    lake("http://127.0.0.1:1", **KEYS)

    assert "cannot ask the catalog 'aws': it did not answer" in error("aws.db.events")


def test_no_credentials(lake, error):
    lake("http://127.0.0.1:1")

    assert "cannot ask the catalog 'aws': no credentials were found" in error("aws.db.events")


def test_no_region(configure, error):
    configure("aws", type="glue", **KEYS)

    assert "cannot ask the catalog 'aws': no region was named" in error("aws.db.events")
