"""`whyscan demo`: the lake it writes, what it leaves alone, and what it prints."""

import re
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable
from pyarrow import parquet
from pyiceberg.table import StaticTable

import whyscan
from support import commands
from support.golden import golden
from whyscan.cli.demo import EVENTS_TOUR, TOUR
from whyscan.demo.lake import FLAT, USERS

TEXT = Path(__file__).parent / "golden" / "demo.txt"
# Paths of the machine stand in Iceberg's metadata: its size is not the same everywhere.
READ = re.compile(r"(?<=objects, )[^ ]+ k?B(?= read)")
ARCHIVE = TOUR[-1]
EVENTS_READ = (
    "reads 720 of 8,760 files",
    "reads 24 of 8,760 files",
    "reads 50 of 17,520 files",
)


def rows(folder: Path, table: str):
    """Every row of a table, by its folders and columns."""
    rows_read = []
    for path in sorted((folder / table).rglob("*.parquet")):
        keys = dict(part.split("=") for part in path.parts if "=" in part)
        rows_read += [row | keys for row in parquet.ParquetFile(path).read().to_pylist()]
    return sorted(tuple(sorted(row.items())) for row in rows_read)


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


def test_the_tour_is_as_it_was_last_read_by_a_person_and_writes_nowhere_else(tmp_path):
    run = commands.whyscan("demo", "lake", cwd=tmp_path)

    said = READ.sub("?", run.out)
    assert said == golden(TEXT, said)
    assert [path.name for path in tmp_path.iterdir()] == ["lake"]


def test_delta_rs_reads_the_same_users_from_the_delta_table(lake):
    users = DeltaTable(lake / "users-delta").to_pyarrow_table().to_pylist()

    assert sorted(tuple(sorted(row.items())) for row in users) == rows(lake, "users")


def test_pyiceberg_keeps_the_same_files_of_the_archive(lake):
    table = StaticTable.from_metadata(str(lake / "archive" / "metadata" / "v1.metadata.json"))
    predicate = re.sub(r"'(2024-..-..)'", r"'\1T00:00:00'", ARCHIVE.predicate).replace("AND", "and")
    planned = {task.file.file_path for task in table.scan(predicate).plan_files()}
    plan = whyscan.open(str(lake / "archive")).plan(ARCHIVE.predicate)

    assert {scan.path for scan in plan.files} == planned
    assert table.scan(predicate).to_arrow().num_rows > 0


def test_only_the_manifests_that_survive_are_read(lake, tmp_path):
    shutil.copytree(lake / "archive", tmp_path / "archive")
    manifests = sorted((tmp_path / "archive" / "metadata").glob("m*.avro"))
    whole = whyscan.open(str(tmp_path / "archive")).explain(ARCHIVE.predicate).to_dict()
    for path in manifests[:13] + manifests[15:]:
        path.unlink()

    again = whyscan.open(str(tmp_path / "archive")).explain(ARCHIVE.predicate).to_dict()

    assert again["levels"] == whole["levels"]
    assert (again["levels"][0]["total"], again["levels"][0]["kept"]) == (40, 2)


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


def test_a_file_in_the_way_is_an_error(tmp_path):
    (tmp_path / "lake").write_text("", "utf-8")

    run = commands.whyscan("demo", "lake", cwd=tmp_path)

    assert run.code == 2
    assert "Traceback" not in run.err


ON_ONE_WORKER = pytest.mark.xdist_group("a medium demo")


@pytest.fixture(scope="module")
def medium(tmp_path_factory):
    """The folder in which a medium lake was written, and what the command printed."""
    folder = tmp_path_factory.mktemp("medium")
    return folder, commands.whyscan("demo", "lake", "--size", "medium", cwd=folder)


@ON_ONE_WORKER
def test_a_medium_lake_has_a_year_of_events_and_its_tour_shows_them(medium):
    _, run = medium

    assert (run.code, run.err) == (0, "")
    for step, first_line in zip(EVENTS_TOUR, EVENTS_READ, strict=True):
        assert f'lake/{step.table} -w "{step.predicate}"\n{first_line}' in run.out


@ON_ONE_WORKER
def test_delta_rs_sees_the_same_files_of_the_events(medium):
    folder, _ = medium

    for name, files in {"events": 365 * 24, "events-streamed": 365 * 48}.items():
        added = DeltaTable(folder / "lake" / name).get_add_actions(flatten=True)
        table = pa.table(added)
        plan = whyscan.open(folder / "lake" / name).plan(depth="files")
        assert table.num_rows == files == plan.summary.files_kept
        assert pc.sum(table["size_bytes"]).as_py() == sum(scan.bytes for scan in plan)
        assert table["null_count.user_id"].to_pylist() == [0] * files


@ON_ONE_WORKER
def test_the_events_are_gone_when_a_small_lake_follows(medium, tmp_path):
    shutil.copytree(medium[0] / "lake", tmp_path / "lake")
    assert list((tmp_path / "lake").glob("events*"))

    commands.whyscan("demo", "lake", cwd=tmp_path)

    assert not list((tmp_path / "lake").glob("events*"))
