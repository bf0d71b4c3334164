"""The evidence of a plan: its levels from top to bottom, and what is the same on each of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from msgspec.structs import replace

from planning.plans import planned
from support.lakes import delta_users, users
from support.memory_table import DataFile, MemoryTable, RowGroup
from whyscan.planning.plan import blockwise
from whyscan.planning.plan.scan_plan import Depth
from whyscan.planning.rows.limit import limited
from whyscan.planning.why.reasons import reasons
from whyscan.pruning.blocks import Blocks
from whyscan.reports.tally import Workings
from whyscan.tables import cached_snapshot
from whyscan.tables.cached_snapshot import with_cache
from whyscan.tree.types import DOUBLE, INT


@pytest.mark.parametrize(
    ("table", "depth", "names"),
    [
        (delta_users(), Depth.FILES, ["files"]),
        (delta_users(), Depth.ROW_GROUPS, ["files", "row_groups"]),
        (users(), Depth.FILES, ["files", "row_groups"]),
    ],
    ids=["log", "log and footers", "footers"],
)
def test_levels_are_those_that_were_looked_at_top_down(table, depth, names):
    evidence = planned(table, "age > 40", depth=depth).counted

    assert [level.name for level in evidence.levels] == names


@pytest.mark.parametrize("table", [users(), delta_users()], ids=["footers", "log"])
def test_every_level_weighs_what_the_summary_says(table):
    plan = planned(table, "country = 'DE' AND age > 40", depth=Depth.ROW_GROUPS)

    for level in plan.counted.levels:
        kept = level.container_count(level.verdicts.kept)
        assert getattr(plan.summary, f"{level.name}_total") == level.listed.count
        assert getattr(plan.summary, f"{level.name}_kept") == kept


def test_without_the_limit_every_level_has_the_verdicts_of_the_predicate():
    plan = planned(delta_users(), "age > 20", depth=Depth.ROW_GROUPS)

    cut = limited(plan, 1).counted

    for before, level in zip(plan.counted.levels, cut.before_limit.levels, strict=True):
        assert level.verdicts.matrix.tolist() == before.verdicts.matrix.tolist()
    assert cut.judgement.kept.sum() < plan.counted.judgement.kept.sum()


def test_if_no_value_is_nan_no_level_has_nan():
    group = RowGroup(3, {"x": (1.0, 2.0)}, nan=True)
    table = MemoryTable({"x": DOUBLE}, [DataFile("a", {}, [group])], footers_describe_files=False)

    plan = planned(table, "x > 5", depth=Depth.ROW_GROUPS, full=True, assume_no_nan=True)

    for level in plan.counted.levels:
        assert level.listed.containers.statistics["x",].nan is False


def test_a_file_with_an_unreadable_statistic_on_two_levels_is_one_file(monkeypatch):
    monkeypatch.setattr(cached_snapshot, "BLOCKS_FROM", 1)
    monkeypatch.setattr(blockwise, "WORTH_WHILE", 0)
    two_blocks = Blocks(np.arange(6), np.array([0, 3, 6]))
    monkeypatch.setattr(cached_snapshot, "make_blocks", lambda *_: two_blocks)
    files = [DataFile(f"{n}", {}, [RowGroup(3, {"age": (n, n)})]) for n in range(6)]
    table = with_cache(MemoryTable({"age": INT}, files, footers_describe_files=False))
    plan = planned(table, "age >= 4", depth=Depth.ROW_GROUPS)
    unreadable = [plan.counted.files.count - 1]

    evidence = plan.counted
    levels = [
        _with_unreadable(evidence.file_level, unreadable),
        _with_unreadable(evidence.row_group_level, [evidence.row_group_level.count - 1]),
    ]
    counted = replace(evidence, levels=tuple(levels))
    workings = Workings.of(replace(plan, look=lambda: counted), reasons(plan, [True]))

    assert (workings.unreadable, workings.unreadable_files) == (2, 1)


def _with_unreadable(level, positions):
    flagged = np.zeros(level.listed.count, np.bool_)
    flagged[positions] = True
    containers = replace(level.listed.containers, unreadable={("age",): pa.array(flagged)})
    return replace(level, listed=replace(level.listed, containers=containers))
