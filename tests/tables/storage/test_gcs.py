"""Google Cloud Storage, as fake-gcs-server serves it; skipped where it is not on the PATH.

`go install github.com/fsouza/fake-gcs-server@latest` brings it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from contextlib import suppress
from http.client import HTTPConnection
from urllib.parse import quote

import pytest

from tables.storage.lakes_to_upload import QUESTIONS
from tables.storage.seaweed import STARTED_WITHIN, free_ports, stop

SERVER = shutil.which("fake-gcs-server")
CANARY = "canary-of-the-private-key"

pytestmark = [
    pytest.mark.xdist_group("gcs"),
    pytest.mark.skipif(SERVER is None, reason="there is no fake-gcs-server on the PATH"),
]


@pytest.fixture(scope="module")
def port(lake):
    (port,) = free_ports(1)
    place = ["-scheme", "http", "-host", "127.0.0.1", "-port", str(port)]
    host_words = ["-public-host", f"127.0.0.1:{port}"]
    process = subprocess.Popen(
        [SERVER, "-backend", "memory", *place, *host_words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(port)
        post(port, "/storage/v1/b?project=p", b'{"name": "lake"}')
        for name in QUESTIONS:
            for file in (lake / name).rglob("*"):
                if file.is_file():
                    target = quote(str(file.relative_to(lake)), safe="")
                    upload = f"/upload/storage/v1/b/lake/o?uploadType=media&name={target}"
                    post(port, upload, file.read_bytes())
        yield port
    finally:
        stop(process)


def wait_for(port):
    until = time.monotonic() + STARTED_WITHIN
    while time.monotonic() < until:
        with suppress(ConnectionError):
            HTTPConnection("127.0.0.1", port).connect()
            return
        time.sleep(0.1)
    pytest.fail(f"fake-gcs-server did not answer within {STARTED_WITHIN} s")


def post(port, path, body):
    connection = HTTPConnection("127.0.0.1", port)
    connection.request("POST", path, body)
    assert connection.getresponse().status == 200


@pytest.fixture
def base(cloud, port, monkeypatch):
    """Where the server is; nothing in the environment says so."""
    for name in ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_SERVICE_ACCOUNT"):
        monkeypatch.delenv(name, raising=False)
    return f"http://127.0.0.1:{port}"


@pytest.fixture
def ask(explain):
    def run(place, name, *more):
        options = [word for option in more for word in ("--option", option)]
        done = explain(f"{place}/{name}", QUESTIONS[name], *options)
        assert CANARY not in done.out + done.err
        assert done.code == 0, done.err
        return json.loads(done.out)

    return run


def answer(report):
    return report["levels"], report["files"]


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_bucket_gives_the_same_report_as_a_folder(base, ask, local, name):
    verification = ask("gs://lake", name, f"base_url={base}", "skip_signature=true")

    assert answer(verification) == answer(local(name))


def test_variables_and_the_other_spelling(base, ask, monkeypatch):
    monkeypatch.setenv("GOOGLE_BASE_URL", base)

    ask("gcs://lake", "hive", "skip_signature=true")


@pytest.mark.parametrize("variable", ["GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_PATH"])
def test_the_key_file_of_a_service_account(base, ask, monkeypatch, tmp_path, variable):
    key = {"client_email": "", "private_key": CANARY, "private_key_id": "", "disable_oauth": True}
    (tmp_path / "key.json").write_text(json.dumps(key | {"gcs_base_url": base}))
    monkeypatch.setenv(variable, str(tmp_path / "key.json"))

    ask("gs://lake", "hive", "allow_http=true")


def test_the_second_run_reads_from_the_cache(base, ask):
    first, second = (
        ask("gs://lake", "delta", f"base_url={base}", "skip_signature=true") for _ in range(2)
    )

    assert answer(second) == answer(first)
    assert second["metadata"]["from_cache"] == second["metadata"]["objects"]
