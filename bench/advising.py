"""Advice: 1,000 query shapes on a Delta table of 100,000 files, the sample included."""

from __future__ import annotations

import json
import os
import resource
from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from measure import Ratio, compare

import whyscan
from whyscan.spark import Workload
from whyscan.spark.stages.workload import Query

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILES, DISTINCT, ROWS = 100_000, 100, 50
SHAPES = 1_000
TIMES_ONE_EXPLAIN = 20
MOST_MEGABYTES = 2_000
COLUMNS = ("user_id", "day", "device", "amount", "shop")


def measurements(folder: Path) -> Iterator[Ratio]:
    """An explain opens the table anew, and so does the advice."""
    place = str(_table(folder / f"advised_{FILES}"))
    workload = Workload(tuple(_queries()), ())

    def advise() -> None:
        assert whyscan.advise(workload, {"events": place}).tables[0].advice

    def explain() -> None:
        whyscan.open(place).explain("user_id = 77")

    yield compare(
        f"advice, {SHAPES:,} shapes, {FILES:,} files",
        "one explain, cold",
        TIMES_ONE_EXPLAIN,
        advise,
        explain,
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield Ratio("advice, memory at most", "a fixed limit", peak, MOST_MEGABYTES, 1, unit="MB")


def _queries() -> Iterator[Query]:
    """Conditions on one to three columns. Each shape selects another list of columns as well."""
    random = Random(11)
    for number in range(SHAPES):
        # Half of the queries ask for a user, as of most tables.
        most_wanted = {COLUMNS[0]} if number % 2 else set()
        chosen = sorted(most_wanted | set(random.sample(COLUMNS, random.randint(1, 2))))
        conditions = (
            f"{name} = {random.randint(0, 900)}"
            if random.random() < 0.7
            else f"{name} BETWEEN {(low := random.randint(0, 800))} AND {low + 20}"
            for name in chosen
        )
        text = f"SELECT *, {number} AS shape FROM events WHERE {' AND '.join(conditions)}"
        yield Query(text, "spark", random.randint(1, 100))


def _table(folder: Path) -> Path:
    """Files of the same few contents under many names, with the statistics of their rows."""
    log = folder / "_delta_log"
    if log.exists():
        return folder
    folder.mkdir(parents=True)
    random = Random(7)
    lines = []
    for number in range(FILES):
        path = folder / f"{number:06}.parquet"
        if number < DISTINCT:
            rows = pa.table({n: [random.randint(0, 999) for _ in range(ROWS)] for n in COLUMNS})
            pq.write_table(rows, path, compression=None, use_dictionary=False)
            bounds = [(min(c), max(c)) for c in (rows[n].to_pylist() for n in COLUMNS)]
            lines.append((path.stat().st_size, bounds))
        else:
            os.link(folder / f"{number % DISTINCT:06}.parquet", path)
    schema = {
        "type": "struct",
        "fields": [
            {"name": name, "type": "long", "nullable": True, "metadata": {}} for name in COLUMNS
        ],
    }
    log.mkdir()
    with (log / "00000000000000000000.json").open("w") as out:
        for action in (
            {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
            {
                "metaData": {
                    "id": "advised",
                    "format": {"provider": "parquet", "options": {}},
                    "schemaString": json.dumps(schema),
                    "partitionColumns": [],
                    "configuration": {},
                }
            },
        ):
            out.write(json.dumps(action) + "\n")
        for number in range(FILES):
            size, bounds = lines[number % DISTINCT]
            stats = {
                "numRecords": ROWS,
                "minValues": {n: low for n, (low, _) in zip(COLUMNS, bounds, strict=True)},
                "maxValues": {n: high for n, (_, high) in zip(COLUMNS, bounds, strict=True)},
                "nullCount": dict.fromkeys(COLUMNS, 0),
            }
            add = {
                "path": f"{number:06}.parquet",
                "partitionValues": {},
                "size": size,
                "modificationTime": 0,
                "dataChange": True,
                "stats": json.dumps(stats),
            }
            out.write(json.dumps({"add": add}) + "\n")
    return folder
