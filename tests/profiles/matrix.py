"""The matrix of profiles: what an engine was predicted to read, and what it read.

`make profiles` runs it and prints hits and misses by engine and table.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

import whyscan
from profiles.cases import CASES
from profiles.lakes import LAKES
from profiles.trino_tables import ADDRESS, register, server_and_folder
from whyscan.errors import WhyscanError
from whyscan.planning.plan.evidence import FILES, MANIFESTS, ROW_GROUPS
from whyscan.predicate.binding.bind import bind
from whyscan.profiles.engine_names import named_profiles
from whyscan.profiles.prediction import predictions
from whyscan.profiles.weakened import roles_of, weakened
from whyscan.spark.stages.verify.conditions import translated
from whyscan.spark.stages.verify.engines.engine import Target
from whyscan.spark.stages.verify.engines.matrix import ENGINES, ROWS, comparable, is_bound

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyspark.sql import SparkSession

    from whyscan.profiles.prediction import Prediction
    from whyscan.profiles.rule import EngineProfile
    from whyscan.spark.stages.verify.engines.engine import EngineAnswer, OpenedEngine


def format_of(table: str) -> str:
    """The format of a table of the matrix."""
    return table.partition("-")[0]


IN_PROCESS = ("duckdb", "datafusion", "polars", "pyiceberg", "delta-rs", "pyarrow")
ON_SPARK = ("spark-delta", "spark-iceberg", "spark-parquet")
ON_A_SERVER = "trino"
WANTED = 0.97
"""The share of predicates of which every number must be the engine's."""
LEAST = 150
"""How many predicates an engine must have answered on a table."""


VERSIONS = {
    ("duckdb", "delta"): "duckdb@1.5.5",
    ("duckdb", "iceberg"): "duckdb@1.5.5",
    **dict.fromkeys([(ON_A_SERVER, name) for name in map(format_of, LAKES)], "trino@476"),
}
"""The version of an engine that reads a format, where it is not the installed one."""

_FRACTION = "the typed predicate is i = 606: the fraction is gone when it is bound"
_NOT_OF_OR = "NOT stays around the OR, and is moved inside when a profile reads it"
EXPLAINED = {
    ("delta-rs", "i = 606.0"): _FRACTION,
    ("duckdb", "i = 606.0"): _FRACTION,
    ("duckdb", "NOT (i < 2000 OR s < 'k22')"): _NOT_OF_OR,
    ("duckdb", "NOT (p = 'a' OR p = 'b')"): _NOT_OF_OR,
    ("duckdb", "i = v AND i < 1000"): "DuckDB puts v < 1000 in the place of i < 1000",
}
"""Predicates of which an engine reads more than predicted, and why no rule can say so."""


@dataclass(frozen=True, slots=True)
class Miss:
    """A predicate of which a number was not the engine's; the numbers are by level."""

    sql: str
    predicted: dict[str, int]
    read: dict[str, int]
    rules: tuple[str, ...]
    at_least: bool

    @property
    def under(self) -> bool:
        """Fewer were predicted than the engine read, and "at least" was not said."""
        return not self.at_least and any(
            self.predicted[level] < read for level, read in self.read.items()
        )

    def __str__(self) -> str:
        sql = self.sql if len(self.sql) < 90 else f"{self.sql[:80]}…"
        sign = "UNDER" if self.under else "over "
        return f"  {sign} {sql}: predicts {self.predicted}, read {self.read} {self.rules}"


@dataclass(slots=True)
class Cell:
    """One engine on one table: the predicates that it answered, the misses, the rules it used."""

    engine: str
    table: str
    hits: int = 0
    misses: list[Miss] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    at_least: int = 0
    rules: Counter[str] = field(default_factory=Counter)

    @property
    def answered(self) -> int:
        """Predicates with a number to compare."""
        return self.hits + len(self.misses)

    @property
    def share(self) -> float:
        """The share of hits."""
        return self.hits / self.answered if self.answered else 0.0

    @property
    def under(self) -> list[Miss]:
        """The misses of which fewer were predicted than read, beside those that are explained."""
        return [
            miss for miss in self.misses if miss.under and (self.engine, miss.sql) not in EXPLAINED
        ]

    @property
    def fits(self) -> bool:
        """Enough predicates, enough hits, and nothing read beyond the prediction."""
        return self.answered >= LEAST and self.share >= WANTED and not self.under

    def __str__(self) -> str:
        return (
            f"{self.engine:14} {self.table:20} {self.hits:4} of {self.answered:4} "
            f"{self.share:7.1%}  {len(self.under)} under, {self.at_least} at least, "
            f"{sum(self.refused.values())} refused"
        )


def numbers(
    prediction: Prediction, answer: EngineAnswer, table: str
) -> tuple[dict[str, int], dict[str, int], bool]:
    """What was predicted and what was read, at the levels that both have; whether it is a bound."""
    pairs = comparable(prediction, answer, by_footers=table in WITHOUT_LOG)
    if format_of(table) == "iceberg":
        # PyIceberg writes dictionaries, which leave out rows of row groups that are read.
        pairs.pop(ROWS, None)
    predicted = {level: pair[0] for level, pair in pairs.items()}
    read = {level: pair[1] for level, pair in pairs.items()}
    return predicted, read, is_bound(prediction, pairs)


WITHOUT_LOG = frozenset({"parquet", "hive"})
"""Tables whose files have no statistics but those of their footers."""


def rules_of(engine: str, address: Path) -> dict[str, tuple[str, ...]]:
    """By predicate: the rules of an engine that concern it at some level."""
    snapshot = whyscan.open(str(address)).snapshot
    (profile,) = named_profiles([engine])
    roles, schema = roles_of(snapshot), snapshot.schema()
    rules = [profile.rules(snapshot.format, level) for level in (MANIFESTS, FILES, ROW_GROUPS)]
    return {
        sql: tuple(
            dict.fromkeys(
                use.rule.id
                for each in rules
                for use in weakened(bind(sql, schema), each, roles).uses
            )
        )
        for sql in CASES
    }


def target_of(table: whyscan.Table, spark: SparkSession | None) -> Target:
    """The table as engines take it."""
    snapshot = table.snapshot
    folder = Path(table.uri)
    paths = tuple(str(folder / one.path) for one in table.plan("true", depth="files").files)
    if spark is None:
        return Target(snapshot, None, "no Spark here", paths)
    from whyscan.spark.stages.verify import native_reader

    return Target(snapshot, native_reader.frame(spark, snapshot), None, paths)


def run(
    engine: str, name: str, address: Path, spark: SparkSession | None, cases: Sequence[str] = CASES
) -> Cell:
    """One engine on one table, over all cases."""
    table = whyscan.open(str(address))
    (profile,) = named_profiles([VERSIONS.get((engine, format_of(name)), engine)])
    target = target_of(table, spark if engine in ON_SPARK else None)
    if engine == ON_A_SERVER:
        target = replace(target, trino=register(*server_and_folder(), name, address))
    opened = ENGINES[engine](target)
    cell = Cell(engine, name)
    for sql in cases:
        _compare(cell, table, sql, (opened, profile))
    return cell


def _compare(
    cell: Cell, table: whyscan.Table, sql: str, engine: tuple[OpenedEngine, EngineProfile]
) -> None:
    opened, profile = engine
    try:
        answer = opened.ask(translated(sql, "spark", opened.dialect))
    except WhyscanError as error:
        cell.refused[error.message] += 1
        return
    plan = table.plan(sql, depth="row-groups", assume_no_nan=True)
    (prediction,) = predictions(plan, [profile])
    predicted, read, bound = numbers(prediction, answer, cell.table)
    if not read:
        cell.refused["no number"] += 1
        return
    rules = tuple(dict.fromkeys(use.rule.id for use in prediction.uses))
    cell.rules.update(rules)
    cell.at_least += bound
    if predicted == read:
        cell.hits += 1
    else:
        cell.misses.append(Miss(sql, predicted, read, rules, bound))


def cells(
    root: Path, engines: Iterable[str], tables: Iterable[str], spark: SparkSession | None
) -> Iterable[Cell]:
    """Every engine on every table that it reads."""
    addresses = {name: LAKES[name](root / name) for name in tables}
    for engine in engines:
        (profile,) = named_profiles([engine])
        for name, address in addresses.items():
            if profile.reads(format_of(name)):
                try:
                    yield run(engine, name, address, spark)
                except WhyscanError as error:
                    print(f"{engine:14} {name:20} not run: {error.message}")


def main() -> int:
    """Print hits and misses; 1 if an engine reads other files than its profile predicts."""
    words = sys.argv[1:]
    every = (*IN_PROCESS, *ON_SPARK, *((ON_A_SERVER,) if ADDRESS in os.environ else ()))
    engines = [name for name in every if not set(words) - set(LAKES) or name in words]
    tables = [name for name in LAKES if not set(words) & set(LAKES) or name in words]
    spark = None
    failed = False
    with tempfile.TemporaryDirectory() as temporary:
        folder = server_and_folder()[1] if ON_A_SERVER in engines else Path(temporary)
        if set(engines) & set(ON_SPARK):
            from support import spark_sessions

            spark = spark_sessions.start(Path(temporary, "spark"))
        for cell in cells(folder, engines, tables, spark):
            print(cell)
            for missed in cell.misses:
                print(missed)
            failed |= not cell.fits
        if spark is not None:
            spark.stop()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
