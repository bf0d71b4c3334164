"""One S3 server, one proxy before it and one lake in it, for all tests of this folder."""

from __future__ import annotations

import json

import pytest

from support import commands
from tables.storage import lakes_to_upload
from tables.storage.faults import proxy as start_proxy
from tables.storage.seaweed import BUCKET, KEY, SECRET, CannotRun, running


@pytest.fixture(scope="session")
def lake(tmp_path_factory):
    """The folder that the bucket is a copy of."""
    folder = tmp_path_factory.mktemp("lake")
    lakes_to_upload.write(folder)
    return folder


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    try:
        with running(tmp_path_factory.mktemp("seaweed")) as server:
            yield server
    except CannotRun as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def uploaded(server, lake):
    for name in lakes_to_upload.QUESTIONS:
        server.upload(lake / name, name)


@pytest.fixture(scope="session")
def _session_proxy(server):
    with start_proxy(server.port) as proxy:
        yield proxy


@pytest.fixture
def proxy(_session_proxy):
    """The proxy, passing everything on."""
    _session_proxy.reset()
    yield _session_proxy
    _session_proxy.reset()


@pytest.fixture
def cloud(monkeypatch, tmp_path):
    """An environment that knows no cloud, with a cache and a home of its own: the cache."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def s3(monkeypatch, cloud, proxy, uploaded):
    """The bucket by the environment's variables, through the proxy."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
    return proxy


@pytest.fixture
def explain(tmp_path):
    """Run `whyscan explain`; SECRET must be nowhere."""

    def run(table, question, *more):
        done = commands.whyscan(
            "explain", table, "-w", question, "--format", "json", "--verbose", *more, cwd=tmp_path
        )
        assert SECRET not in done.out + done.err
        return done

    return run


@pytest.fixture
def remote(explain):
    """The report of a table of the bucket."""

    def run(name, *more):
        done = explain(f"s3://{BUCKET}/{name}", lakes_to_upload.QUESTIONS[name], *more)
        assert done.code == 0, done.err
        return json.loads(done.out)

    return run


@pytest.fixture
def local(explain, lake):
    """The report of the same table on this machine."""

    def run(name):
        done = explain(lake / name, lakes_to_upload.QUESTIONS[name])
        assert done.code == 0, done.err
        return json.loads(done.out)

    return run
