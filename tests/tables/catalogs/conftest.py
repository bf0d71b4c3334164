"""An environment that knows no catalog and no cloud, and an S3 server that vends credentials."""

from __future__ import annotations

import base64
import json
import os
import time
from contextlib import closing, suppress

import pytest

from support import commands
from tables.catalogs import events
from tables.catalogs.rest_server import serving
from tables.storage.seaweed import BUCKET, KEY, SECRET, STARTED_WITHIN, CannotRun, running

TABLES = "tables"
ROLE = "arn:aws:iam::role/Vend"
CATALOG_MAY_ASSUME = {
    "Effect": "Allow",
    "Principal": {"Federated": "iceberg-catalog"},
    "Action": ["sts:AssumeRoleWithCredentials"],
}
EVERYTHING = {"Effect": "Allow", "Action": ["s3:*", "s3tables:*"], "Resource": ["*"]}
IAM = {
    "sts": {
        "tokenDuration": "1h",
        "maxSessionLength": "12h",
        "issuer": "seaweedfs-sts",
        "signingKey": base64.b64encode(b"0123456789abcdef0123456789abcdef").decode(),
    },
    "policy": {"defaultEffect": "Allow", "storeType": "memory"},
    "policies": [{"name": "All", "document": {"Version": "2012-10-17", "Statement": [EVERYTHING]}}],
    "roles": [
        {
            "roleName": "Vend",
            "roleArn": ROLE,
            "trustPolicy": {"Version": "2012-10-17", "Statement": [CATALOG_MAY_ASSUME]},
            "attachedPolicies": ["All"],
        }
    ],
}


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """SeaweedFS with its Iceberg catalog, which vends credentials for the tables' bucket."""
    folder = tmp_path_factory.mktemp("seaweed")
    (folder / "iam.json").write_text(json.dumps(IAM))
    more = [
        f"-tableBucket={TABLES}",
        f"-s3.iam.config={folder}/iam.json",
        "-s3.iam.readOnly=false",
        f"-s3.iceberg.credentialRole={ROLE}",
        "-s3.iceberg.credentialDurationSeconds=900",
        "-s3.externalUrl=http://127.0.0.1:{s3.port}",
    ]
    try:
        with running(folder, more) as server:
            wait_for_tables(server)
            yield server
    except CannotRun as error:
        pytest.skip(str(error))


def rest_properties(server):
    """What reaches SeaweedFS's catalog, and says nothing of its storage."""
    return {
        "type": "rest",
        "uri": server.catalog,
        "warehouse": f"s3://{TABLES}",
        "credential": f"{KEY}:{SECRET}",
    }


def wait_for_tables(server):
    """The bucket of tables is made after the plain one."""
    until = time.monotonic() + STARTED_WITHIN
    while time.monotonic() < until:
        with suppress(Exception), closing(events.catalog("lake", **rest_properties(server))) as it:
            it.create_namespace_if_not_exists("ready")
            return
        time.sleep(0.1)
    raise RuntimeError("the catalog did not answer")


@pytest.fixture(scope="session")
def s3_keys(server):
    """PyIceberg's properties for the server's own keys."""
    return {
        "s3.endpoint": server.endpoint,
        "s3.access-key-id": KEY,
        "s3.secret-access-key": SECRET,
        "s3.region": "us-east-1",
    }


@pytest.fixture(scope="session")
def in_bucket(server, s3_keys, tmp_path_factory):
    """A table in the plain bucket, and the properties of the SQL catalog that knows it."""
    uri = f"sqlite:///{tmp_path_factory.mktemp('sql')}/catalog.db"
    properties = {"uri": uri, "warehouse": f"s3://{BUCKET}/warehouse", **s3_keys}
    made = events.catalog("prod", **properties)
    table = events.write(made, "db", "events")
    made.close()
    return table, properties


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    """No catalog, no cloud, a home and a cache of its own."""
    for name in list(os.environ):
        if name.startswith(("PYICEBERG_", "AWS_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def configure(monkeypatch):
    """Name a catalog in the environment, as PyIceberg reads it."""

    def add(catalog, **properties):
        for key, value in properties.items():
            name = key.upper().replace(".", "__").replace("-", "_")
            monkeypatch.setenv(f"PYICEBERG_CATALOG__{catalog.upper()}__{name}", value)

    return add


@pytest.fixture
def rest(configure):
    """A REST catalog of this process, configured as `prod`."""
    with serving() as server:
        configure("prod", uri=server.uri)
        yield server


@pytest.fixture
def explain(tmp_path):
    """Run `whyscan explain`; nothing secret may be in what it says, or keeps."""

    def run(table, *more, question=events.QUESTION):
        form = ("--format", "json", "--verbose")
        done = commands.whyscan("explain", table, "-w", question, *form, *more, cwd=tmp_path)
        kept = [f.read_bytes() for f in (tmp_path / "cache").rglob("*") if f.is_file()]
        for secret in (SECRET, "canary"):
            assert secret not in done.out + done.err
            assert not any(secret.encode() in content for content in kept)
        return done

    return run


@pytest.fixture
def report(explain):
    def run(table, *more):
        done = explain(table, *more)
        assert done.code == 0, done.err
        return json.loads(done.out)

    return run


@pytest.fixture
def error(explain):
    """What is said of a table that cannot be opened: one line, perhaps a hint, exit code 3."""

    def run(table, *more):
        done = explain(table, *more)
        assert (done.code, done.out) == (3, ""), done.out + done.err
        assert len(done.err.splitlines()) <= 2, done.err
        return done.err

    return run
