"""Never more files or row groups than DuckDB, PyArrow or DataFusion keep (semantics.md, "Tight").

NaN is taken on the user's word here, as the peers take it without asking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import whyscan
from differential.lake import Case, cases, write_lake
from differential.peers import DataFusion, DuckDB, Kept, PyArrow

if TYPE_CHECKING:
    from pathlib import Path

PREDICATES = 360


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("differential") / "lake"
    write_lake(root)
    return root


def ours(table: whyscan.Table, case: Case) -> Kept:
    summary = table.plan(case.sql, dialect="duckdb", assume_no_nan=True).summary
    return Kept(summary.files_kept, summary.row_groups_kept)


def looser(mine: Kept, peer: Kept) -> bool:
    return (peer.files is not None and (mine.files or 0) > peer.files) or (
        peer.row_groups is not None and (mine.row_groups or 0) > peer.row_groups
    )


@pytest.mark.parametrize("peer_kind", [DuckDB, PyArrow, DataFusion])
def test_never_keeps_more_than_a_peer(
    lake: Path, peer_kind: type[DuckDB | PyArrow | DataFusion]
) -> None:
    peer, table = peer_kind(lake), whyscan.open(str(lake))
    loose = []
    for case in cases(PREDICATES):
        mine = ours(table, case)
        theirs = peer.kept(case.arrow) if isinstance(peer, PyArrow) else peer.kept(case.sql)
        if looser(mine, theirs):
            loose.append(f"{case.sql}: we keep {mine}, {peer_kind.__name__} keeps {theirs}")
    assert not loose, "\n".join(loose)
