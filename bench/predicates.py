"""A thousand predicates over a million files, against one question after another."""

from __future__ import annotations

import multiprocessing
import random
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from delta_tables import FIELDS, checkpointed
from measure import Ratio, compare, seconds
from processes import FOLDER, WHYSCAN, beside_python, cost

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb
    import pyarrow as pa
    from pyspark.sql import SparkSession

PEER = "delta-explain"
COUNT = 1_000
FILES = 1_000_000
PROCESSES = 2
SAMPLE = 3
"""So many of the predicates are asked of delta-explain, and its time scaled."""

COUNTRIES = ("AT", "CH", "DE", "FR", "IT", "PL", "UK", "US")


@dataclass(frozen=True, slots=True)
class BenchPredicate:
    """A predicate, and the files that it keeps in terms of their bounds."""

    text: str
    bounds: str


def measurements(folder: Path) -> Iterator[Ratio]:
    """Counts on a session that has just begun, and with its start; whole reports; in memory."""
    table = checkpointed(folder, FILES)
    queries = predicates(COUNT)
    theirs = [
        cost([beside_python(PEER), str(table), "-w", one.text]).seconds for one in queries[:SAMPLE]
    ]
    scaled = sum(theirs) / SAMPLE * COUNT
    cold, begun = _on_spark(table)
    yield Ratio("1,000 predicates on Spark, session begun", PEER, begun, scaled, 1 / 1_000)
    yield Ratio("1,000 predicates on Spark, cold", PEER, cold, scaled, 1 / 1_000)
    reports = cost(_audit(folder, table, queries)).seconds
    yield Ratio("1,000 whole reports by audit, cold", PEER, reports, scaled, 1 / 1_000)
    yield _in_memory(table, queries)


def _on_spark(table: Path) -> tuple[float, float]:
    """The seconds of a whole process, and of its work on the session that it began."""
    begin = time.perf_counter()
    run = [sys.executable, str(Path(__file__)), str(table)]
    seconds_inside = subprocess.run(
        run, check=True, cwd=FOLDER, stdout=subprocess.PIPE, text=True
    ).stdout
    return time.perf_counter() - begin, float(seconds_inside)


def _audit(folder: Path, table: Path, queries: Sequence[BenchPredicate]) -> list[str]:
    """The command that reports on every predicate, as queries of a log."""
    log, output = folder / "predicates.sql", folder / "predicates.json"
    log.write_text("".join(f"SELECT * FROM t WHERE {one.text};\n" for one in queries))
    words = ["--workload", str(log), "--table", f"t={table}"]
    return [WHYSCAN, "audit", *words, "--format", "json", "-o", str(output)]


def _in_memory(table: Path, queries: Sequence[BenchPredicate]) -> Ratio:
    """Ours in two processes that have the table, DuckDB with two threads on it as Arrow."""
    texts = [one.text for one in queries]
    connection = _duckdb(table)
    # Spawned: a fork would not have Arrow's threads.
    with multiprocessing.get_context("spawn").Pool(PROCESSES, _open, (str(table),)) as pool:

        def ours() -> list[tuple[int, int]]:
            share = -(-len(texts) // (PROCESSES * 4))
            return pool.map(_answer, texts, chunksize=share)

        def theirs() -> list[tuple[int, int]]:
            return [_answer_of_duckdb(connection, one) for one in queries]

        assert ours() == theirs()
        return compare("1,000 predicates, 1,000,000 files, held", "DuckDB", 1 / 2, ours, theirs)


def predicates(count: int) -> list[BenchPredicate]:
    """One to three conditions each, by a fixed seed."""
    dice = random.Random(11)
    conditions = (_country, _age, _number)
    texts = []
    for _ in range(count):
        chosen = [make(dice) for make in dice.sample(conditions, dice.randint(1, len(conditions)))]
        texts.append(
            BenchPredicate(
                " AND ".join(one.text for one in chosen),
                " AND ".join(one.bounds for one in chosen),
            )
        )
    return texts


def _country(dice: random.Random) -> BenchPredicate:
    text = f"country = '{dice.choice(COUNTRIES)}'"
    return BenchPredicate(text, text)


def _age(dice: random.Random) -> BenchPredicate:
    value = dice.randrange(100)
    bounds = {
        "<": f"age_min < {value}",
        ">": f"age_max > {value}",
        "=": f"age_min <= {value} AND age_max >= {value}",
    }
    operator = dice.choice(sorted(bounds))
    return BenchPredicate(f"age {operator} {value}", bounds[operator])


def _number(dice: random.Random) -> BenchPredicate:
    least = dice.randrange(FILES * 1_000)
    most = least + dice.randrange(FILES * 10)
    return BenchPredicate(
        f"id BETWEEN {least} AND {most}", f"id_max >= {least} AND id_min <= {most}"
    )


_OPENED: dict[str, object] = {}
"""The table of a worker process."""


def _open(place: str) -> None:
    _OPENED["table"] = with_files_in_memory(place)


def _answer(text: str) -> tuple[int, int]:
    return answers(_OPENED["table"], [text])[0]


def with_files_in_memory(place: str) -> object:
    """The table with its files in memory, ready for questions."""
    from whyscan.tables import open_snapshot
    from whyscan.tables.cached_snapshot import with_cache
    from whyscan.tree.zones import zone

    snapshot = open_snapshot([place], {}, {})
    from whyscan.tree.nodes import Column

    schema = snapshot.schema()
    opened = with_cache(
        snapshot, [Column((f.name,), f.type) for f in schema.fields if f.name in FIELDS]
    )
    opened.files((), zone("UTC"))
    return opened


def answers(table: object, texts: Sequence[str]) -> list[tuple[int, int]]:
    """The files and bytes that each predicate keeps: parsed, bound and judged."""
    from whyscan.planning.plan.planner import make_plan
    from whyscan.planning.plan.request import bind_request
    from whyscan.terms import PlanTerms

    terms = PlanTerms(depth="files")
    summaries = (
        make_plan(table, *bind_request(table, text, None, terms)).summary for text in texts
    )
    return [(summary.files_kept, summary.bytes_kept) for summary in summaries]


def _duckdb(table: Path) -> duckdb.DuckDBPyConnection:
    import duckdb

    connection = duckdb.connect(config={"threads": PROCESSES})
    connection.register("files", _bounds(table))
    return connection


def _answer_of_duckdb(
    connection: duckdb.DuckDBPyConnection, one: BenchPredicate
) -> tuple[int, int]:
    query = f"SELECT count(*), coalesce(sum(bytes), 0)::BIGINT FROM files WHERE {one.bounds}"
    files, size = connection.execute(query).fetchall()[0]
    return files, size


def _bounds(table: Path) -> pa.Table:
    """What the evaluator sees, as one Arrow table."""
    import pyarrow as pa

    from whyscan.tables import open_snapshot
    from whyscan.tree.nodes import Column
    from whyscan.tree.zones import zone

    snapshot = open_snapshot([str(table)], {}, {})
    columns = {f.name: Column((f.name,), f.type) for f in snapshot.schema().fields}
    files = snapshot.files(list(columns.values()), zone("UTC"), None)
    country, age, number = (files.containers.interval(columns[n]) for n in ("country", "age", "id"))
    return pa.table(
        {
            "country": country.lower.cast(pa.string()),
            "age_min": age.lower,
            "age_max": age.upper,
            "id_min": number.lower,
            "id_max": number.upper,
            "bytes": files.bytes,
        }
    )


def on_spark(spark: SparkSession, place: str) -> int:
    """Every predicate in a few fat tasks, each with the table in its own process."""
    texts = [one.text for one in predicates(COUNT)]
    tasks = spark.range(PROCESSES, numPartitions=PROCESSES)

    def counted(batches):  # noqa: ANN001, ANN202 - pickled by value, types and all
        import pyarrow as pa

        opened = with_files_in_memory(place)
        for batch in batches:
            for task in batch.column("id").to_pylist():
                results = answers(opened, texts[task::PROCESSES])
                yield pa.RecordBatch.from_pydict({"files": [files for files, _ in results]})

    rows = tasks.mapInArrow(counted, "files long").collect()
    assert len(rows) == COUNT
    return sum(row.files for row in rows)


def main(place: str) -> None:
    import whyscan.spark

    spark = whyscan.spark.session()
    print(seconds(lambda: on_spark(spark, place)))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
