"""What a REST catalog may answer: credentials that end, prefixes, signatures, views, refusals."""

from __future__ import annotations

import json
import time
from datetime import datetime, timedelta
from itertools import count

import boto3
import pytest

import whyscan
from tables.catalogs import events
from tables.catalogs.conftest import EVERYTHING
from tables.storage.seaweed import KEY, SECRET
from whyscan.errors import StorageError
from whyscan.tables.catalogs import credentials

LOAD = "namespaces/db/tables/events"
UNCLEAR = "cannot ask the catalog 'prod': its answer cannot be read"
VIEW = "namespaces/db/views/events"


@pytest.fixture
def vend(rest, in_bucket, server):
    """Serve the table of the bucket, with a configuration of the test's choosing."""
    table, _ = in_bucket

    def serve(config, **more):
        def loaded():
            settings = config() if callable(config) else config
            return {
                "metadata-location": table.metadata_location,
                "metadata": json.loads(table.metadata.model_dump_json()),
                "config": {"s3.endpoint": server.endpoint, **settings},
                **more,
            }

        rest.table(loaded)
        return rest

    return serve


@pytest.fixture
def user(server):
    """A user of the store whose keys come and go."""
    iam = boto3.client(
        "iam",
        endpoint_url=server.endpoint,
        aws_access_key_id=KEY,
        aws_secret_access_key=SECRET,
        region_name="us-east-1",
    )
    iam.create_user(UserName="vended")
    iam.put_user_policy(
        UserName="vended",
        PolicyName="all",
        PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [EVERYTHING]}),
    )
    yield User(iam)
    iam.close()


class User:
    def __init__(self, iam):
        self.iam = iam
        self.valid = None

    def new_key(self):
        """The only key that works from now on."""
        made = self.iam.create_access_key(UserName="vended")["AccessKey"]
        if self.valid is not None:
            self.iam.delete_access_key(UserName="vended", AccessKeyId=self.valid)
        self.valid = made["AccessKeyId"]
        return {"s3.access-key-id": self.valid, "s3.secret-access-key": made["SecretAccessKey"]}


def kept(table):
    return [scan.path for scan in table.plan(events.QUESTION)]


def in_seconds(seconds):
    return str(int((time.time() + seconds) * 1000))


@pytest.fixture
def clock(monkeypatch):
    """The clock by which credentials are renewed: `ahead` puts it forward."""

    class Clock(datetime):
        ahead = timedelta()

        @classmethod
        def now(cls, tz):
            return datetime.now(tz) + cls.ahead

    monkeypatch.setattr(credentials, "datetime", Clock)
    return Clock


# Seconds: below the five minutes for which obstore keeps credentials without a question.
LIFE = 200
# Seconds for which obstore keeps any credentials.
KEPT_AT_LEAST = 0.2
KEYS = {"s3.access-key-id": KEY, "s3.secret-access-key": SECRET}
EXPIRY = "s3.session-token-expires-at-ms"


@pytest.mark.xdist_group("s3")
class TestCredentials:
    def test_they_are_asked_for_again_when_they_end_and_only_then(self, vend, user, clock):
        ends = (in_seconds(life) for life in (LIFE, 1000))
        rest = vend(lambda: {**user.new_key(), EXPIRY: next(ends)})

        table = whyscan.open("prod.db.events", storage={"cache": "off"})
        first = kept(table)
        assert rest.count(LOAD) == 1
        old = user.valid
        clock.ahead = timedelta(seconds=LIFE)
        time.sleep(KEPT_AT_LEAST)
        second, third = kept(table), kept(table)

        assert rest.count(LOAD) == 2
        assert user.valid != old
        assert len(first) == 2
        assert first == second == third

    def test_what_is_not_renewed_is_an_error_that_says_so(self, vend, rest, clock):
        vend({**KEYS, EXPIRY: in_seconds(LIFE)})
        table = whyscan.open("prod.db.events", storage={"cache": "off"})
        rest.serve(LOAD, lambda: (503, {"error": "canary"}))
        clock.ahead = timedelta(seconds=LIFE)
        time.sleep(KEPT_AT_LEAST)

        with pytest.raises(StorageError, match="its credentials could not be renewed") as raised:
            kept(table)
        assert SECRET not in f"{raised.value}"
        assert raised.value.__cause__ is None

    def test_of_several_prefixes_the_longest_counts(self, vend, in_bucket, report):
        place = in_bucket[0].location()
        wrong = {"s3.access-key-id": "nobody", "s3.secret-access-key": "canary"}
        grants = [
            {"prefix": "s3://", "config": wrong},
            {"prefix": place, "config": KEYS},
            {"prefix": f"{place}/data", "config": wrong},
            {"prefix": "s3://lake/ware", "config": wrong},
        ]
        vend(wrong, **{"storage-credentials": grants})

        assert report("prod.db.events")["levels"][1]["total"] == 4

    def test_a_vended_token_is_not_mixed_with_configured_keys(self, vend, configure, report):
        configure("prod", **{"s3.session-token": "canary", "s3.access-key-id": "nobody"})
        vend(KEYS)

        assert report("prod.db.events")["levels"][1]["total"] == 4

    def test_the_users_keys_stand_before_the_vended(self, vend, report, error):
        vend({"s3.access-key-id": "nobody", "s3.secret-access-key": "canary"})
        mine = ("--option", f"access_key_id={KEY}", "--option", f"secret_access_key={SECRET}")

        assert report("prod.db.events", *mine)["levels"][1]["total"] == 4
        assert "permission denied" in error("prod.db.events")

    def test_a_table_cannot_send_credentials_elsewhere(self, vend, rest, report):
        """Who writes a table sets its properties, and not the client's."""
        vend(KEYS)
        answer = rest.answers[f"/v1/{LOAD}"]()[1]
        answer["metadata"]["properties"] |= {
            "s3.endpoint": "http://127.0.0.1:1",
            "py-io-impl": "antigravity.fly",
        }
        rest.table(lambda: answer)

        assert report("prod.db.events")["levels"][1]["total"] == 4

    def test_remote_signing_is_not_used_with_keys(self, vend, report):
        vend({**KEYS, "s3.remote-signing-enabled": "true"})

        assert report("prod.db.events")["levels"][1]["total"] == 4

    def test_a_type_that_pyiceberg_does_not_know_stops_nothing(self, vend, rest, report):
        vend(KEYS, **{"metadata-location": None})
        answer = rest.answers[f"/v1/{LOAD}"]()[1]
        answer["metadata"]["format-version"] = 3
        field = {"id": 3, "name": "v", "required": False, "type": "variant"}
        answer["metadata"]["schemas"][0]["fields"].append(field)
        rest.table(lambda: answer)

        assert report("prod.db.events")["levels"][1]["kept"] == 2

    def test_metadata_that_is_in_no_file_comes_from_the_answer(self, vend, in_bucket, report):
        vend(KEYS, **{"metadata-location": None})

        document = report("prod.db.events")

        assert document["levels"][1]["total"] == 4
        assert document["table"]["uri"] == in_bucket[0].location()
        assert document["notes"] == [
            "by the catalog prod, table db.events: its metadata, of which there is no file"
        ]


@pytest.mark.xdist_group("s3")
@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"s3.remote-signing-enabled": "true"}, "signs each request to S3 itself"),
        ({"s3.signer": "S3V4RestSigner"}, "which obstore cannot do"),
        ({"s3.role-arn": "arn:aws:iam::1:role/r"}, "the role arn:aws:iam::1:role/r, which obstore"),
    ],
)
def test_what_obstore_cannot_do_is_an_error(vend, error, config, said):
    vend(config)

    assert said in error("prod.db.events")


def test_a_view_is_not_taken_for_a_table(rest, error):
    rest.serve(VIEW, lambda: (200, {}))

    assert "prod.db.events is a view" in error("prod.db.events")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((403, {"error": "canary"}), "permission denied"),
        ((500, "canary"), "it answers 500 Internal Server Error"),
        ((599, "canary"), "it answers 599"),
        ((200, "canary"), UNCLEAR),
        ((200, {"config": "canary"}), UNCLEAR),
        ((200, {"metadata": "canary"}), UNCLEAR),
        ((200, {"metadata": {}, "metadata-location": ["canary"]}), UNCLEAR),
        ((200, {"metadata": {"format-version": 9}}), "format version '9' is not supported"),
        ((200, {"metadata": {"format-version": 2}}), "the metadata is malformed"),
        ((200, {"metadata": {}, "storage-credentials": "canary"}), UNCLEAR),
        ((200, {"metadata": {}, "config": ["canary"]}), UNCLEAR),
    ],
)
def test_a_strange_answer_is_one_line(rest, error, answer, said):
    rest.serve(LOAD, lambda: answer)

    assert said in error("prod.db.events")


def test_a_token_that_ended_is_renewed(rest, configure, error):
    configure("prod", credential="me:canary")
    tries = count()
    # The configuration is asked for with the first token, the table with the second.
    rest.accepted = lambda _: 419 if next(tries) == 1 else 200

    assert "has no table db.events" in error("prod.db.events")
    assert len(rest.tokens) == 3


def test_a_token_that_is_not_accepted(rest, configure, error):
    configure("prod", token="canary")
    rest.accepted = lambda token: 401 if token == "Bearer canary" else 200

    assert "it does not accept the credentials" in error("prod.db.events")


def test_a_server_that_is_not_there(configure, error):
    configure("prod", uri="http://127.0.0.1:1")

    assert "cannot ask the catalog 'prod': it did not answer" in error("prod.db.events")


def test_names_are_written_in_percent_codes(rest, error):
    error("prod.db.`a/b c`")
    error("prod.`d.b`.inner.`é`")

    assert "/v1/namespaces/db/tables/a%2Fb%20c" in rest.requests
    assert "/v1/namespaces/d.b%1Finner/tables/%C3%A9" in rest.requests
