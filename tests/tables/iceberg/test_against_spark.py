"""What Spark writes with Iceberg, asked of its own values: no row lost, none claimed in error, and
no file or manifest that Iceberg itself, or PyIceberg, does without.

Tight is judged without NaN, as both take it that a bound speaks of every value.
"""

from __future__ import annotations

import shutil
import warnings
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import whyscan
from support.spark_sessions import INTERPRETED, settings
from tables.iceberg.peers import InPython, OnSpark
from tables.iceberg.questions import asks
from tables.iceberg.spark_lakes import KINDS, Lake
from tables.iceberg.wordings import wordings
from whyscan.reports.levels import rows_matched

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.planning.plan.scan_plan import ScanPlan

pytestmark = pytest.mark.spark

ASKS = 22
WORDINGS = 6
LEAST = 12
"""Of the questions to a table, how many a peer has to answer for the comparison to mean much."""
OTHER_FORMATS = "other_formats"
HIDDEN = ["_file", "_pos"]


@dataclass(frozen=True)
class Study:
    """A table, the questions, and Spark's answer to each on every live row."""

    lake: Lake

    @cached_property
    def rows(self) -> pa.Table:
        return self.lake.live().toArrow()

    @cached_property
    def questions(self) -> list[tuple[str, Any]]:
        """SQL, with PyIceberg's expression where it has one."""
        data, seed = self.rows.drop_columns(HIDDEN), len(self.lake.name)
        both = [(ask.sql, ask.peer) for ask in asks(data, ASKS, seed)]
        words = [(sql, None) for sql in wordings(data, WORDINGS, seed)]
        # Iceberg takes no prefix of a uuid.
        return [one for one in both + words if "startswith(`u`" not in one[0]]

    @cached_property
    def truth(self) -> pa.Table:
        """`_file`, `_pos`, and a column a question."""
        texts = [f"{sql} AS q{at}" for at, (sql, _) in enumerate(self.questions)]
        with settings(self.lake.spark, INTERPRETED):
            return self.lake.live().selectExpr(*HIDDEN, *texts).toArrow()

    @cached_property
    def table(self) -> whyscan.Table:
        return whyscan.open(self.lake.folder, ref=self.lake.ref)

    @cached_property
    def plans(self) -> list[ScanPlan]:
        return [self.table.plan(sql) for sql, _ in self.questions]

    @cached_property
    def plans_without_nan(self) -> list[ScanPlan]:
        return [
            self.table.plan(sql, depth="files", assume_no_nan=True) for sql, _ in self.questions
        ]

    def tight(self) -> Iterator[tuple[tuple[str, Any], ScanPlan, set[str]]]:
        """Each question with our plan without NaN and the files that have a matching row.

        A peer that drops one of those loses rows, as the test below of an hour before 1970 shows.
        """
        for question, plan, (_, _, answers) in zip(
            self.questions, self.plans_without_nan, self.answers(), strict=True
        ):
            yield question, plan, set(answers.filter(answers["true"])["_file"].to_pylist())

    def answers(self) -> Iterator[tuple[str, ScanPlan, pa.Table]]:
        """Each question with our plan and `_file`, `_pos` and `true` of Spark's rows."""
        for at, ((sql, _), plan) in enumerate(zip(self.questions, self.plans, strict=True)):
            answers = self.truth.select([*HIDDEN, f"q{at}"]).rename_columns([*HIDDEN, "true"])
            yield (
                sql,
                plan,
                answers.set_column(2, "true", pc.fill_null(answers["true"], fill_value=False)),
            )


@pytest.fixture(scope="module", params=KINDS)
def study(spark, request):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield Study(KINDS[request.param].make(spark, request.param))


def kept(plan):
    return named(plan, plan.evidence.judgement.kept)


def named(plan, flags):
    return set(plan.evidence.files.paths.filter(pa.array(flags)).to_pylist())


def test_no_row_is_lost_and_no_all_is_false(study):
    lost, false, miscounted = [], [], []
    for sql, plan, answers in study.answers():
        true, other = (
            answers.filter(flags) for flags in (answers["true"], pc.invert(answers["true"]))
        )
        lost += [(sql, path) for path in set(true["_file"].to_pylist()) - kept(plan)]
        every = named(plan, plan.evidence.judgement.every)
        false += [(sql, path) for path in every & set(other["_file"].to_pylist())]
        matched = rows_matched(plan.evidence)
        if not matched.at_least <= len(true) <= matched.at_most:
            miscounted.append((sql, matched, len(true)))
    assert (lost, false, miscounted) == ([], [], [])


def test_no_row_group_with_a_matching_row_is_dropped(study):
    """Of ORC and Avro there are no row groups to look at, which is said."""
    if study.lake.name.endswith(OTHER_FORMATS):
        assert not any(plan.summary.row_groups_total for plan in study.plans)
        assert all(plan.evidence.unchecked for plan in study.plans if plan.summary.files_kept)
        return
    lost = []
    for sql, plan, answers in study.answers():
        read = {scan.path: set(scan.row_groups) for scan in plan}
        for path, position, true in zip(*answers.to_pydict().values(), strict=True):
            group = int(np.searchsorted(ends(path), position, side="right"))
            if true and group not in read.get(path, ()):
                lost.append((sql, path, group))
    assert not lost


@cache
def ends(path):
    """Where each row group of a file ends, in rows."""
    metadata = pq.ParquetFile(path).metadata
    return np.cumsum([metadata.row_group(at).num_rows for at in range(metadata.num_row_groups)])


def test_no_file_or_manifest_that_iceberg_on_spark_drops(study):
    peer, loose, compared = OnSpark(study.lake), [], 0
    for (sql, _), plan, matching in study.tight():
        theirs = peer.plan(sql)
        if theirs is None:
            continue
        compared += 1
        extra = kept(plan) - theirs.files - matching
        if extra or plan.summary.manifests_kept > theirs.manifests:
            loose.append((sql, sorted(extra), plan.summary.manifests_kept, theirs.manifests))
    assert compared >= LEAST
    assert not loose


def test_no_file_that_pyiceberg_drops(study):
    peer, loose, compared = InPython(study.lake), [], 0
    for (sql, expression), plan, matching in study.tight():
        theirs = None if expression is None else peer.plan(expression)
        if theirs is not None:
            compared += 1
            loose += [(sql, path) for path in sorted(kept(plan) - theirs.files - matching)]
    equality_deletes = study.lake.name.endswith(OTHER_FORMATS)
    assert compared >= (0 if equality_deletes else LEAST)
    assert not loose


HOUR = "at >= TIMESTAMP_NTZ '1969-12-27 01:00:00'"


@pytest.fixture(scope="module")
def second(spark):
    """One row at the last microsecond of an hour's first second, before 1970."""
    lake = Lake(spark, "ice.lakes.second")
    lake.sql("CREATE TABLE {t} (at TIMESTAMP_NTZ) USING iceberg PARTITIONED BY (hours(at))")
    lake.sql("INSERT INTO {t} VALUES (TIMESTAMP_NTZ '1969-12-27 01:00:00.999999')")
    return lake


def test_iceberg_writes_the_hour_before_and_loses_the_row(second):
    """Why we may keep a file that Iceberg on Spark drops; without the filter the row is there."""
    assert second.live().selectExpr(HOUR).collect() == [(True,)]
    assert second.live().where(HOUR).count() == 0
    assert OnSpark(second).plan(HOUR).files == frozenset()
    assert whyscan.open(second.folder).plan(HOUR).summary.files_kept == 1


def test_a_table_that_was_moved_is_read_where_it_is_with_its_data_or_without(second, tmp_path):
    """The last to use the table: it takes it away."""
    recorded, folder = second.folder, tmp_path / "elsewhere"
    shutil.move(recorded, folder)

    table = whyscan.open(folder)
    assert [note for note in table.snapshot.notes if "moved" in note and str(recorded) in note]
    assert table.plan(HOUR).summary.row_groups_kept == 1

    shutil.rmtree(folder / "data")
    plan = whyscan.open(folder).plan(HOUR)
    assert (plan.summary.files_kept, plan.summary.row_groups_total) == (1, 0)
    assert [level for level, _ in plan.evidence.unchecked] == ["row_groups"]
