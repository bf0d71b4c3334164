"""The benchmark suite: every figure is a ratio against a peer in the same run.

    make bench

Data is made once, under build/bench. Exits with 1 where a budget was missed.
"""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path

import cold_start
import evaluation
import footers

import delta
import iceberg

FOLDER = Path(__file__).parent.parent / "build" / "bench"


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    print(f"{'work':<46} {'ours':>9} {'peer':>9} {'ratio':>6} {'budget':>6}")
    missed = 0
    for found in chain(
        evaluation.measurements(),
        footers.measurements(FOLDER),
        cold_start.measurements(FOLDER),
        delta.measurements(FOLDER),
        iceberg.measurements(FOLDER),
    ):
        mark = "" if found.within else "  MISSED"
        print(
            f"{found.work:<46} {found.ours_seconds:>8.4f}s {found.peer_seconds:>8.4f}s"
            f" {found.ratio:>6.2f} {found.budget:>6.2f}  ({found.peer}){mark}",
            flush=True,
        )
        missed += not found.within
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
