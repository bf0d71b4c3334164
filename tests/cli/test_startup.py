"""A process of the command line: what it leaves out changes no answer; its end loses nothing."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pytest
from deltalake import write_deltalake


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_a_process_that_ends_at_once_removes_its_folders_and_says_everything(tmp_path):
    folder = tmp_path / "copies"
    folder.mkdir()
    code = f"""
import shutil, sys, weakref
from whyscan.cli.startup import end
class Copies: pass
kept = Copies()
weakref.finalize(kept, shutil.rmtree, {str(folder)!r})
sys.stdout.write("without a line's end")
end(3)
"""
    result = run(code)
    assert (result.returncode, result.stdout) == (3, "without a line's end")
    assert not folder.exists()


@pytest.mark.parametrize(("place", "loaded"), [("s3://bucket/table", True), ("./table", False)])
def test_the_parser_is_imported_beside_requests_and_not_beside_a_disk(place, loaded):
    code = f"""
import sys
from whyscan.cli.startup import loading_the_parser
with loading_the_parser([{place!r}]):
    pass
print("sqlglot.dialects.spark" in sys.modules)
"""
    assert run(code).stdout.strip() == str(loaded)


def test_a_delta_log_is_read_beside_the_parser_and_without_duckdbs_package(tmp_path):
    write_deltalake(tmp_path / "users", pa.table({"age": [30, 50]}))
    code = f"""
import sys
from whyscan.cli import main
from whyscan.tables.delta.snapshot import DeltaSnapshot
begin = DeltaSnapshot.read_ahead
def read_ahead(snapshot, columns):
    print("expected", [c.path for c in columns], "sqlglot" in sys.modules, file=sys.stderr)
    begin(snapshot, columns)
DeltaSnapshot.read_ahead = read_ahead
code = main.run(["explain", {str(tmp_path / "users")!r}, "-w", "age > 40", "--depth", "files"])
print(code, "duckdb" in sys.modules, file=sys.stderr)
"""
    assert run(code).stderr.splitlines() == ["expected [('age',)] False", "0 False"]
