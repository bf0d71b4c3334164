"""The figures of the newest run of each suite: kept in a file, written into the docs."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from measure import Ratio

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
BEGIN, END = "<!-- figures of make bench -->\n", "<!-- end of figures -->\n"
_GIB = 1 << 30


def keep(file: Path, suite: str, rows: Sequence[Ratio]) -> None:
    """Put the rows of a suite in the place of those of its run before."""
    suites = json.loads(file.read_text("utf-8")) if file.exists() else {}
    suites[suite] = {
        "date": datetime.now(UTC).date().isoformat(),
        "cores": os.cpu_count(),
        "gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GIB),
        "rows": [
            {
                "work": row.work,
                "ours": shown(row.ours, row.unit),
                "theirs": shown(row.theirs, row.unit),
                "peer": row.peer,
                "ratio": f"{row.ratio:.4f}" if row.ratio < 0.01 else f"{row.ratio:.2f}",
                "budget": f"{row.budget:.3g}" + ("" if row.within else " (missed)"),
            }
            for row in rows
        ],
    }
    file.write_text(json.dumps(suites, indent=1), "utf-8")


def write_page(file: Path, order: Sequence[str]) -> None:
    """Write the table of all suites that ran into the documentation."""
    suites: dict[str, dict[str, Any]] = json.loads(file.read_text("utf-8"))
    lines = [
        "| suite | what is done | whyscan | compared with | ratio | budget |",
        "|---|---|---:|---|---:|---:|",
    ]
    for name in (name for name in order if name in suites):
        lines += [
            f"| `{name}` | {r['work']} | {r['ours']} | {r['theirs']}, {r['peer']} | {r['ratio']} |"
            f" {r['budget']} |"
            for r in suites[name]["rows"]
        ]
    dates = sorted({each["date"] for each in suites.values()})
    machines = sorted({f"{each['cores']} cores and {each['gib']} GiB" for each in suites.values()})
    missing = [f"`{name}`" for name in order if name not in suites]
    made = f"Made by `make bench` on Linux with {' or '.join(machines)}, {' to '.join(dates)}."
    if missing:
        made += f" Not run: {', '.join(missing)}."
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    table = "\n".join((made, "", *lines, ""))
    PAGE.write_text(f"{before}{BEGIN}{table}{END}{after}", "utf-8")


def shown(figure: float, unit: str) -> str:
    """A figure with its unit."""
    match unit:
        case "MB":
            return f"{figure:.1f} MB"
        case "requests":
            return f"{figure:,.0f}"
        case _:
            return f"{figure:.4f} s"
