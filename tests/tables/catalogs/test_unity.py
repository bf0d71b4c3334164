"""Unity Catalog: an HTTP server of this process answers in the shapes of the published interface.

The real server is not published where packages are, so it does not run here.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from support.commands import whyscan as command
from tables.delta.conftest import Lake as DeltaTable
from tables.delta.conftest import bounds
from tables.storage.seaweed import BUCKET, KEY, SECRET
from whyscan.errors import StorageError, TableError

BASE = "/api/2.1/unity-catalog/"
ABSENT = (404, {"error_code": "TABLE_DOES_NOT_EXIST", "message": "canary", "details": []})


class UnityServer:
    """What is served by path, the requests with their bodies, and the token that is wanted."""

    def __init__(self):
        self.answers = {}
        self.requests = []
        self.token = None
        self.uri = ""

    def table(self, name, **more):
        catalog, schema, table = name.split(".")
        parts = {"name": table, "catalog_name": catalog, "schema_name": schema}
        entry = {"table_type": "EXTERNAL", "table_id": "id-1", "columns": [], **parts, **more}
        self.answers[f"tables/{name}"] = (200, entry)
        listed = self.answers.setdefault("tables", (200, {"tables": []}))
        listed[1]["tables"].append(entry)

    def respond(self, path, query, body, token):
        self.requests.append((path, query, body))
        if self.token is not None and token != f"Bearer {self.token}":
            return 401, {"error_code": "UNAUTHENTICATED", "message": "canary"}
        answer = self.answers.get(path, ABSENT)
        return answer(query, body) if callable(answer) else answer


@pytest.fixture
def unity(configure):
    with served(UnityServer()) as server:
        configure("unity", type="unity", uri=server.uri)
        yield server


@contextmanager
def served(unity):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.answer(None)

        def do_POST(self):
            self.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def answer(self, body):
            url = urlsplit(self.path)
            query = {key: value[0] for key, value in parse_qs(url.query).items()}
            path = url.path.removeprefix(BASE)
            status, content = unity.respond(path, query, body, self.headers["Authorization"])
            self.send_response(status)
            if status == 302:
                self.send_header("Location", content)
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        unity.uri = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield unity
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def clicks(tmp_path):
    table = DeltaTable(tmp_path / "clicks").create({"id": "long"})
    table.commit(table.add("f1", bounds("id", 1, 9)))
    table.commit(table.add("f2", bounds("id", 10, 19)))
    return table.folder


def test_a_delta_table_opens_by_its_name_at_any_version(unity, clicks):
    unity.table("unity.web.clicks", data_source_format="DELTA", storage_location=f"file://{clicks}")

    table = whyscan.open("unity.web.clicks")

    assert (table.format, table.uri) == ("delta", str(clicks))
    assert table.plan("id > 9").summary.files_kept == 1
    assert whyscan.open("unity.web.clicks", version=1).plan("TRUE").summary.files_total == 1


def test_a_parquet_table_has_the_columns_of_unity_and_partitions_by_its_folders(unity, tmp_path):
    for day, count in (("2024-01-01", 1), ("2024-01-02", 2)):
        (tmp_path / f"day={day}").mkdir()
        pq.write_table(pa.table({"id": [count], "extra": [0]}), tmp_path / f"day={day}" / "a")
    columns = [
        {"name": "day", "type_text": "date", "position": 1, "partition_index": 0},
        {"name": "id", "type_text": "bigint", "position": 0},
    ]
    place = f"file://{tmp_path}"
    form = {"data_source_format": "PARQUET", "storage_location": place, "columns": columns}
    unity.table("unity.web.visits", **form)

    table = whyscan.open("unity.web.visits")

    assert [field.name for field in table.schema.fields] == ["id", "day"]
    rows = table.scan("day > DATE '2024-01-01'").read_all().to_pylist()
    assert [row["id"] for row in rows] == [2]


def test_the_token_is_sent_and_shown_nowhere(unity, clicks, configure, explain):
    unity.token = "canary"
    unity.table("unity.web.clicks", data_source_format="DELTA", storage_location=f"file://{clicks}")

    with pytest.raises(StorageError, match="it does not accept the credentials"):
        whyscan.open("unity.web.clicks")
    configure("unity", token="canary")
    assert explain("unity.web.clicks", question="id > 9").code == 0


def test_a_redirect_is_not_followed_with_the_token(unity, configure):
    configure("unity", token="canary")
    unity.answers["tables/unity.web.clicks"] = (302, "http://127.0.0.1:1/elsewhere")

    with pytest.raises(StorageError, match="it answers 302"):
        whyscan.open("unity.web.clicks")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"table_type": "VIEW"}, "is a view"),
        ({"data_source_format": "ICEBERG", "storage_location": "file:/x"}, "is no Iceberg, Delta"),
        ({"data_source_format": "JDBC"}, "is no Iceberg, Delta or Hive table"),
    ],
)
def test_what_has_no_files_of_its_own_is_refused(unity, more, message):
    unity.table("unity.web.t", **more)

    with pytest.raises(TableError, match=message):
        whyscan.open("unity.web.t")


def test_a_table_that_is_not_there(unity):
    with pytest.raises(TableError, match=r"the catalog 'unity' has no table web\.none"):
        whyscan.open("unity.web.none")


def test_ls_reads_all_pages_and_leaves_views_out(unity):
    def schemas(query, _):
        assert query["catalog_name"] == "unity"
        if "page_token" in query:
            return 200, {"schemas": [{"name": "shop"}], "next_page_token": ""}
        return 200, {"schemas": [{"name": "web"}], "next_page_token": "2"}

    unity.answers["schemas"] = schemas
    unity.table("unity.web.clicks")
    unity.table("unity.web.view", table_type="VIEW")

    def listed(place):
        return json.loads(command("ls", place, "--format", "json", cwd=".").out)

    assert listed("unity")["namespaces"] == ["unity.shop", "unity.web"]
    assert listed("unity.web")["tables"] == ["unity.web.clicks"]


def test_whyscans_file_names_the_catalog_and_databricks_files_the_server(
    unity, clicks, tmp_path, monkeypatch
):
    unity.token = "canary"
    unity.table("main.web.clicks", data_source_format="DELTA", storage_location=f"file://{clicks}")
    (tmp_path / "whyscan.toml").write_text('[catalogs.prod]\ntype = "unity"\ncatalog = "main"\n')
    profile = tmp_path / "databrickscfg"
    profile.write_text(f"[DEFAULT]\nhost = {unity.uri}/\ntoken = canary\n")
    monkeypatch.setenv("DATABRICKS_CONFIG_FILE", str(profile))
    monkeypatch.chdir(tmp_path)

    assert whyscan.open("prod.web.clicks").format == "delta"


def test_vended_credentials_open_the_bucket(unity, server, configure):
    """SeaweedFS refuses requests without keys, so that the keys that are vended are those used."""
    import time

    import obstore

    store = obstore.store.S3Store(
        BUCKET,
        endpoint=server.endpoint,
        region="us-east-1",
        access_key_id=KEY,
        secret_access_key=SECRET,
        client_options={"allow_http": True},
    )
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"id": [1, 2]}), sink)
    obstore.put(store, "unity/visits/a.parquet", sink.getvalue().to_pybytes())
    configure("unity", **{"s3.endpoint": server.endpoint, "s3.region": "us-east-1"})
    columns = [{"name": "id", "type_text": "bigint", "position": 0}]
    place = f"s3://{BUCKET}/unity/visits"
    form = {"data_source_format": "PARQUET", "storage_location": place, "columns": columns}
    unity.table("unity.web.visits", **form)
    keys = {"access_key_id": KEY, "secret_access_key": SECRET, "session_token": None}
    ends = int(time.time() * 1000) + 3_600_000
    vended = {"aws_temp_credentials": keys, "expiration_time": ends}
    unity.answers["temporary-table-credentials"] = (200, vended)

    assert whyscan.open("unity.web.visits").scan("id = 2").read_all().to_pylist() == [{"id": 2}]
    request = ("temporary-table-credentials", {}, {"table_id": "id-1", "operation": "READ"})
    assert request in unity.requests
