"""Two reports of one question: counted by hand, and from the command line."""

import json

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from jsonschema import Draft202012Validator

from support.commands import whyscan
from support.formats import text
from support.lakes import delta_users, users
from support.memory_table import DataFile, MemoryTable, RowGroup
from support.reports import explain
from whyscan.reports.diff import compare
from whyscan.reports.diff.files import FileChange
from whyscan.reports.document import document
from whyscan.tree.types import INT

SAME_BOUNDS = {"a": (1, 5), "b": (10, 15), "c": (20, 25)}


def numbers(bounds):
    files = [DataFile(path, {}, [RowGroup(4, {"n": ends})]) for path, ends in bounds.items()]
    return MemoryTable({"n": INT}, files, footers_describe_files=False, uri="numbers")


def compared(before, after, predicate):
    return compare(*(explain(table, predicate, verbose=True) for table in (before, after)))


def fates(difference):
    return {fate: count for fate, count in difference.files.counts.items() if count}


def test_every_file_meets_one_fate():
    before = numbers({"a": (1, 5), "b": (10, 15), "c": (20, 25), "d": (30, 35), "e": (40, 45)})
    after = numbers({"a": (1, 5), "b": (1, 15), "c": (10, 25), "f": (1, 9), "g": (50, 60)})
    difference = compared(before, after, "n <= 5 OR n BETWEEN 20 AND 36")

    assert fates(difference) == {
        FileChange.READ_STILL: 2,  # a, c
        FileChange.READ_NOW: 1,  # b
        FileChange.REMOVED_READ: 1,  # d
        FileChange.REMOVED_SKIPPED: 1,  # e
        FileChange.ADDED_READ: 1,  # f
        FileChange.ADDED_SKIPPED: 1,  # g
    }
    assert dict(difference.files.changed())["b"] is FileChange.READ_NOW


def test_a_table_is_the_same_as_itself():
    difference = compared(numbers(SAME_BOUNDS), numbers(SAME_BOUNDS), "n > 12")

    assert fates(difference) == {FileChange.READ_STILL: 2, FileChange.SKIPPED_STILL: 1}
    assert (difference.appeared, difference.gone) == ((), ())
    assert not list(difference.files.changed())
    assert "as many files" in text(difference)


def test_findings_come_and_go_by_their_codes():
    bare = numbers({"a": (1, 5)})
    blind = MemoryTable(
        {"n": INT}, [DataFile("a", {}, [RowGroup(4)])], footers_describe_files=False
    )
    difference = compared(bare, blind, "n > 3")

    assert "NO_STATISTICS" in {finding.code.value for finding in difference.appeared}
    assert "new warning NO_STATISTICS" in text(difference)
    assert "NO_STATISTICS" in {f.code.value for f in compared(blind, bare, "n > 3").gone}


def test_a_level_that_one_side_lacks_is_null():
    difference = compared(delta_users(), users(), "country = 'DE'")

    levels = {change.level: change for change in difference.levels}
    assert levels["files"].before is not None
    assert valid(document(difference))["levels"]


@pytest.mark.parametrize(("tolerance", "passed"), [(0.0, False), (33.0, False), (34.0, True)])
def test_a_regression_is_points_lost(tolerance, passed):
    """Two of three files are skipped before, two of six after."""
    worse = numbers({**SAME_BOUNDS, "d": (1, 100), "e": (1, 100), "f": (1, 100)})
    difference = compared(numbers(SAME_BOUNDS), worse, "n > 18").gated(tolerance, None)

    (assertion,) = difference.assertions
    assert assertion.actual == 33.333
    assert difference.passed is passed


def test_reading_less_is_no_regression():
    better = numbers({"a": (1, 5), "b": (10, 15), "c": (16, 17)})
    difference = compared(numbers(SAME_BOUNDS), better, "n > 18").gated(0.0, 0.0)

    assert [a.actual for a in difference.assertions] == [0.0, 0.0]
    assert difference.passed


def valid(difference):
    done = whyscan("schema", "diff", cwd=".")
    complaints = list(Draft202012Validator(json.loads(done.out)).iter_errors(difference))
    assert complaints == []
    return difference


@pytest.fixture(scope="module")
def versions(tmp_path_factory):
    """Three versions by delta-rs: two files, a third, then all in one."""
    folder = tmp_path_factory.mktemp("versions")
    table = folder / "t"
    for start in (0, 100, 200):
        write_deltalake(table, pa.table({"n": range(start, start + 100)}), mode="append")
    DeltaTable(table).optimize.compact()
    return folder


def test_two_versions_of_one_table(versions):
    done = whyscan(
        "diff", "t", "--from", "2", "--to", "3", "-w", "n < 50", "--format", "json", "-v",
        cwd=versions,
    )  # fmt: skip
    difference = valid(json.loads(done.out))

    assert done.code == 0
    assert (difference["before"]["version"], difference["after"]["version"]) == (2, 3)
    assert difference["files"]["removed_read"] == 1
    assert difference["files"]["removed_skipped"] == 2
    assert difference["files"]["added_read"] == 1
    assert len(difference["changes"]) == 4


def test_a_regression_fails_the_gate(versions):
    done = whyscan(
        "diff", "t", "--from", "2", "-w", "n < 50", "--max-regression", "10", cwd=versions
    )

    assert done.code == 1
    assert "fail  regression: 66.667 points, at most 10 points asked" in done.out
    assert done.out.startswith("reads 1 of 1 file (100 %) instead of 1 of 3 (33.3 %)")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["diff", "t", "-w", "n < 5"], 2, "nothing to compare"),
        (["diff", "t", "--from", "99", "-w", "n < 5"], 3, "99"),
        (["diff", "t", "--from", "main", "-w", "n < 5"], 2, "no ref"),
        (["diff", "t", "nowhere", "-w", "n < 5"], 3, "nowhere"),
    ],
)
def test_what_cannot_be_compared_is_one_line(versions, arguments, code, said):
    done = whyscan(*arguments, cwd=versions)

    assert (done.code, done.out) == (code, "")
    assert said in done.err.splitlines()[0]
