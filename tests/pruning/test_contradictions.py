"""Statistics that contradict each other: what is dropped, and what still proves something."""

from __future__ import annotations

import pyarrow as pa
import pytest

from support.verdicts import Verdict, verdicts
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.pruning.containers import ColumnStatistics, Containers, checked
from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.mask import tally
from whyscan.tree.types import INT, Field, Schema
from whyscan.tree.zones import zone

NONE, SOME, ALL = Verdict.NONE, Verdict.SOME, Verdict.ALL
# lower, upper, NULLs of 10 rows; the verdicts of IS NULL, IS NOT NULL and c = 7; how many wrong.
CASES = {
    "crossed bounds, no NULL": (9, 1, 0, (NONE, ALL, SOME), 1),
    "crossed bounds, some NULLs": (9, 1, 3, (SOME, SOME, SOME), 1),
    "crossed bounds, all NULL": (9, 1, 10, (SOME, SOME, SOME), 1),
    "crossed bounds, NULLs not counted": (9, 1, None, (SOME, SOME, SOME), 1),
    "crossed bounds, too many NULLs": (9, 1, 11, (SOME, SOME, SOME), 1),
    "crossed bounds, fewer NULLs than none": (9, 1, -1, (SOME, SOME, SOME), 1),
    "sound bounds, too many NULLs": (1, 2, 11, (SOME, SOME, SOME), 1),
    "sound bounds, no NULL": (1, 2, 0, (NONE, ALL, NONE), 0),
}


@pytest.mark.parametrize("case", CASES)
def test_a_null_count_proves_although_bounds_contradict_each_other(case):
    lower, upper, nulls, expected, wrong = CASES[case]
    rows = pa.array([10], pa.int64())
    statistics = ColumnStatistics(
        pa.array([lower], pa.int64()), pa.array([upper], pa.int64()), pa.array([nulls], pa.int64())
    )
    believed = checked(INT, statistics, rows)
    containers = Containers(1, rows, statistics={("c",): believed.interval})
    schema = Schema((Field("c", INT),))
    results = []
    for text in ("c IS NULL", "c IS NOT NULL", "c = 7"):
        truth = evaluate(bind(text, schema, Session()).expression, containers, zone("UTC"))
        results.append(verdicts(truth, 1)[0])
    assert tuple(results) == expected
    assert tally(believed.contradicted, 1) == wrong
