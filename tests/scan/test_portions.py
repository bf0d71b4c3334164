"""A plan in portions: every row once, whoever reads them, and nothing sent that is not read."""

from __future__ import annotations

import pickle
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from scan.same_rows import difference
from whyscan.scan.plan_portions import OPENING, portions, whole_plan
from whyscan.scan.reader import read_portion

ROWS = 40
GROUPS = 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Ten files of four row groups each; `id` goes up through all of them."""
    where = tmp_path_factory.mktemp("portions")
    for at in range(10):
        ids = pa.array(range(at * ROWS, (at + 1) * ROWS))
        table = pa.table({"id": ids, "text": pa.array([f"row {i.as_py()}" for i in ids])})
        pq.write_table(table, where / f"{at}.parquet", row_group_size=ROWS // GROUPS)
    return where


def split(plan, about_bytes, at_least):
    return list(portions(whole_plan(plan), plan.evidence, about_bytes, at_least))


def received(plan, about_bytes, at_least):
    """What other processes would read."""
    sent = [pickle.dumps(one) for one in split(plan, about_bytes, at_least)]
    batches = [batch for one in sent for batch in read_portion(pickle.loads(one))]
    return sent, pa.Table.from_batches(batches, plan.to_reader().schema)


@pytest.mark.parametrize("about_bytes", [1, OPENING * 3, 1 << 30])
@pytest.mark.parametrize("predicate", ["true", "id BETWEEN 95 AND 230 AND text LIKE '%5'"])
def test_every_matching_row_is_in_one_portion(folder, predicate, about_bytes):
    plan = whyscan.open(folder).plan(predicate)

    _, rows = received(plan, about_bytes, at_least=2)

    assert difference(rows, plan.to_arrow()) == ""


def test_portions_have_about_as_many_bytes_as_asked(folder):
    plan = whyscan.open(folder).plan("true")

    assert [len(one.tasks) for one in split(plan, 1 << 30, at_least=1)] == [10]
    assert [len(one.tasks) for one in split(plan, 1 << 30, at_least=4)] == [7, 3]
    assert len(split(plan, 1, at_least=1)) == 10 * GROUPS


def test_row_groups_of_a_large_file_go_to_several(folder):
    plan = whyscan.open(folder / "3.parquet").plan("id > 130")

    portions = split(plan, 1, at_least=1)

    assert [list(one.tasks[0].groups) for one in portions] == [[1], [2], [3]]


def test_nothing_of_other_files_travels_with_a_portion(folder):
    table = whyscan.open(folder)
    few, many = (
        len(pickle.dumps(split(table.plan(predicate), 1, at_least=1)[0]))
        for predicate in ("id = 5", "true")
    )

    assert many <= few + 50


def test_a_condition_on_the_files_name_holds_there(folder):
    plan = whyscan.open(folder).plan("_metadata.file_name IN ('1.parquet', '7.parquet')")

    _, rows = received(plan, 1, at_least=1)

    assert Counter(i // ROWS for i in rows["id"].to_pylist()) == {1: ROWS, 7: ROWS}


def test_a_partition_value_beyond_the_years_of_python_arrives(tmp_path):
    where = tmp_path / "day=12024-01-01"
    where.mkdir()
    pq.write_table(pa.table({"id": [1]}), where / "a.parquet")
    plan = whyscan.open(tmp_path, partition_types={"day": "date"}).plan("true")

    _, rows = received(plan, 1, at_least=1)

    assert (
        rows["day"].cast(pa.int32()).to_pylist()
        == plan.to_arrow()["day"].cast(pa.int32()).to_pylist()
    )


def test_an_empty_plan_has_no_portion(folder):
    assert split(whyscan.open(folder).plan("id < 0"), 1, at_least=4) == []


def test_rows_that_cannot_be_evaluated_are_kept_only_for_a_reader_that_can(folder):
    plan = whyscan.open(folder).plan("id < 3 AND levenshtein(text, 'row') > 1")
    (portion,) = split(plan, 1 << 30, at_least=1)

    with pytest.raises(whyscan.WhyscanError):
        list(read_portion(portion))

    (batch,) = read_portion(portion, keep_undecided=True)
    assert batch["id"].to_pylist()[:3] == [0, 1, 2]
