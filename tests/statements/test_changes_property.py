"""Whatever the change: with only the files that its scans keep in sight, it does the same."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

import whyscan
from oracle.dice import Dice
from statements.generated.answers import check_answer
from statements.generated.changes import Changes
from statements.generated.queries import Queries
from statements.generated.values import NAMES
from statements.generated.worlds import TABLES, World, make
from whyscan.statements.roles import Role

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from whyscan.statements.records import ScanReport, StatementReport

WORLDS = 6


@pytest.fixture(scope="module")
def worlds(tmp_path_factory) -> Callable[[int], World]:
    folder = tmp_path_factory.mktemp("worlds")
    return cache(lambda seed: make(folder, seed))


@st.composite
def changes(draw) -> tuple[str, list[int]]:
    queries = Queries(Dice(draw), TABLES)
    target = queries.dice.number(0, TABLES - 1)
    sql = Changes(queries).statement()
    return sql, [target, *queries.occurrences]


@pytest.mark.slow
@pytest.mark.parametrize("resolve", [False, True], ids=["static", "resolved"])
@given(changes(), st.integers(0, WORLDS - 1))
@settings(
    max_examples=max(100, settings.default.max_examples), suppress_health_check=list(HealthCheck)
)
def test_a_change_with_only_the_kept_files_in_sight_does_the_same(worlds, resolve, change, number):
    sql, (target, *occurrences) = change
    world = worlds(number)
    sources = {f"t{at}": table for at, table in enumerate(occurrences, 1)}
    try:
        expected = changed(world, sql, target, None, dict.fromkeys(sources), sources)
    except duckdb.Error:
        reject()
    tables = {name: world.tables[at] for name, at in sources.items()}
    report = whyscan.explain_sql(
        sql, {"target": world.tables[target], **tables}, dialect="duckdb", resolve_joins=resolve
    )
    scan = target_of(report)
    kept = [file.path for file in scan.plan]
    read = {name: kept_of(report, name) for name in sources}
    for read_scan in report.scans:
        check_answer(world, read_scan, {"target": target, **sources}[read_scan.name])
    changed_rows = changed(world, sql, target, kept, read, sources)
    assert changed_rows + others(world, target, kept) == expected, f"{sql}\n{report}"
    fates(world, target, scan, expected, sql)


def changed(
    world: World,
    sql: str,
    target: int,
    files: Sequence[str] | None,
    read: Mapping[str, Sequence[str] | None],
    sources: Mapping[str, int],
) -> Counter[Any]:
    """The target's rows after the change, each with the file that it came from."""
    con = world.connection
    for name, table in sources.items():
        con.execute(
            f"CREATE OR REPLACE TEMP VIEW {name} AS"
            f" SELECT {', '.join(NAMES)} FROM base{table}{among(read[name])}"
        )
    con.execute(f"CREATE OR REPLACE TEMP TABLE target AS FROM base{target}{among(files)}")
    con.execute(sql)
    return Counter(con.execute("FROM target").fetchall())


def others(world: World, target: int, kept: Sequence[str]) -> Counter[Any]:
    """The rows of the files that were not in sight."""
    rows = world.connection.execute(f"FROM base{target}").fetchall()
    return Counter(row for row in rows if row[-1] not in kept)


def fates(world: World, target: int, scan: ScanReport, after: Counter[Any], sql: str) -> None:
    """Files that go whole have no row left; one that changes is among those that are rewritten."""
    judgement = scan.plan.evidence.judgement
    paths = scan.plan.evidence.files.paths.to_pylist()
    before = Counter(world.connection.execute(f"FROM base{target}").fetchall())
    gone = [p for p, k, e in zip(paths, judgement.kept, judgement.every, strict=True) if k and e]
    if scan.rewrite.removed.files:
        assert scan.rewrite.removed.files == len(gone), sql
        assert not [row for row in after if row[-1] in gone], sql
    touched = {row[-1] for row in (before - after)}
    most = scan.rewrite.removed.files + scan.rewrite.rewritten.files
    assert len(touched) <= most, sql


def among(files: Sequence[str] | None) -> str:
    return "" if files is None else f" WHERE list_contains({list(files)}::VARCHAR[], file)"


def target_of(report: StatementReport) -> ScanReport:
    (target_scan,) = [scan for scan in report.scans if scan.role is Role.TARGET]
    return target_scan


def kept_of(report: StatementReport, name: str) -> list[str] | None:
    """The files that are read by a name; all (None) where metadata answers in their place."""
    scans = [scan for scan in report.scans if scan.name == name]
    if any(scan.answer is not None for scan in scans):
        return None
    return sorted({file.path for scan in scans for file in scan.plan})
