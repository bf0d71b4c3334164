"""An audit leaves no temporary folder behind, however it ends."""

import os
import signal
import subprocess
import time
from contextlib import contextmanager

import pytest

from support.commands import WHYSCAN
from whyscan.demo.lake import write_lake

pytestmark = pytest.mark.spark

QUERY = "SELECT * FROM users WHERE country = 'DE';\n"
PATIENCE = 120


@pytest.fixture
def lake(tmp_path):
    """A folder whose name is a glob: a Delta log in it is read through links that we make."""
    folder = tmp_path / "la[k]e"
    write_lake(folder, force=False)
    (tmp_path / "temporary").mkdir()
    (tmp_path / "log.sql").write_text(QUERY)
    return folder


@contextmanager
def begun(lake, workload):
    arguments = ("audit", "--workload", workload, "--table", f"users={lake / 'users-delta'}")
    with (
        (lake.parent / "stderr").open("wb") as stderr,
        subprocess.Popen(
            [str(WHYSCAN), *arguments],
            cwd=lake.parent,
            env={**os.environ, "TMPDIR": str(lake.parent / "temporary")},
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        ) as audit,
    ):
        yield audit


def left_behind(lake):
    return sorted(path.name for path in (lake.parent / "temporary").glob("whyscan-*"))


@pytest.mark.parametrize(("workload", "codes"), [("log.sql", {0}), ("nothing.sql", {2, 3})])
def test_nothing_is_left_after_a_report_and_after_an_error(lake, workload, codes):
    with begun(lake, workload) as audit:
        code = audit.wait(PATIENCE)

    assert code in codes
    assert left_behind(lake) == []


def is_gone(group):
    """Wait until no process of a group is left; the Java process ends after its Python process."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("seconds", [0, 1, 5])
def test_nothing_is_left_after_it_was_ended(lake, number, seconds):
    with begun(lake, "log.sql") as audit:
        until = time.monotonic() + PATIENCE
        while not left_behind(lake) and time.monotonic() < until:
            time.sleep(0.05)
        assert left_behind(lake), "it never began"
        time.sleep(seconds)
        os.killpg(audit.pid, number)
        code = audit.wait(PATIENCE)

    assert code in {130, 0}, "it was ended, or was done before"
    assert left_behind(lake) == []
    assert "Traceback" not in (lake.parent / "stderr").read_text("utf-8")
    assert is_gone(audit.pid)
