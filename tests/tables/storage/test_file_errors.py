"""Errors of files on this machine: they say what the system said, and no network is blamed."""

import errno
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from support.commands import whyscan as run
from whyscan.tables.storage.refusals import refused

OBSTORE = "Generic LocalFileSystem error: Unable to open file /t/a.parquet: {} (os error {})"


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO, errno.EMFILE])
def test_an_error_of_the_system_is_named(code):
    error = refused("/t/a.parquet", RuntimeError(OBSTORE.format(os.strerror(code), code)))

    assert error.message == f"cannot read /t/a.parquet: {os.strerror(code).lower()}"
    assert error.hint == ("ls -l shows who may read it" if code == errno.EACCES else None)
    assert isinstance(error, whyscan.AccessDenied) == (code == errno.EACCES)


def test_a_name_that_the_store_cannot_read_is_the_reason(tmp_path):
    folder = tmp_path / "p=\x1b[31mred"
    folder.mkdir()
    pq.write_table(pa.table({"a": [1]}), folder / "x.parquet")

    shown = run("explain", tmp_path, "-w", "a = 1", cwd=tmp_path)

    assert (shown.code, shown.out) == (3, "")
    assert "has a character that cannot be read" in shown.err
    assert "\x1b" not in shown.err
    assert "did not answer" not in shown.err


def test_a_file_that_was_cut_off_says_so(tmp_path):
    pq.write_table(pa.table({"a": list(range(1000))}), tmp_path / "x.parquet")
    whole = (tmp_path / "x.parquet").read_bytes()
    (tmp_path / "x.parquet").write_bytes(whole[:4] + whole[-8:])

    with pytest.raises(whyscan.CorruptFile, match=r"declares a footer of .* and has 12 bytes") as e:
        whyscan.open(tmp_path).plan("a = 1")

    assert e.value.hint == "it was cut off or overwritten: restore it from a copy"
