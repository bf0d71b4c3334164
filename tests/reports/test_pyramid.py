"""The pyramid in its units: containers, bytes, rows, and the bytes of selected columns."""

from support.lakes import delta_users, one_file, prices, users
from support.memory_table import DataFile, MemoryTable, RowGroup
from support.reports import explained
from whyscan.table import Table
from whyscan.tree.types import INT


def levels(document):
    return {level["level"]: level for level in document["levels"]}


def test_checked_and_kept_differs_from_nothing_to_check_with():
    bounds = {"checked": {"x": (1, 9)}, "blind": {}, "gone": {"x": (20, 30)}}
    files = [DataFile(name, {}, [RowGroup(5, b)]) for name, b in bounds.items()]

    for footers in (False, True):
        table = MemoryTable({"x": INT}, files, footers_describe_files=footers)
        counts = levels(explained(table, "x < 5"))
        assert {name: (v["kept"], v["kept_unchecked"]) for name, v in counts.items()} == {
            "files": (2, 1),
            "row_groups": (2, 1),
        }


def test_a_file_with_one_row_group_that_was_checked_was_checked():
    table = one_file(INT, RowGroup(5), RowGroup(5, {"x": (1, 9)}))
    counts = levels(explained(table, "x < 5"))

    assert (counts["files"]["kept_unchecked"], counts["row_groups"]["kept_unchecked"]) == (0, 1)


def test_what_cannot_be_read_is_no_check():
    counts = levels(explained(delta_users(), "my_function(age) = 1", depth="files"))

    assert counts["files"]["kept_unchecked"] == 6


def test_one_conjunct_that_was_checked_is_a_check():
    document = explained(delta_users(), "my_function(age) = 1 AND age > 45", depth="files")

    assert levels(document)["files"]["kept"] == 3
    assert levels(document)["files"]["kept_unchecked"] == 0


def test_files_that_match_whole_were_checked():
    assert levels(explained(users(), "country = 'DE'"))["files"]["kept_unchecked"] == 0


def test_selected_columns_have_bytes_of_their_own():
    report = Table(prices()).explain("x > 1000", select=["x"])
    counts = levels(report.to_dict())["row_groups"]

    assert (counts["selected_bytes_total"], counts["selected_bytes_kept"]) == (1500, 1000)
    assert "selected_bytes_total" not in levels(explained(prices(), "x > 1000"))["row_groups"]
