"""What an audit costs its driver: CPU for each query, and memory, beside the executors."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from delta_tables import checkpointed
from measure import Ratio
from predicates import predicates
from processes import FOLDER

from whyscan.spark import session, write_inventory
from whyscan.spark.pinned_tables import pin_all, pin_inventory
from whyscan.spark.stages.audit.stage import explain_workload
from whyscan.spark.stages.workload.query import Query, Workload
from whyscan.spark.tables import NamedTable
from whyscan.tables.inventory.opening import open_inventory

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MANY_TABLES, MANY_QUERIES = 200, 5_000
FEW_QUERIES, MOST_QUERIES = 500, 20_000
SMALL, LARGE, QUERIES = 100, 1_000_000, 1_000
LIMIT = 0.001
"""The CPU seconds of the driver that each query may cost."""


def measurements(folder: Path) -> Iterator[Ratio]:
    """Many tables with few files, and one with many: from metadata and from an inventory."""
    few, many, most = (
        _run(folder, SMALL, MANY_TABLES, count)
        for count in (FEW_QUERIES, MANY_QUERIES, MOST_QUERIES)
    )
    yield _limit(f"Audit, driver CPU, {MANY_QUERIES:,} queries", many, MANY_QUERIES)
    yield _limit(f"Audit, driver CPU, {MOST_QUERIES:,} queries", most, MOST_QUERIES)
    yield Ratio(
        f"Audit, driver CPU a query, {MOST_QUERIES:,} queries",
        f"{FEW_QUERIES:,} queries",
        most["driver"] / MOST_QUERIES,
        few["driver"] / FEW_QUERIES,
        1,
    )
    for source in ("metadata", "inventory"):
        large = _run(folder, LARGE, 1, QUERIES, source)
        small = _run(folder, SMALL, 1, QUERIES, source)
        name = f"1,000,000 files, {source}"
        yield _limit(f"Audit, driver CPU, {name}", large, QUERIES)
        yield Ratio(
            f"Audit, driver CPU, {name}", "executors", large["driver"], large["executors"], 1
        )
        yield Ratio(
            f"Audit, driver memory, {name}", "100 files", large["peak"], small["peak"], 1.25, "MB"
        )


def _limit(work: str, cost: dict[str, Any], queries: int) -> Ratio:
    return Ratio(work, "1 ms a query", cost["driver"], queries * LIMIT, 1)


def _run(
    folder: Path, files: int, tables: int, queries: int, source: str = "metadata"
) -> dict[str, Any]:
    """The costs of an audit in a process of its own."""
    table = checkpointed(folder, files)
    arguments = [str(table), str(tables), str(queries), source]
    run = subprocess.run(
        [sys.executable, str(Path(__file__)), *arguments],
        check=True,
        cwd=FOLDER,
        stdout=subprocess.PIPE,
        text=True,
    )
    costs: dict[str, Any] = json.loads(run.stdout)
    return costs


def _audit(table: str, count: int, queries: int, source: str) -> dict[str, float]:
    """The CPU seconds of the driver and of the executors, and the driver's peak in MB.

    All tables are one folder under many addresses: a cache finds none of them twice.
    """
    names = [f"t{at}" for at in range(count)]
    uris = {name: f"{table}{'/.' * at}" for at, name in enumerate(names)}
    workload = Workload(
        tuple(
            Query(f"SELECT * FROM t{at % count} WHERE {one.text} AND id <> {at}", "spark")
            for at, one in enumerate(predicates(queries))
        )
    )
    with session() as spark:
        spark.range(10).count()
        place = f"{table}-inventory"
        if source == "inventory" and not Path(place, "tables").exists():
            write_inventory(spark, {"t0": table}, place)
        before, started = _executors(), time.process_time()
        if source == "inventory":
            pinned = pin_inventory(open_inventory(place, {}), {}, names)
        else:
            pinned = pin_all([NamedTable(name, uri) for name, uri in uris.items()])
        audit, _ = explain_workload(spark, workload, pinned)
        driver = time.process_time() - started
        assert len(audit.queries) == queries, audit.unparsed[:3]
        assert all(query.error is None for query in audit.queries)
        return {"driver": driver, "executors": _executors() - before, "peak": _peak()}


def _peak() -> float:
    status = Path("/proc/self/status").read_text("utf-8")
    peak = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert peak is not None
    return int(peak[1]) / 1024


def _executors() -> float:
    """The CPU seconds of all processes that this one has started: Java and Python workers."""
    parents, seconds = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text("utf-8").rpartition(")")[2].split()
        except OSError:
            continue  # It ended meanwhile.
        parents[int(folder.name)] = int(fields[1])
        ticks = sum(map(int, fields[11:15]))
        seconds[int(folder.name)] = ticks / os.sysconf("SC_CLK_TCK")
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(seconds[pid] for pid in ours - {os.getpid()})


def _main(arguments: Sequence[str]) -> None:
    table, count, queries, source = arguments
    costs = _audit(table, int(count), int(queries), source)
    sys.stdout.write(json.dumps(costs))


if __name__ == "__main__":
    _main(sys.argv[1:])
