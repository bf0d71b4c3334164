"""Properties of PyIceberg's, as obstore takes them. What a real store checks is in other files."""

from __future__ import annotations

import pytest

from whyscan.errors import UsageError
from whyscan.tables.catalogs.credentials import credential
from whyscan.tables.catalogs.entry import CatalogEntry
from whyscan.tables.catalogs.names import TableName
from whyscan.tables.catalogs.settings import storage_options
from whyscan.tables.storage.connections import connect, option_name

NAME = TableName("prod", ("db", "t"))
S3, GS = "s3://b/t", "gs://b/t"
AZ = "abfss://c@acc.dfs.core.windows.net/t"
R = {"region": "r"}
KEYS = {"s3.access-key-id": "k", "s3.secret-access-key": "canary"}


def options(place, configured, words=None):
    return storage_options(CatalogEntry(None, configured), place, NAME, words or {})


def secrets(place, *layers):
    kind = {"s3": "s3", "gs": "gs"}.get(place.partition(":")[0], "az")
    secret = credential(kind, place, CatalogEntry(None, layers[-1], layers[:-1]))
    return None if secret is None else (dict(secret.secrets), secret.until)


@pytest.mark.parametrize(
    ("place", "properties", "expected"),
    [
        (
            S3,
            {"s3.endpoint": "http://e", "s3.region": "r"},
            {"endpoint": "http://e", "region": "r"},
        ),
        ("s3a://b/t", {"client.region": "r"}, {"region": "r"}),
        (S3, {"s3.region": "r", "client.region": "other"}, {"region": "r"}),
        (S3, {"s3.profile-name": "p"}, {"profile": "p"}),
        (S3, {"s3.anonymous": "true"}, {"skip_signature": "true"}),
        (S3, {"s3.proxy-uri": "http://p"}, {"proxy_url": "http://p"}),
        (
            S3,
            {"s3.connect-timeout": "3", "s3.request-timeout": "4.5"},
            {"connect_timeout": "3s", "read_timeout": "4.5s"},
        ),
        (S3, {"s3.path-style-access": "true"}, {"virtual_hosted_style_request": "false"}),
        (S3, {"s3.force-virtual-addressing": "true"}, {"virtual_hosted_style_request": "true"}),
        (
            S3,
            {"s3.force-virtual-addressing": "True", "s3.endpoint": "http://e:1"},
            {"virtual_hosted_style_request": "true", "endpoint": "http://b.e:1"},
        ),
        (GS, {"gcs.service.host": "http://g", "s3.region": "r"}, {"base_url": "http://g"}),
        (GS, {"gcs.no-auth": "true"}, {"skip_signature": "true"}),
        (AZ, {"adls.account-name": "acc", "adls.tenant-id": "t"}, {"tenant_id": "t"}),
        ("az://c/t", {"adls.account-name": "acc"}, {"account_name": "acc"}),
        (
            AZ,
            {"adls.client-id": "i", "adls.client-secret": "canary"},
            {"client_id": "i", "client_secret": "canary"},
        ),
        ("/lake/t", {"s3.region": "r", **KEYS}, {}),
    ],
)
def test_settings(place, properties, expected):
    assert options(place, properties) == expected


@pytest.mark.parametrize(
    ("place", "properties", "expected"),
    [
        (S3, KEYS, {"access_key_id": "k", "secret_access_key": "canary", "token": None}),
        (
            S3,
            {"client.access-key-id": "k", "client.secret-access-key": "s"},
            {"access_key_id": "k", "secret_access_key": "s", "token": None},
        ),
        (S3, {"s3.access-key-id": "k"}, None),
        (GS, {"gcs.oauth2.token": "t"}, {"token": "t"}),
        (AZ, {"adls.sas-token": "?sv=1&sig=x"}, {"sas_token": "sv=1&sig=x"}),
        (AZ, {"adls.sas-token.acc": "mine", "adls.sas-token": "any"}, {"sas_token": "mine"}),
        (AZ, {"adls.sas-token.acc.dfs.core.windows.net": "mine"}, {"sas_token": "mine"}),
        (AZ, {"adls.sas-token.other": "theirs"}, None),
        (AZ, {"adls.token": "t"}, {"token": "t"}),
        (AZ, {"adls.account-key": "YQ=="}, {"access_key": "YQ=="}),
        (
            AZ,
            {"adls.connection-string": "AccountName=acc;AccountKey=YQ==;"},
            {"access_key": "YQ=="},
        ),
    ],
)
def test_configured_credentials_have_no_end(place, properties, expected):
    assert secrets(place, properties) == (None if expected is None else (expected, None))


@pytest.mark.parametrize(
    ("place", "vended", "ends"),
    [
        (S3, {**KEYS, "s3.session-token": "t", "s3.session-token-expires-at-ms": "1000"}, True),
        (S3, {**KEYS, "s3.session-token": "t"}, True),
        (S3, {**KEYS, "s3.session-token": "t", "s3.session-token-expires-at-ms": "soon"}, True),
        (S3, KEYS, False),
        (GS, {"gcs.oauth2.token": "t", "gcs.oauth2.token-expires-at": 1000}, True),
        (AZ, {"adls.sas-token.acc": "s", "adls.sas-token-expires-at-ms.acc": "1000"}, True),
        (AZ, {"adls.sas-token": "s", "adls.sas-token-expires-at-ms": "9" * 30}, True),
    ],
)
def test_vended_credentials_end_when_the_catalog_says_so_and_sessions_always(place, vended, ends):
    _, until = secrets(place, vended, {})

    assert (until is not None) == ends


def test_a_provider_reaches_every_kind_of_store():
    for place, properties in [
        (S3, KEYS),
        (GS, {"gcs.oauth2.token": "canary"}),
        (AZ, {"adls.sas-token": "sig=canary"}),
    ]:
        portable = options(place, properties)
        backend = connect(place.removesuffix("/t"), portable).backend

        assert backend.credential_provider is portable["credential_provider"]
        assert "canary" not in f"{backend!r} {portable!r}"


def test_a_provider_is_a_function():
    with pytest.raises(UsageError, match="takes a function"):
        connect("s3://b", {"credential_provider": "canary"})


@pytest.mark.parametrize(
    "words",
    [
        {"access_key_id": "mine"},
        {"AWS_ACCESS_KEY_ID": "mine"},
        {"profile": "mine"},
        {"skip_signature": "true"},
    ],
)
def test_the_users_credentials_replace_the_catalogs(words):
    assert options(S3, {**KEYS, "s3.anonymous": "true"}, words) == words


def test_the_users_settings_replace_the_catalogs_by_any_of_their_names():
    catalogs = {"s3.endpoint": "http://theirs", "s3.region": "theirs"}

    assert options(S3, catalogs, {"AWS_ENDPOINT_URL": "http://mine", "aws_region": "r"}) == {
        "AWS_ENDPOINT_URL": "http://mine",
        "aws_region": "r",
    }


def test_the_users_credentials_open_what_the_catalog_would_sign():
    assert options(S3, {"s3.signer": "x"}, {"profile": "mine"}) == {"profile": "mine"}


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("AWS_ENDPOINT_URL_S3", "endpoint"),
        ("google_base_url", "endpoint"),
        ("azure_account_name", "account_name"),
        ("region", "region"),
    ],
)
def test_options_by_their_plain_names(words, name):
    assert option_name(words) == name


def test_nothing_secret_is_shown():
    entry = CatalogEntry("s3://b/t/metadata/v1.metadata.json", KEYS, (KEYS,), {"a": "canary"}, dict)

    assert "canary" not in repr(entry)
    assert "canary" not in repr(credential("s3", S3, entry))
