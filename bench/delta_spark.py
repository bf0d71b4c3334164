"""The next question to an open Delta table of 1,000,000 files, against Delta on Spark."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

from delta_tables import checkpointed
from measure import Ratio, compare
from spark_session import session

import whyscan

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUESTIONS = ("country = 'DE' AND age > 85", "country = 'FR' AND age > 80")


def measurements(folder: Path) -> Iterator[Ratio]:
    """Both have the table open and answered before; Spark has its state cached."""
    place = checkpointed(folder, 1_000_000)
    table = whyscan.open(place)

    def ours(question: str) -> int:
        return table.plan(question, depth="files").summary.files_kept

    with session() as spark:
        frame = spark.read.format("delta").load(str(place))

        def theirs(question: str) -> int:
            """Optimizing is what chooses the files; no path is made for them."""
            plan = frame.where(question)._jdf.queryExecution().optimizedPlan()  # noqa: SLF001
            kept: int = (
                plan.collectLeaves().head().relation().location().preparedScan().files().size()
            )
            return kept

        for question in QUESTIONS:
            assert ours(question) == theirs(question)
        our_turn, their_turn = cycle(QUESTIONS), cycle(QUESTIONS)
        yield compare(
            "Delta, 1,000,000 files, open",
            "Delta on Spark, cached",
            1,
            lambda: ours(next(our_turn)),
            lambda: theirs(next(their_turn)),
        )
