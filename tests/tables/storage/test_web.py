"""Tables of a plain web server, which gives ranges of files and lists no folder."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tables.storage.lakes_to_upload import QUESTIONS
from tables.storage.test_s3 import answer


class Files(BaseHTTPRequestHandler):
    """Files of a folder, whole or by range; any other method is refused."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        file = self.server.folder / self.path.lstrip("/").replace("%3D", "=")
        if not file.is_file():
            return self.reply(404, b"")
        content = file.read_bytes()
        requested = self.headers.get("Range")
        if requested is None:
            return self.reply(200, content)
        first, last = requested.removeprefix("bytes=").split("-")
        piece = content[int(first) : int(last) + 1]
        where = f"bytes {first}-{int(first) + len(piece) - 1}/{len(content)}"
        return self.reply(206, piece, ("Content-Range", where))

    do_HEAD = do_GET  # noqa: N815 - the base class's spelling

    def reply(self, status, body, *headers):
        self.send_response_only(status)
        for name, value in (("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT"), *headers):
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_PROPFIND(self):
        self.reply(405, b"")

    def log_message(self, format, *args):  # noqa: A002 - the base class's name
        """Nothing: the tests' own output is read."""


@pytest.fixture(scope="module")
def web(lake):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Files)
    server.folder = lake
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_file_of_a_web_server(cloud, web, explain, lake):
    name = "hive/country=DE/part-0.parquet"
    there, local_report = (explain(f"{root}/{name}", "age > 40") for root in (web, lake))

    assert there.code == 0, there.err
    assert answer(json.loads(there.out)) == answer(json.loads(local_report.out))


def test_an_iceberg_table_by_its_metadata_file(cloud, web, explain, lake):
    newest = max((lake / "iceberg" / "metadata").glob("*.metadata.json")).name
    name = f"iceberg/metadata/{newest}"
    there, local_report = (explain(f"{root}/{name}", QUESTIONS["iceberg"]) for root in (web, lake))

    assert there.code == 0, there.err
    assert answer(json.loads(there.out)) == answer(json.loads(local_report.out))


@pytest.mark.parametrize("name", ["hive", "delta"])
def test_a_folder_cannot_be_listed_and_the_hint_says_what_can(cloud, web, explain, name):
    run = explain(f"{web}/{name}", QUESTIONS[name])

    assert (run.code, run.out) == (3, "")
    assert "the server does not list folders" in run.err
    assert "metadata.json" in run.err
