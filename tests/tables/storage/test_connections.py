"""How a store is reached: addresses, the environment, profiles and options; secrets stay inside."""

from __future__ import annotations

import pickle

import pytest

from whyscan.errors import StorageError, UsageError
from whyscan.tables.storage.aws_profiles import read_profile
from whyscan.tables.storage.connections import connect, portable_options
from whyscan.tables.storage.locations import parse

CANARY = "canary/secret%with=signs"


@pytest.fixture
def aws(cloud, monkeypatch):
    """Writes the two files of AWS into an empty home; no keys in the environment."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    folder = cloud.parent / "home" / ".aws"
    folder.mkdir(parents=True)

    def write(config="", credentials=""):
        (folder / "config").write_text(config)
        (folder / "credentials").write_text(credentials)

    return write


@pytest.mark.parametrize(
    ("address", "store", "path"),
    [
        ("s3://b/a/t/", "s3://b", "a/t"),
        ("S3A://b/t", "s3a://b", "t"),
        ("gs://b/t", "gs://b", "t"),
        ("az://c/t", "az://c", "t"),
        ("abfss://c@acc.dfs.core.windows.net/t", "abfss://c@acc.dfs.core.windows.net", "t"),
        ("https://h/a%20b/f.parquet", "https://h", "a b/f.parquet"),
        ("https://a.blob.core.windows.net/c/t", "https://a.blob.core.windows.net/c", "t"),
        ("s3://b/a%20b", "s3://b", "a%20b"),
    ],
)
def test_addresses(address, store, path):
    place = parse(address)

    assert (place.store, place.path, place.pattern) == (store, path, None)


def test_a_question_mark_is_a_wildcard_in_a_bucket():
    assert parse("s3://b/t/part-?.parquet").pattern == "part-?.parquet"


@pytest.mark.parametrize(
    "address",
    [
        f"s3://key:{CANARY}@b/t",
        "s3://canary@b/t",
        "s3://b/t?X-Amz-Signature=canary",
        "https://h/t?canary",
        "abfss://c:canary@acc.dfs.core.windows.net/t",
    ],
)
def test_credentials_in_an_address_are_refused_and_not_repeated(address):
    with pytest.raises(UsageError) as raised:
        parse(address)

    assert "canary" not in f"{raised.value} {raised.value.hint}"


@pytest.mark.parametrize(
    "address",
    [
        "s3://b",
        "s3a://b",
        "s3n://b",
        "gs://b",
        "gcs://b",
        "az://c",
        "adl://c",
        "abfs://c@acc.dfs.core.windows.net",
        "wasbs://c@acc.blob.core.windows.net",
        "https://h",
        "https://acc.blob.core.windows.net/c",
    ],
)
def test_every_usual_spelling_opens_a_store(cloud, monkeypatch, address):
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "acc")

    assert connect(address, {}).backend is not None


def test_azures_own_variables_name_the_account(cloud, monkeypatch):
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "acc")
    monkeypatch.setenv("AZURE_STORAGE_KEY", "Y2FuYXJ5")

    config = connect("az://c", {}).backend.config

    assert (config["account_name"], config["account_key"]) == ("acc", "Y2FuYXJ5")


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("az://c", "Y2FuYXJ5"),
        ("abfss://c@acc.dfs.core.windows.net", "Y2FuYXJ5"),
        ("https://acc.blob.core.windows.net/c", "Y2FuYXJ5"),
        ("abfss://c@other.dfs.core.windows.net", None),
        ("https://other.blob.core.windows.net/c", None),
    ],
)
def test_a_connection_string_serves_its_own_account(cloud, monkeypatch, address, key):
    text = "DefaultEndpointsProtocol=https;AccountName=acc;AccountKey=Y2FuYXJ5;EndpointSuffix=x"
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", text)

    assert connect(address, {}).backend.config.get("account_key") == key


@pytest.mark.parametrize(
    "options",
    [
        {"no_such_option": CANARY},
        {"region": "r", "max_retries": CANARY},
        {"concurrency": CANARY},
        {"timeout": CANARY},
    ],
)
def test_a_wrong_option_does_not_show_its_value(cloud, options):
    with pytest.raises((StorageError, UsageError)) as raised:
        connect("s3://b", options)

    assert "canary" not in f"{raised.value} {raised.value.hint} {raised.value.__cause__}"


def test_endpoints_tell_stores_apart_without_their_secrets(cloud):
    one = connect("s3://b", {"endpoint": f"http://user:{CANARY}@one:1/?{CANARY}"}).identity
    two = connect("s3://b", {"AWS_ENDPOINT_URL": "http://two:1"}).identity

    assert one != two
    assert "canary" not in one


def test_the_endpoint_of_the_environment_tells_stores_apart(cloud, monkeypatch):
    before = connect("s3://b", {}).identity
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://elsewhere:1")

    assert connect("s3://b", {}).identity != before


def test_reads_at_once_by_option_and_environment(cloud, monkeypatch):
    assert connect("s3://b", {}).at_once == 64
    monkeypatch.setenv("WHYSCAN_CONCURRENCY", "7")
    assert connect("s3://b", {}).at_once == 7
    assert connect("s3://b", {"concurrency": 5}).at_once == 5


def test_the_cache_can_be_turned_off(cloud, monkeypatch):
    assert connect("s3://b", {}).cache is not None
    assert connect("s3://b", {"cache": False}).cache is None
    monkeypatch.setenv("WHYSCAN_CACHE_SIZE", "0")
    assert connect("s3://b", {}).cache is None


def test_a_profile_is_read_from_both_files(aws):
    aws(
        "[default]\nregion = us-west-2\n[profile p]\nregion=eu-west-1\nendpoint_url=http://e\n",
        f"[p]\naws_access_key_id = k\naws_secret_access_key = {CANARY}\n",
    )

    profile = read_profile("p")

    assert profile.settings == {"region": "eu-west-1", "endpoint": "http://e"}
    assert (profile.keys.access_key_id, profile.keys.secret_access_key) == ("k", CANARY)
    assert "canary" not in repr(profile)


def test_the_endpoint_of_a_service_comes_before_the_profiles(aws):
    aws(
        "[profile p]\nendpoint_url = http://all\nservices = mine\n"
        "[services mine]\nec2 =\n  endpoint_url = http://ec2\ns3 =\n  endpoint_url = http://s3\n"
    )

    assert read_profile("p").settings["endpoint"] == "http://s3"


def test_without_files_there_is_no_profile(aws):
    assert read_profile(None) is None
    with pytest.raises(UsageError, match="no AWS profile 'p'"):
        read_profile("p")


def test_the_environments_region_and_endpoint_come_before_the_profiles(aws, monkeypatch):
    aws("[default]\nregion = us-west-2\nendpoint_url = http://profile\n")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://environment")

    config = connect("s3://b", {}).backend.config

    assert "us-west-2" not in config.values()
    assert "http://profile" not in config.values()


@pytest.mark.parametrize("how", ["sso_session = s", "credential_process = x", "source_profile = y"])
def test_a_profile_whose_keys_aws_must_fetch_says_what_to_do(aws, monkeypatch, how):
    aws(f"[profile p]\n{how}\n")

    with pytest.raises(UsageError) as raised:
        connect("s3://b", {"profile": "p"})
    assert "export-credentials --profile p" in raised.value.hint

    monkeypatch.setenv("AWS_PROFILE", "p")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "k")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    assert connect("s3://b", {}).backend is not None


@pytest.mark.parametrize("broken", [f"no section = {CANARY}", f"[default\naws_secret = {CANARY}"])
def test_a_broken_file_is_named_and_not_quoted(aws, broken):
    aws(credentials=broken)

    with pytest.raises(UsageError) as raised:
        connect("s3://b", {})

    assert "canary" not in f"{raised.value} {raised.value.__cause__}"
    assert ".aws/credentials" in str(raised.value)


TRAVELLING = [
    (
        "s3://b",
        {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": CANARY, "AWS_SESSION_TOKEN": "t"},
        {"access_key_id": "k", "secret_access_key": CANARY, "session_token": "t"},
    ),
    (
        "s3://b",
        {"AWS_ENDPOINT_URL": "http://every", "AWS_ENDPOINT_URL_S3": "http://s3"},
        {"endpoint": "http://s3"},
    ),
    ("gs://b", {"GOOGLE_BASE_URL": "http://g"}, {"base_url": "http://g"}),
    (
        "az://c",
        {"AZURE_STORAGE_ACCOUNT_NAME": "acc", "AZURE_STORAGE_ACCOUNT_KEY": "Y2FuYXJ5"},
        {"account_name": "acc", "account_key": "Y2FuYXJ5"},
    ),
    (
        "abfss://c@own.dfs.core.windows.net",
        {"AZURE_STORAGE_ACCOUNT_NAME": "acc", "AZURE_STORAGE_SAS_TOKEN": "sig=a"},
        {"account_name": "own", "sas_key": "sig=a"},
    ),
]


@pytest.mark.parametrize(("address", "variables", "expected"), TRAVELLING)
def test_what_the_environment_says_goes_along_with_a_store(
    cloud, monkeypatch, address, variables, expected
):
    with monkeypatch.context() as patch:
        for name, text in variables.items():
            patch.setenv(name, text)
        sent = pickle.dumps(connect(address, {}).backend)
        options = portable_options(address, {"cache": "off"})

    there = pickle.loads(sent).config
    again = connect(address, options).backend.config

    assert {name: there.get(name) for name in expected} == expected
    assert {name: again.get(name) for name in expected} == expected
    assert options["cache"] == "off"


def test_a_profile_goes_along_with_a_store(aws, monkeypatch):
    aws(credentials=f"[lake]\naws_access_key_id = k\naws_secret_access_key = {CANARY}\n")

    options = portable_options("s3://b/t", {"profile": "lake"})
    sent = pickle.dumps((connect("s3://b", {"profile": "lake"}).backend, options))
    aws()
    backend, there = pickle.loads(sent)

    assert backend.credential_provider()["secret_access_key"] == CANARY
    assert connect("s3://b", there).backend.credential_provider()["access_key_id"] == "k"
    assert CANARY not in repr(options)


def test_keys_that_were_given_are_not_mixed_with_those_of_the_environment(cloud, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "other")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "other")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "other")

    keys = {"aws_access_key_id": "k", "aws_secret_access_key": "s"}
    options = portable_options("s3://b", keys)

    assert options == keys


def test_a_folder_of_this_machine_needs_nothing(cloud, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "k")

    assert portable_options("/lake/t", {}) == {}
