"""Tables in a bucket on Spark: only the executors get the driver's keys."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import pytest

from tables.storage.lakes_to_upload import QUESTIONS
from tables.storage.seaweed import BUCKET, KEY, SECRET

pytestmark = pytest.mark.spark

PROGRAM = Path(__file__).with_name("on_executors.py")


@pytest.fixture
def done(server, uploaded, tmp_path):
    """What the program found, and all that it and Spark have written."""
    profile = {
        "region": "us-east-1",
        "endpoint_url": server.endpoint,
        "aws_access_key_id": KEY,
        "aws_secret_access_key": SECRET,
    }
    credentials = tmp_path / "credentials"
    credentials.write_text("\n".join(["[lake]", *(f"{k} = {v}" for k, v in profile.items())]))
    by_variables = {
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_ENDPOINT_URL": server.endpoint,
    }
    by_profile = {"AWS_PROFILE": "lake", "AWS_SHARED_CREDENTIALS_FILE": str(credentials)}
    workload = tmp_path / "queries.sql"
    workload.write_text(
        "".join(f"SELECT * FROM {name} WHERE {question};\n" for name, question in QUESTIONS.items())
    )
    events = tmp_path / "events"
    events.mkdir()
    question = {
        "events": events.as_uri(),
        "scratch": str(tmp_path / "scratch"),
        "keys": [by_variables, by_profile, by_variables],
        "lake": f"s3://{BUCKET}",
        "questions": QUESTIONS,
        "workload": str(workload),
    }
    unknowing = {name: text for name, text in os.environ.items() if not name.startswith("AWS_")}
    ended = subprocess.run(
        [sys.executable, PROGRAM],
        input=json.dumps(question),
        env=unknowing | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    logs = [file.read_text() for file in events.rglob("*") if file.is_file()]
    assert any("SparkListenerSQLExecutionStart" in log for log in logs)
    return json.loads(ended.stdout), [ended.stdout, ended.stderr, *logs]


def test_every_stage_reads_a_bucket_whose_keys_only_the_driver_has(done):
    outcomes, written = done

    assert outcomes.pop("known to workers") == []
    shown = "".join(outcomes.pop("shown"))
    audited = outcomes.pop("audit")
    for name, outcome in outcomes.items():
        assert outcome["in parts"] == outcome["levels"], name
        assert outcome["source"] == outcome["read"] == outcome["rows"] > 0, name
        assert outcome["inventory"] >= outcome["files"], name
        assert outcome["errors"] == 0, name
        assert outcome["proof"] == 0, name
        assert audited[name] == [level["kept"] for level in outcome["levels"]], name
    assert "whyscan" in shown
    assert "nowhere" in shown
    encoded = b64encode(SECRET.encode()).decode()[:-4]
    for secret in (SECRET, encoded, SECRET.encode().hex()):
        assert all(secret not in text for text in [shown, *written])
