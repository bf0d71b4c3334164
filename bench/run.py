"""The benchmark suite: every figure is a ratio against a peer, or a limit, in the same run.

    make bench                        every suite
    make bench ONLY="delta footers"   some of them
    make figures                      the figures of the newest runs, in docs/performance.md

Data is made once, under build/bench. Exits with 1 where a budget was missed.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import figures

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "build" / "bench"
FIGURES = FOLDER / "figures.json"
# Servers and Spark are started as the tests start them. Last: some names are there twice.
sys.path.append(str(ROOT / "tests"))

SUITES = (
    "evaluation",
    "footers",
    "profiles",
    "cold_start",
    "delta",
    "delta_spark",
    "iceberg",
    "iceberg_java",
    "iceberg_s3",
    "statements",
    "inventory",
    "audit",
    "pruned_read",
    "engines",
    "engines_s3",
    "predicates",
    "advising",
)


def main(chosen: list[str]) -> int:
    if chosen == ["--page"]:
        figures.write_page(FIGURES, SUITES)
        return 0
    unknown = [name for name in chosen if name not in SUITES]
    if unknown:
        print(f"no such suite: {', '.join(unknown)}; there are {', '.join(SUITES)}")
        return 2
    FOLDER.mkdir(parents=True, exist_ok=True)
    print(f"{'work':<44} {'ours':>10} {'peer':>10} {'ratio':>7} {'budget':>6}")
    missed = 0
    for suite in chosen or SUITES:
        # Imported when its turn comes: a suite's modules weigh on no other.
        rows = []
        for row in import_module(suite).measurements(FOLDER):
            ours, theirs = (figures.shown(each, row.unit) for each in (row.ours, row.theirs))
            print(
                f"{row.work:<44} {ours:>10} {theirs:>10} {row.ratio:>7.3f} {row.budget:>6.2f}"
                f"  ({row.peer}){'' if row.within else '  MISSED'}",
                flush=True,
            )
            rows.append(row)
            missed += not row.within
        figures.keep(FIGURES, suite, rows)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
