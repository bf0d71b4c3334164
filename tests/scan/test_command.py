"""`whyscan scan`: a whole file or none, and a pipe."""

from __future__ import annotations

import io
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from whyscan.cli.main import run

ROWS = pa.table({"id": [1, 2, 3], "name": ["a", None, "c"], "tags": [["x"], [], None]})


@pytest.fixture
def table(tmp_path):
    folder = tmp_path / "table"
    folder.mkdir()
    pq.write_table(ROWS, folder / "a.parquet")
    return str(folder)


def test_parquet_arrow_and_csv_hold_the_rows_that_match(table, tmp_path):
    for form in ("parquet", "arrow", "csv"):
        assert run(["scan", table, "-w", "id <> 2", "-o", str(tmp_path / f"out.{form}")]) == 0

    expected = ROWS.take([0, 2]).to_pylist()
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == expected
    with pa.ipc.open_stream(tmp_path / "out.arrow") as stream:
        assert stream.read_all().to_pylist() == expected
    printed = csv.read_csv(
        tmp_path / "out.csv", convert_options=csv.ConvertOptions(strings_can_be_null=True)
    )
    assert printed.column("name").to_pylist() == ["a", "c"]
    assert printed.column("tags").to_pylist() == ['["x"]', None]


def test_columns_come_in_the_order_that_was_asked(table, capfdbinary):
    assert run(["scan", table, "-s", "name,id", "-o", "-"]) == 0

    assert capfdbinary.readouterr().out == b'"name","id"\n"a",1\n,2\n"c",3\n'


def test_a_pipe_takes_any_format(table, capfdbinary):
    assert run(["scan", table, "-s", "id", "--format", "arrow"]) == 0

    with pa.ipc.open_stream(io.BytesIO(capfdbinary.readouterr().out)) as stream:
        assert stream.read_all().to_pylist() == [{"id": 1}, {"id": 2}, {"id": 3}]


def test_a_file_that_is_there_stays_unless_forced(table, tmp_path, capfd):
    output = tmp_path / "out.csv"
    output.write_text("mine")

    assert run(["scan", table, "-o", str(output)]) == 2
    assert output.read_text() == "mine"
    assert (
        capfd.readouterr().err == f"error: {output} is there already\nhint: --force replaces it\n"
    )
    assert run(["scan", table, "-s", "id", "-o", str(output), "--force"]) == 0
    assert output.read_text() == '"id"\n1\n2\n3\n'


@pytest.mark.parametrize(
    "case",
    [
        (["-o", "out.xlsx"], 2, "does not say its format"),
        (["-s", "nobody"], 3, "nobody"),
        (["-w", "1 / (id - 2) > 0", "-o", "out.parquet"], 3, "cannot evaluate"),
        (["-w", "id +"], 3, "error"),
    ],
)
def test_an_error_is_one_line_and_leaves_no_file(table, tmp_path, monkeypatch, capfd, case):
    arguments, code, words = case
    monkeypatch.chdir(tmp_path)

    assert run(["scan", table, *arguments]) == code
    assert words in capfd.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["table"]


def test_rows_that_cannot_be_judged_leave_standard_output_empty(table, capfd):
    assert run(["scan", table, "-w", "1 / (id - 2) > 0"]) == 3
    assert capfd.readouterr().out == ""


def test_an_interrupted_write_leaves_nothing(table, tmp_path, monkeypatch):
    from whyscan.cli import row_formats

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(row_formats._RowGroupWriter, "write", interrupted)

    assert run(["scan", table, "-o", str(tmp_path / "out.parquet")]) == 130
    assert [path.name for path in tmp_path.iterdir()] == ["table"]


def test_a_reader_that_goes_away_is_no_error(table):
    code = f"import sys; from whyscan.cli.main import run; sys.exit(run(['scan', {table!r}]))"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        errors = process.stderr.read()
    assert (process.returncode, errors) == (0, b"")
