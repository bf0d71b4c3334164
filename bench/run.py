"""The benchmark suite: every figure is a ratio against a peer, or a limit, in the same run.

    make bench                        every suite
    make bench ONLY="delta footers"   some of them

Data is made once, under build/bench. Exits with 1 where a budget was missed.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "build" / "bench"
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
    unknown = [name for name in chosen if name not in SUITES]
    if unknown:
        print(f"no such suite: {', '.join(unknown)}; there are {', '.join(SUITES)}")
        return 2
    FOLDER.mkdir(parents=True, exist_ok=True)
    print(f"{'work':<44} {'ours':>10} {'peer':>10} {'ratio':>7} {'budget':>6}")
    missed = 0
    for suite in chosen or SUITES:
        # Imported when its turn comes: a suite's modules weigh on no other.
        for measurement in import_module(suite).measurements(FOLDER):
            mark = "" if measurement.within else "  MISSED"
            ours, theirs = (
                _shown(figure, measurement.unit)
                for figure in (measurement.ours, measurement.theirs)
            )
            print(
                f"{measurement.work:<44} {ours} {theirs}"
                f" {measurement.ratio:>7.3f} {measurement.budget:>6.2f}"
                f"  ({measurement.peer}){mark}",
                flush=True,
            )
            missed += not measurement.within
    return 1 if missed else 0


def _shown(figure: float, unit: str) -> str:
    match unit:
        case "MB":
            return f"{figure:>8.1f}MB"
        case "requests":
            return f"{figure:>10,.0f}"
        case _:
            return f"{figure:>9.4f}s"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
