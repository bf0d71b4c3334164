"""A log that is no regular file is refused before anything waits for it."""

import os

import pytest

from whyscan.errors import TableError
from whyscan.spark.stages.workload.logs import find_logs

LOGS = {
    "pipe": "is not a regular file",
    "/dev/zero": "is not a regular file",
    "/dev/stdin": "is not a regular file",
    "a" * 300: "there is no ",
    "a\0b": "there is no ",
    "a\udcff": "there is no ",
}


@pytest.mark.parametrize(("name", "said"), LOGS.items())
def test_a_log_that_is_no_file_is_refused(tmp_path, monkeypatch, name, said):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    # Under pytest standard input is a file: what a shell gives is not.
    if name == "/dev/stdin" and os.path.isfile(name):  # noqa: PTH113 - a name, not a path of ours
        pytest.skip("standard input is a file here")

    with pytest.raises(TableError, match=said):
        find_logs([name], {})
