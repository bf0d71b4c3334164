"""Everything that a scan's plan leaves out is replaced by garbage, and the scan gives its rows.

That is files, row groups and columns; only footers stay, because planning reads them.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

import whyscan
from engines.lakes import LAKES, Lakes, whole
from engines.questions import Question, as_sql, question
from engines.test_questions import ENGINES
from scan.same_rows import difference
from support.proof_cases import sampled

if TYPE_CHECKING:
    from pathlib import Path

    from whyscan.planning.plan.scan_plan import ScanPlan

SEEDS = sampled(range(4))
BEGINNING = 4
"""Where the first column of a Parquet file may begin."""


@pytest.fixture(scope="module")
def lakes(tmp_path_factory):
    return Lakes(tmp_path_factory.mktemp("lakes"))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("lake", LAKES)
def test_what_the_plan_leaves_out_may_be_garbage(lakes, lake, engine, seed, tmp_path):
    place = tmp_path / lakes.place(lake).name
    if lake.startswith("iceberg"):
        LAKES[lake](place)  # its metadata has absolute paths
    else:
        shutil.copytree(lakes.place(lake), place)
    table = whyscan.open(place)
    provider, ours, _ = ENGINES[engine](table, str(lakes.one_file))
    query = _selective(seed)
    numbers = query.answer(ordered=engine != "pyarrow")

    ours(query)
    poisoned = poison(place, provider.last_plan)

    # Without a condition no footer is read, and the plan is all files.
    assert poisoned > 0 or provider.scans[-1].where is None, as_sql(query.condition)
    rows = whole().take(numbers).select(query.columns)
    assert not difference(ours(query), rows)


def _selective(seed: int) -> Question:
    """A question about few rows, whose columns are those that equality deletes need."""
    few, seeds = range(1, 12), range(seed * 1000, (seed + 1) * 1000)
    chosen = next(q for q in map(question, seeds) if len(q.answer()) in few)
    return Question(("id", *(name for name in chosen.columns if name != "id")), chosen.condition)


def poison(place: Path, plan: ScanPlan) -> int:
    """Replace by garbage what a plan does not read of the data files; the number of bytes."""
    scans = {scan.path.removeprefix("file://"): scan for scan in plan}
    poisoned = 0
    for file in place.rglob("*.parquet"):
        if file.name.startswith("gone"):
            continue
        end = file.stat().st_size - 8 - pq.read_metadata(file).serialized_size
        content = bytearray(file.read_bytes())
        scan = next((s for path, s in scans.items() if str(file).endswith(path)), None)
        ranges = () if scan is None else scan.byte_ranges
        if scan is not None and scan.row_groups is None:
            ranges = ((BEGINNING, end),)
        clean = bytearray(b"\xff" * (end - BEGINNING))
        for start, stop in ranges:
            clean[start - BEGINNING : stop - BEGINNING] = content[start:stop]
        poisoned += sum(a != b for a, b in zip(clean, content[BEGINNING:end], strict=True))
        content[BEGINNING:end] = clean
        file.write_bytes(content)
    return poisoned
