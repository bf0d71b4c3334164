"""What an audit costs its driver: CPU for each query, and memory, beside the executors."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from delta_tables import checkpointed
from measure import Ratio
from predicates import predicates
from processes import FOLDER

from whyscan.spark import audit, session, write_inventory
from whyscan.spark.stages.workload.query import Query, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

FILES_OF_MANY, MANY_TABLES, MANY_QUERIES, MOST_QUERIES = 100, 200, 5_000, 20_000
LARGE, QUERIES = 1_000_000, 1_000
FIRST_QUERIES = 40
LIMIT = 0.001
"""The CPU seconds of the driver that each query may cost."""
MASTER = "local-cluster[2,1,3072]"
"""Executors are processes of their own: the driver's Java is a part of the driver."""


def measurements(folder: Path) -> Iterator[Ratio]:
    """Many tables with few files, and one with many: from metadata and from an inventory."""
    most = _run(folder, FILES_OF_MANY, MANY_TABLES, MOST_QUERIES, "metadata")
    for source in ("metadata", "inventory"):
        name = f"{MANY_TABLES} tables, {MANY_QUERIES:,} queries, {source}"
        many = _run(folder, FILES_OF_MANY, MANY_TABLES, MANY_QUERIES, source)
        yield from _ratios(name, many, MANY_QUERIES)
        if source == "metadata":
            yield Ratio(
                f"Audit, driver CPU a query, {MOST_QUERIES:,} queries",
                f"{MANY_QUERIES:,} queries",
                most["driver"] / MOST_QUERIES,
                many["driver"] / MANY_QUERIES,
                1,
            )
        name = f"{LARGE:,} files, {QUERIES:,} queries, {source}"
        large = _run(folder, LARGE, 1, QUERIES, source)
        small = _run(folder, FILES_OF_MANY, 1, QUERIES, source)
        yield from _ratios(name, large, QUERIES)
        yield Ratio(
            f"Audit, driver memory, {name}",
            f"{FILES_OF_MANY} files",
            large["memory"],
            small["memory"],
            1.25,
            "MB",
        )


def _ratios(name: str, cost: Mapping[str, float], queries: int) -> Iterator[Ratio]:
    """The driver beside what a query may cost, and beside the executors."""
    yield Ratio(f"Audit, driver CPU, {name}", "1 ms a query", cost["driver"], queries * LIMIT, 1)
    yield Ratio(f"Audit, driver CPU, {name}", "executors", cost["driver"], cost["executors"], 1)
    yield Ratio(
        f"Audit, driver memory, {name}",
        "executors",
        cost["memory"],
        cost["memory of executors"],
        1,
        "MB",
    )


def _run(folder: Path, files: int, tables: int, queries: int, source: str) -> dict[str, float]:
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
    costs: dict[str, float] = json.loads(run.stdout)
    return costs


def _audit(table: str, count: int, queries: int, source: str) -> dict[str, float]:
    """The CPU seconds of the driver and of the executors, and the peaks of their memory in MB.

    All tables are one folder under many addresses: a cache finds none of them twice. Some queries
    are audited before: starting Java and Python is not part of a query.
    """
    uris = {f"t{at}": f"{table}{'/.' * at}" for at in range(count)}
    workload = Workload(
        tuple(
            Query(f"SELECT * FROM t{at % count} WHERE {one.text} AND id <> {at}", "spark")
            for at, one in enumerate(predicates(queries))
        )
    )
    with session(MASTER) as spark:
        place = f"{table}-inventory-{count}"
        if source == "inventory" and not Path(place, "tables").exists():
            write_inventory(spark, uris, place)
        of_tables = ({}, {"inventory": place}) if source == "inventory" else (uris, {})
        audit(spark, Workload(workload.queries[:FIRST_QUERIES]), of_tables[0], **of_tables[1])
        before = _Costs.of_this_process()
        result = audit(spark, workload, of_tables[0], **of_tables[1])
        after = _Costs.of_this_process()
        assert len(result.queries) == queries, result.unparsed[:3]
        assert all(query.error is None for query in result.queries)
        return {
            "driver": after.driver - before.driver,
            "executors": after.executors - before.executors,
            "memory": after.memory,
            "memory of executors": after.memory_of_executors,
        }


@dataclass(frozen=True, slots=True)
class _Costs:
    """What the driver, Python and Java, and the processes of the executors have cost so far."""

    driver: float
    executors: float
    memory: float
    memory_of_executors: float

    @classmethod
    def of_this_process(cls) -> _Costs:
        processes = {process.number: process for process in _Process.all()}
        own = processes[os.getpid()]
        java = [one for one in processes.values() if one.parent == own.number]
        executors = {one.number for one in java}
        while more := {n for n, one in processes.items() if one.parent in executors} - executors:
            executors |= more
        executors -= {one.number for one in java}
        below = [processes[number] for number in executors]
        ended = sum(one.of_ended for one in (*java, *below))
        return cls(
            driver=own.seconds + sum(one.seconds for one in java),
            executors=sum(one.seconds for one in below) + ended,
            memory=own.peak + sum(one.peak for one in java),
            memory_of_executors=sum(one.peak for one in below),
        )


@dataclass(frozen=True, slots=True)
class _Process:
    """A process: its CPU seconds, those of its children that have ended, and its peak in MB."""

    number: int
    parent: int
    seconds: float
    of_ended: float
    peak: float

    @classmethod
    def all(cls) -> Iterator[_Process]:
        tick = os.sysconf("SC_CLK_TCK")
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                fields = (folder / "stat").read_text("utf-8").rpartition(")")[2].split()
                status = (folder / "status").read_text("utf-8")
            except OSError:
                continue  # It ended meanwhile.
            peak = re.search(r"VmHWM:\s+(\d+) kB", status)
            user, system, of_ended, more_of_ended = map(int, fields[11:15])
            yield cls(
                int(folder.name),
                int(fields[1]),
                (user + system) / tick,
                (of_ended + more_of_ended) / tick,
                0 if peak is None else int(peak[1]) / 1024,
            )


def _main(arguments: Sequence[str]) -> None:
    table, count, queries, source = arguments
    costs = _audit(table, int(count), int(queries), source)
    sys.stdout.write(json.dumps(costs))


if __name__ == "__main__":
    _main(sys.argv[1:])
