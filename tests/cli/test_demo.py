"""`whyscan demo`: the lake it writes, what it leaves alone, and what it prints."""

from pathlib import Path

from pyarrow import parquet

import commands
from whyscan.cli.lake import FLAT, USERS


def rows(folder: Path, table: str):
    """Every row of a table, by its folders and columns."""
    found = []
    for path in sorted((folder / table).rglob("*.parquet")):
        keys = dict(part.split("=") for part in path.parts if "=" in part)
        found += [row | keys for row in parquet.ParquetFile(path).read().to_pylist()]
    return sorted(tuple(sorted(row.items())) for row in found)


def test_users_are_the_same_rows_in_both_layouts(lake):
    assert rows(lake, "users") == rows(lake, "users-flat")
    assert sorted(age for ages in FLAT for age in ages) == sorted(user.age for user in USERS)


def test_two_runs_write_the_same_bytes_and_print_the_same_text(tmp_path):
    first = commands.whyscan("demo", cwd=tmp_path)
    before = {p: p.read_bytes() for p in sorted(tmp_path.rglob("*")) if p.is_file()}
    second = commands.whyscan("demo", cwd=tmp_path)
    after = {p: p.read_bytes() for p in sorted(tmp_path.rglob("*")) if p.is_file()}

    assert (first.code, first.err) == (0, "")
    assert first == second
    assert before == after


PROMISED = (
    "reads 1 of 12 files (8.3 %)",
    "reads 1 of 6 files (16.7 %)",
    "reads 4 of 6 files (66.7 %)",
    "2 of its 3 row groups",
    "1 more row group would go without NaN",
    "NAN_UNCOUNTED",
)


def test_the_tour_shows_what_it_promises_and_writes_nowhere_else(tmp_path):
    run = commands.whyscan("demo", "lake", cwd=tmp_path)

    said = " ".join(run.out.split())
    assert [promise for promise in PROMISED if promise not in said] == []
    assert [path.name for path in tmp_path.iterdir()] == ["lake"]


def test_a_folder_with_something_else_is_left_alone(tmp_path):
    (tmp_path / "users").mkdir()
    (tmp_path / "users" / "precious").write_text("mine", "utf-8")

    run = commands.whyscan("demo", ".", cwd=tmp_path)

    assert (run.code, run.out) == (2, "")
    assert "--force" in run.err
    assert [path.name for path in tmp_path.rglob("*")] == ["users", "precious"]


def test_force_writes_beside_what_is_there(tmp_path):
    (tmp_path / "precious").write_text("mine", "utf-8")

    assert commands.whyscan("demo", ".", "--force", cwd=tmp_path).code == 0
    assert (tmp_path / "precious").read_text("utf-8") == "mine"


def test_a_file_in_the_way_is_told(tmp_path):
    (tmp_path / "lake").write_text("", "utf-8")

    run = commands.whyscan("demo", "lake", cwd=tmp_path)

    assert run.code == 2
    assert "Traceback" not in run.err
