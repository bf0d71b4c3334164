"""A process of the command line: what it leaves out changes no answer; its end loses nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
