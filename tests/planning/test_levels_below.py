"""A level below row groups: the plan, the report and every format carry it without knowing it."""

from __future__ import annotations

import json

import pytest

from planning.plans import planned
from support.memory_table import BYTES_A_ROW, DataFile, DeepMemoryTable, RowGroup
from whyscan.planning.plan.scan_plan import Depth
from whyscan.planning.rows.limit import limited
from whyscan.scan.tasks import tasks
from whyscan.table import Table
from whyscan.tables.cached_snapshot import with_cache
from whyscan.tree.types import DOUBLE, INT


def part(rows, lower, upper, **others):
    return RowGroup(rows, {"x": (lower, upper)}, **others)


# The row groups of b and the first of a leave `x = 5` open, and only their parts decide it.
SPLIT = [
    DataFile("a", {}, [part(4, 0, 9, parts=[part(2, 0, 1), part(2, 5, 9)]), part(2, 3, 8)]),
    DataFile("b", {}, [part(4, 0, 9, parts=[part(1, 0, 1), part(3, 8, 9)])]),
    DataFile("c", {}, [part(2, 20, 30, parts=[part(2, 20, 30)])]),
]


def lake(*, footers=False, data=SPLIT, kind=INT):
    return DeepMemoryTable({"x": kind}, data, footers_describe_files=footers)


def plan_of(sql="x = 5", *, table=None, **options):
    return planned(table or lake(), sql, depth=Depth.ROW_GROUPS, **options)


@pytest.mark.parametrize("footers", [False, True], ids=["log", "footers"])
@pytest.mark.parametrize("cached", [False, True])
def test_the_plan_has_a_level_below_row_groups(footers, cached):
    table = lake(footers=footers)

    plan = plan_of(table=with_cache(table) if cached else table)

    level = plan.counted.levels[-1]
    assert [lev.name for lev in plan.counted.levels] == ["files", "row_groups", "parts"]
    assert level.verdicts.kept.tolist() == [False, True, False, False]
    assert plan.counted.row_group_level.opened.tolist()[:3] == [True, False, True]


def test_a_row_group_is_not_read_if_none_of_its_parts_is_kept():
    plan = plan_of()

    assert [(scan.path, scan.row_groups) for scan in plan] == [("a", (0, 1))]
    assert [(task.at, sorted(task.groups)) for task in tasks(plan.evidence)] == [(0, [0, 1])]
    assert plan.evidence.judgement.kept.tolist() == [True, True, False]


def test_the_summary_counts_every_level():
    summary = plan_of().summary

    assert [(n.level, n.total, n.kept) for n in summary.levels] == [
        ("files", 3, 2),
        ("row_groups", 3, 3),
        ("parts", 4, 1),
    ]
    assert [n.total for n in (summary + summary).levels] == [6, 6, 8]
    assert (summary.files_kept, summary.row_groups_kept, summary.manifests_kept) == (2, 3, None)


def test_the_report_counts_the_level_in_json_and_in_text():
    report = Table(lake()).explain("x = 5", depth="row-groups")

    [*_, level] = json.loads(report.to_json())["levels"]
    assert level["level"] == "parts"
    assert (level["total"], level["kept"], level["all"]) == (4, 1, 0)
    assert (level["bytes_kept"], level["rows_total"]) == (2 * BYTES_A_ROW, 8)
    assert json.loads(report.to_json())["levels"][1]["files_emptied"] == 1
    assert level["pruned_by"] == {"partition": 0, "statistics": 3}
    [line] = [line for line in report.to_text().splitlines() if line.startswith("parts ")]
    assert "1 of 4" in line
    assert "parts" in report.to_markdown()
    assert "parts" in report.to_html()


def test_parts_bound_the_number_of_matching_rows():
    report = Table(lake()).explain("x >= 5", depth="row-groups")

    # a: one part with 2 rows matches, the row group of 2 rows may; b: one part with 3 rows.
    assert (report.rows_matched.at_least, report.rows_matched.at_most) == (2 + 3 + 2, 2 + 2 + 3 + 2)


def test_a_limit_leaves_out_the_parts_of_files_that_are_left_out():
    cut = limited(plan_of("x >= 8"), 2).counted

    assert cut.judgement.kept.tolist() == [False, True, False]
    assert cut.levels[-1].verdicts.kept.tolist() == [False, False, False, True, False]
    assert cut.before_limit.levels[-1].verdicts.kept.tolist() == [False, True, False, True, True]


def test_no_part_has_nan_if_no_value_is_nan():
    group = part(3, 1.0, 2.0, nan=True, parts=[part(3, 1.0, 2.0, nan=True)])
    table = lake(data=[DataFile("a", {}, [group])], kind=DOUBLE)

    plan = plan_of("x > 5", table=table, full=True, assume_no_nan=True)

    assert not any(level.verdicts.kept.any() for level in plan.counted.levels)
    spared = plan_of("x > 5", table=table).counted.levels[-1].verdicts
    assert (spared.kept.tolist(), spared.kept_without_nan.tolist()) == ([True], [False])


def test_a_row_group_whose_parts_could_not_be_opened_is_read():
    [a, *others] = SPLIT
    [first, second] = a.groups
    closed = replace_groups(a, [replace_parts(first), second])

    plan = plan_of(table=lake(data=[closed, *others]))

    assert [(scan.path, scan.row_groups) for scan in plan] == [("a", (0, 1))]


def replace_groups(file, groups):
    return DataFile(file.path, file.partition, groups)


def replace_parts(group):
    return RowGroup(group.rows, group.bounds)
