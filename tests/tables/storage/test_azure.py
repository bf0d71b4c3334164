"""Azure, as Azurite serves it. Where there is no `azurite-blob` on the PATH, the tests are skipped.

`npm install -g azurite` brings it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import shutil
import subprocess
import time
from contextlib import contextmanager, suppress
from email.utils import formatdate
from http.client import HTTPConnection

import pytest
from obstore.store import AzureStore

from tables.storage.lakes_to_upload import QUESTIONS
from tables.storage.seaweed import STARTED_WITHIN, free_ports, put_folder, stop

AZURITE = shutil.which("azurite-blob")
ACCOUNT, CONTAINER = "acc", "lake"
KEY = base64.b64encode(b"canary-of-the-account-key").decode()
VERSION = "2021-08-06"

pytestmark = [
    pytest.mark.xdist_group("azure"),
    pytest.mark.skipif(AZURITE is None, reason="there is no azurite-blob on the PATH"),
]


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory, lake):
    with running(tmp_path_factory.mktemp("azurite")) as server:
        store = AzureStore(
            CONTAINER,
            account_name=ACCOUNT,
            account_key=KEY,
            endpoint=server,
            client_options={"allow_http": True},
        )
        for name in QUESTIONS:
            put_folder(store, lake / name, name)
        yield server


@contextmanager
def running(folder):
    (port,) = free_ports(1)
    command = [AZURITE, "--blobPort", str(port), "--inMemoryPersistence", "--skipApiVersionCheck"]
    process = subprocess.Popen(
        [*command, "--silent", "--disableTelemetry"],
        env={**os.environ, "AZURITE_ACCOUNTS": f"{ACCOUNT}:{KEY}"},
        cwd=folder,
        stdout=subprocess.DEVNULL,
    )
    try:
        create_container(port)
        yield f"http://127.0.0.1:{port}/{ACCOUNT}"
    finally:
        stop(process)


def create_container(port):
    """obstore makes no containers."""
    until = time.monotonic() + STARTED_WITHIN
    while time.monotonic() < until:
        with suppress(ConnectionError):
            connection = HTTPConnection("127.0.0.1", port)
            place = f"/{ACCOUNT}/{CONTAINER}"
            connection.request("PUT", f"{place}?restype=container", headers=signed(place))
            assert connection.getresponse().status == 201
            return
        time.sleep(0.1)
    pytest.fail(f"azurite did not answer within {STARTED_WITHIN} s")


def signed(place):
    """https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key"""
    own = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": VERSION}
    headers = "".join(f"{name}:{value}\n" for name, value in own.items())
    text = "PUT" + "\n" * 12 + f"{headers}/{ACCOUNT}{place}\nrestype:container"
    signature = hmac.digest(base64.b64decode(KEY), text.encode(), hashlib.sha256)
    encoded = base64.b64encode(signature).decode()
    return own | {"Authorization": f"SharedKey {ACCOUNT}:{encoded}", "Content-Length": "0"}


ENVIRONMENTS = {
    "az tool": ("AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_KEY", "AZURE_STORAGE_ENDPOINT"),
    "obstore": ("AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT_KEY", "AZURE_ENDPOINT"),
}


@pytest.fixture
def azure(cloud, endpoint, monkeypatch):
    """Reach the server by variables; without names there are none of them."""

    def by(names=()):
        for name in [name for name in os.environ if name.startswith("AZURE_")]:
            monkeypatch.delenv(name)
        for name, value in zip(names, (ACCOUNT, KEY, endpoint), strict=False):
            monkeypatch.setenv(name, value)

    by(ENVIRONMENTS["az tool"])
    return by


@pytest.fixture
def ask(explain):
    def run(place, name, *more):
        done = explain(place.format(name), QUESTIONS[name], *more)
        assert KEY not in done.out + done.err
        assert done.code == 0, done.err
        return json.loads(done.out)

    return run


def answer(report):
    return report["levels"], report["files"]


ADDRESSES = (
    "az://lake/{}",
    "azure://lake/{}",
    "adl://lake/{}",
    "abfss://lake@acc.dfs.core.windows.net/{}",
    "wasbs://lake@acc.blob.core.windows.net/{}",
    "https://acc.blob.core.windows.net/lake/{}",
    "https://acc.dfs.core.windows.net/lake/{}",
)


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_spelling_reaches_the_table(azure, ask, local, address):
    assert answer(ask(address, "delta")) == answer(local("delta"))


@pytest.mark.parametrize("name", ["hive", "iceberg"])
def test_a_container_gives_the_same_report_as_a_folder(azure, ask, local, name):
    assert answer(ask("az://lake/{}", name)) == answer(local(name))


@pytest.mark.parametrize("address", [ADDRESSES[0], ADDRESSES[3], ADDRESSES[5]])
def test_variables_of_other_names_and_options(azure, ask, endpoint, address):
    azure(ENVIRONMENTS["obstore"])
    ask(address, "hive")

    azure(["AZURE_STORAGE_ACCOUNT"])
    ask(address, "hive", "--option", f"account_key={KEY}", "--option", f"endpoint={endpoint}")


def test_a_connection_string(azure, ask, endpoint, monkeypatch):
    azure()
    parts = f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY}"
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", f"{parts};BlobEndpoint={endpoint};")

    ask("az://lake/{}", "hive")


def test_the_second_run_reads_from_the_cache(azure, ask, cloud):
    first, second = ask("az://lake/{}", "delta"), ask("az://lake/{}", "delta")

    assert answer(second) == answer(first)
    assert first["metadata"]["from_cache"] == 0
    assert second["metadata"]["from_cache"] == second["metadata"]["objects"]
    assert not any(KEY.encode() in file.read_bytes() for file in cloud.rglob("*") if file.is_file())


@pytest.mark.parametrize(
    ("place", "more", "said"),
    [
        ("az://nobody/t", (), "it is not there"),
        ("az://lake/hive", ("--option", "account_key=b3RoZXI="), "permission denied"),
        ("az://lake/nothing", (), "holds no Parquet files"),
    ],
)
def test_a_refusal_is_one_line_with_exit_code_3(azure, explain, place, more, said):
    run = explain(place, "age > 1", *more)

    assert (run.code, run.out) == (3, "")
    assert said in run.err
