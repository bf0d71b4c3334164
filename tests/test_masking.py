"""Credentials in locations are masked, and nothing else is."""

import itertools
import pickle
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whyscan.errors import CorruptFile, PredicateError, TextSpan, UnknownTable
from whyscan.masking import MASK, credential_spans, mask_credentials

MASKED = {
    "s3://KEY:SECRET@bucket/t": "s3://***@bucket/t",
    "s3a://KEY:SEC/RET+x=@bucket/t": "s3a://***@bucket/t",
    "s3://KEY:SEC/RET": "s3://***",
    "s3://KEY:SE'CRET@bucket/t": "s3://***@bucket/t",
    "s3:/KEY:SECRET@bucket/t": "s3:/***@bucket/t",
    "s3//KEY:SECRET@bucket/t": "s3//***@bucket/t",
    "/folder/KEY:SECRET@bucket/t": "/folder/***@bucket/t",
    "https://token@host/t": "https://***@host/t",
    "https://user:password@host:80/t?a=b": "https://***@host:80/t?a=b",
    "abfss://container:password@account/t": "abfss://***@account/t",
    "abfss://c@account.dfs.core.windows.net/t?sig=x": (
        "abfss://c@account.dfs.core.windows.net/t?sig=***"
    ),
    "az://c/t?sv=1&sig=ab%2Fcd%3D&se=2": "az://c/t?sv=1&sig=***&se=2",
    "https://h/t?X-Amz-Signature=a&X-Amz-Credential=K%2F1&X-Amz-Date=1": (
        "https://h/t?X-Amz-Signature=***&X-Amz-Credential=***&X-Amz-Date=1"
    ),
    "https://h/t?X-Amz-Security-Token=a": "https://h/t?X-Amz-Security-Token=***",
    "https://h/t?AWSAccessKeyId=a&Signature=b": "https://h/t?AWSAccessKeyId=***&Signature=***",
    "https://h/t?X-Goog-Signature=a&X-Goog-Credential=b": (
        "https://h/t?X-Goog-Signature=***&X-Goog-Credential=***"
    ),
    "https://h/?to=https%3A%2F%2Fh%2F%3Fsig%3Da&x=1": (
        "https://h/?to=https%3A%2F%2Fh%2F%3Fsig%3D***&x=1"
    ),
    "s3://b/x,s3://K:S@c/y": "s3://b/x,s3://***@c/y",
    "lake/t?password=x": "lake/t?password=***",
    "lake/t?access_token=x": "lake/t?access_token=***",
    "jdbc:postgresql://u:p@h:5432/db": "jdbc:postgresql://***@h:5432/db",
    "/folder/jdbc:postgresql:/u:p@h/db": "/folder/jdbc:postgresql:/***@h/db",
    "jdbc:sqlserver://h:1433;user=sa;password=my pass;x=1": (
        "jdbc:sqlserver://h:1433;user=sa;password=***;x=1"
    ),
    "jdbc:sqlserver://h;password={a;b};x=1": "jdbc:sqlserver://h;password=***;x=1",
    "jdbc:databricks://h:443/x;UID=token;PWD=dapi1": "jdbc:databricks://h:443/x;UID=token;PWD=***",
    "jdbc:oracle:thin:scott/tiger@//h:1521/x": "jdbc:oracle:thin:***@//h:1521/x",
    "jdbc:mysql://(host=h,user=u,password=p)/db": "jdbc:mysql://(host=h,user=u,password=***)/db",
    "mongodb://u:p@h1:27017,h2:27017/": "mongodb://***@h1:27017,h2:27017/",
    "AccountName=x;AccountKey=abc==;EndpointSuffix=y": (
        "AccountName=x;AccountKey=***;EndpointSuffix=y"
    ),
    "SELECT * FROM parquet.`s3://K:S@b/t` WHERE u = 'https://h/?sig=a' AND x = 'y'": (
        "SELECT * FROM parquet.`s3://***@b/t` WHERE u = 'https://h/?sig=***' AND x = 'y'"
    ),
}

UNTOUCHED = (
    "",
    "s3://bucket/a@b/c",
    "s3://bucket/mail=me@example.com/part-0.parquet",
    "s3://bucket/token=abc/part-0.parquet",
    "s3://bucket/part-?.parquet",
    "abfss://container@account.dfs.core.windows.net/t",
    "file:///home/me@work/t",
    "/lake/a:b/c",
    "http://localhost:9000/t",
    "http://[::1]:9000/t",
    "hdfs://nn1:8020,nn2:8020/t",
    "cannot open hdfs://nn1:8020: it is not there",
    "cannot open http://[::1]:80: it is not there",
    "cannot open s3://bucket: it is not there",
    "jdbc:oracle:thin:@h:1521/x",
    "jdbc:hive2://h:10000/db;ssl=true",
    "a = 1 AND password = 'x' AND a.password=b.password",
    "at > '2024-01-01 10:00:00' AND mail = 'me@example.com'",
    "say where it is: --table NAME=URI",
    "name:first::string = 'x'",
)


@pytest.mark.parametrize(("text", "shown"), MASKED.items())
def test_credentials_of_a_location_are_masked_once_and_for_all(text, shown):
    assert mask_credentials(text) == shown
    assert mask_credentials(shown) == shown


@pytest.mark.parametrize("text", UNTOUCHED)
def test_text_without_credentials_stays_the_same_object(text):
    assert mask_credentials(text) is text


@given(st.text(st.sampled_from("ab:/@?&=;s3jdc.%'` \n"), max_size=60))
def test_spans_are_ordered_and_masking_twice_changes_nothing(text):
    spans = credential_spans(text)
    shown = mask_credentials(text)

    assert all(0 <= start < stop <= len(text) for start, stop in spans)
    assert all(a[1] < b[0] for a, b in itertools.pairwise(spans))
    assert mask_credentials(shown).count(MASK) == shown.count(MASK)


@pytest.mark.parametrize(
    "piece", ["a:b/", "://", "://a:b", "x@", "?a", "?a=", "?sig=", "jdbc:", "//a:b", "@a:b/", ";"]
)
def test_a_hostile_text_takes_no_more_than_its_length(piece):
    text = piece * (200_000 // len(piece)) + "="
    started = time.process_time()

    mask_credentials(text)

    assert time.process_time() - started < 5


def test_an_error_masks_message_and_hint_and_underlines_the_same_words():
    text = "SELECT * FROM t1 JOIN parquet.`s3://KEY:SECRET@b/t` x ON nope = 1"
    span = TextSpan(text.index("nope"), text.index("nope") + 4)

    error = UnknownTable("no s3://KEY:SECRET@b/t", text=text, span=span, hint="s3://KEY:SECRET@c")
    shown, where = error.shown()

    assert (error.message, error.hint) == ("no s3://***@b/t", "s3://***@c")
    assert "SECRET" not in str(error) + repr(error) + shown
    assert shown[where.start : where.end] == "nope"
    assert (error.text, error.span) == (text, span)


def test_a_span_inside_of_a_credential_is_the_mask():
    text = "x = 's3://KEY:SECRET@b/t'"
    at = text.index("SECRET")

    shown, where = PredicateError("no", text=text, span=TextSpan(at, at + 3)).shown()

    assert shown[where.start : where.end] == MASK


def test_an_error_of_a_path_is_masked_in_a_pickle_too():
    error = pickle.loads(pickle.dumps(UnknownTable("no s3://K:SECRET@b")))

    assert "SECRET" not in str(error)
    assert "SECRET" not in str(CorruptFile("s3://K:SECRET@b/f", "cut"))
