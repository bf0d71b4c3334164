"""A store that fails: asked again, then a typed error, and never half an answer or a secret."""

from __future__ import annotations

import time

import pytest

from tables.storage.faults import Fault, Kind
from tables.storage.lakes_to_upload import QUESTIONS
from tables.storage.seaweed import BUCKET, SECRET
from tables.storage.test_s3 import answer

pytestmark = pytest.mark.xdist_group("s3")

# What each format cannot do without.
NEEDED = {"hive": ".parquet", "delta": "_delta_log/0", "iceberg": "metadata/"}
IMPATIENT = ("--option", "max_retries=2", "--option", "retry_timeout=3")


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_fault_that_passes_changes_nothing(s3, remote, local, name, kind):
    s3.faults.append(Fault(kind, times=1, match=NEEDED[name], seconds=0.3))

    report = remote(name)

    assert s3.faults[0].times == 0
    assert answer(report) == answer(local(name))


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.SLOW])
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_fault_that_stays_is_an_error_and_no_answer(s3, explain, cloud, name, kind):
    s3.faults.append(Fault(kind, match=NEEDED[name]))

    run = explain(f"s3://{BUCKET}/{name}", QUESTIONS[name], *IMPATIENT)

    assert (run.code, run.out) == (3, "")
    assert run.err.startswith(f"error: cannot read s3://{BUCKET}/{name}/"), run.err
    assert len(run.err.splitlines()) <= 2
    assert "Authorization" not in run.err
    assert "Credential=" not in run.err


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_listing_that_fails_is_an_error_and_no_smaller_table(s3, explain, name):
    s3.faults.append(Fault(Kind.UNAVAILABLE, match="list-type=2"))

    run = explain(f"s3://{BUCKET}/{name}", QUESTIONS[name], *IMPATIENT)

    assert (run.code, run.out) == (3, "")
    assert "503 Service Unavailable" in run.err


def test_a_listing_that_is_cut_off_is_an_error_and_no_smaller_table(s3, explain):
    s3.faults.append(Fault(Kind.CUT, match="list-type=2"))

    run = explain(f"s3://{BUCKET}/hive", QUESTIONS["hive"], *IMPATIENT)

    assert (run.code, run.out) == (3, "")


def test_retries_back_off(s3, explain):
    s3.faults.append(Fault(Kind.UNAVAILABLE, match="list-type=2"))
    began = time.monotonic()

    explain(f"s3://{BUCKET}/hive", QUESTIONS["hive"], "--option", "max_retries=4")

    assert sum("_delta_log" in path for path in s3.seen) == 5
    assert time.monotonic() - began > 0.3


def test_what_failed_is_not_kept(s3, explain, remote, local):
    s3.faults.append(Fault(Kind.SHORT, match=NEEDED["delta"]))
    explain(f"s3://{BUCKET}/delta", QUESTIONS["delta"], *IMPATIENT)
    s3.reset()

    assert answer(remote("delta")) == answer(local("delta"))


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_secret_is_ever_in_the_cache(s3, remote, cloud, name):
    s3.faults.append(Fault(Kind.UNAVAILABLE, times=2))
    remote(name)

    kept = [file for file in cloud.rglob("*") if file.is_file()]
    assert kept
    assert not [
        file for file in kept if SECRET in file.name or SECRET.encode() in file.read_bytes()
    ]


def test_a_store_that_never_answers_is_given_up(s3, explain):
    # A client without patience would get the answer at last, and report.
    s3.faults.append(Fault(Kind.SLOW, match="list-type=2", seconds=60))

    run = explain(
        f"s3://{BUCKET}/hive", QUESTIONS["hive"], "--option", "read_timeout=300ms", *IMPATIENT
    )

    assert (run.code, run.out) == (3, "")
