"""What delta-rs writes, asked of its own values: no row lost, and no file that a peer drops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable

import whyscan
from oracle.rows import evaluate_row
from tables.delta.peers import DeltaExplain, DeltaRs
from tables.delta.questions import (
    Question,
    columns,
    peers_sql,
    plain_questions,
    questions,
    rows_of,
    world,
)
from tables.delta.rs_lakes import LAKES
from tables.delta.verdicts import complaints, looser, verdicts

if TYPE_CHECKING:
    from oracle.tables import Row
    from whyscan.tree.nodes import Path
    from whyscan.tree.types import Type

OF_ANY_KIND = 20
PLAIN = 60


@pytest.mark.parametrize("name", LAKES)
def test_no_row_is_lost_and_no_file_kept_that_a_peer_drops(tmp_path, name):
    LAKES[name](tmp_path / "t")
    folder = str(tmp_path / "t")
    table = whyscan.open(folder)
    live = live_rows(folder, columns(table.snapshot))
    rows_world = world(columns(table.snapshot), list(live.values()))
    peers = [DeltaRs(folder), DeltaExplain(folder)]

    wrong: list[str] = []
    dropped = dict.fromkeys(peers, 0)
    for question in questions(rows_world, OF_ANY_KIND, seed=1):
        wrong += complaints(verdicts(table, question.sql), question.sql, *truth(question, live))
    for question in plain_questions(rows_world, PLAIN, seed=2):
        judgements = verdicts(table, question.sql)
        wrong += complaints(judgements, question.sql, *truth(question, live))
        for peer in peers:
            kept = peer.kept(peers_sql(question.tree))
            wrong += looser(table, judgements, question.sql, kept)
            dropped[peer] += len(live) - len(kept)

    assert wrong == []
    assert min(dropped.values()) > 0, "a peer that drops nothing proves nothing"


def live_rows(folder: str, schema: dict[Path, Type]) -> dict[str, tuple[Row, ...]]:
    """The rows of each file, as delta-rs reads them."""
    dataset = DeltaTable(folder).to_pyarrow_dataset()
    return {
        part.path: rows_of(schema, [values(part.to_table(dataset.schema), path) for path in schema])
        for part in dataset.get_fragments()
    }


def values(rows: pa.Table, path: Path) -> pa.Array:
    values = rows[path[0]].combine_chunks()
    for member in path[1:]:
        values = pc.struct_field(values, member)
    return values


def truth(
    question: Question, live: dict[str, tuple[Row, ...]]
) -> tuple[dict[str, int], dict[str, int]]:
    """How many rows of each file match, and how many there are."""
    matching = {
        path: sum(evaluate_row(question.tree, row) is True for row in rows)
        for path, rows in live.items()
    }
    return matching, {path: len(rows) for path, rows in live.items()}
