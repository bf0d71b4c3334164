"""A process of the command line: what it leaves out changes no answer; its end loses nothing."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pytest
from deltalake import write_deltalake

ALL_KERNELS = """
import pyarrow.compute as pc
plain = {name for name, f in vars(pc).items() if hasattr(f, "__arrow_compute_function__")}
print(*sorted(plain))
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_arrow_without_its_documentation_has_every_kernel():
    every = run(ALL_KERNELS).stdout.split()
    assert len(every) > 200
    code = f"""
from whyscan.cli.startup import begin, load_arrow
begin()
load_arrow()
import pyarrow.compute as pc
print(*(name for name in {every!r} if not callable(getattr(pc, name, None))))
print(hasattr(pc, "no_such_kernel"))
"""
    assert run(code).stdout.splitlines() == ["", "False"]


def test_kernels_made_when_called_take_the_same_arguments():
    code = """
from whyscan.cli.startup import load_arrow
load_arrow()
import pyarrow as pa, pyarrow.compute as pc
values = pa.array([3, None, 1])
print(pc.sum(values, min_count=0), pc.and_(True, False), pc.take(values, pa.array([2])).to_pylist())
print(pc.if_else(pc.greater(values, 2), values, 0).to_pylist(), pc.fill_null(values, 7).to_pylist())
print(pc.rank(values, "descending").to_pylist(), pc.match_substring("abc", pattern="b"))
"""
    assert run(code).stdout.splitlines() == [
        "4 False [1]",
        "[3, None, 0] [3, 7, 1]",
        "[1, 3, 2] True",
    ]


def test_numpy_without_its_documentation_still_has_its_types():
    code = """
import sys
from whyscan.cli.startup import load_arrow
load_arrow()
print("numpy._typing" in sys.modules)
import numpy as np, numpy.typing as npt
print(npt.NDArray[np.bool_], np.linalg.norm([3, 4]))
"""
    assert run(code).stdout.splitlines() == [
        "False",
        "numpy.ndarray[tuple[typing.Any, ...], numpy.dtype[numpy.bool]] 5.0",
    ]


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
    found = run(code)
    assert (found.returncode, found.stdout) == (3, "without a line's end")
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


def test_arrow_takes_arrays_without_importing_masked_ones_and_numpy_still_has_them():
    code = """
import sys
from whyscan.cli.startup import load_arrow
load_arrow()
import numpy as np, pyarrow as pa
print(pa.array(np.array([1, 2])).to_pylist(), "numpy.ma" in sys.modules)
print(np.ma.masked_array([1, 2], mask=[False, True]).sum())
import numpy.ma
print(pa.array(numpy.ma.masked_array([1, 2], mask=[False, True])).to_pylist())
"""
    assert run(code).stdout.splitlines() == ["[1, 2] False", "1", "[1, None]"]


def test_numpy_starts_no_threads_and_leaves_the_environment_as_it_was():
    code = """
import os
from pathlib import Path
os.environ.pop("OPENBLAS_NUM_THREADS", None)
from whyscan.cli import startup
startup._load_numpy()
print(len(list(Path("/proc/self/task").iterdir())), "OPENBLAS_NUM_THREADS" in os.environ)
"""
    assert run(code).stdout.split() == ["1", "False"]


def test_a_delta_log_is_read_beside_the_parser_and_without_duckdbs_package(tmp_path):
    write_deltalake(tmp_path / "users", pa.table({"age": [30, 50]}))
    code = f"""
import sys
from whyscan.cli import main
from whyscan.tables.delta.snapshot import DeltaSnapshot
begin = DeltaSnapshot.expect
def expect(snapshot, columns):
    print("expected", [c.path for c in columns], "sqlglot" in sys.modules, file=sys.stderr)
    begin(snapshot, columns)
DeltaSnapshot.expect = expect
code = main.run(["explain", {str(tmp_path / "users")!r}, "-w", "age > 40", "--depth", "files"])
print(code, "duckdb" in sys.modules, file=sys.stderr)
"""
    assert run(code).stderr.splitlines() == ["expected [('age',)] False", "0 False"]
