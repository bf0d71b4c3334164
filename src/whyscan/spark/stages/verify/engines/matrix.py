"""Run each predicate on each engine, and compare rows and reads with the plan."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.errors import UsageError, WhyscanError
from whyscan.spark.stages.verify.conditions import translated
from whyscan.spark.stages.verify.engines.datafusion_engine import open_datafusion
from whyscan.spark.stages.verify.engines.duckdb_engine import open_duckdb
from whyscan.spark.stages.verify.engines.pyiceberg_engine import open_pyiceberg
from whyscan.spark.stages.verify.engines.spark_reader import open_reader
from whyscan.spark.stages.verify.engines.trino import open_trino
from whyscan.spark.stages.verify.result import EngineComparison, EngineRead

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.spark.stages.verify.conditions import CheckedPredicate
    from whyscan.spark.stages.verify.engines.engine import OpenedEngine, Opening, Target
    from whyscan.spark.stages.verify.result import PredicateProof

PARQUET = frozenset({"parquet", "hive"})
LAKES = frozenset({"delta", "iceberg"})
ENGINES: Mapping[str, tuple[frozenset[str], Opening]] = {
    "spark-delta": (frozenset({"delta"}), open_reader),
    "spark-iceberg": (frozenset({"iceberg"}), open_reader),
    "spark-parquet": (PARQUET, open_reader),
    "duckdb": (PARQUET | LAKES, open_duckdb),
    "datafusion": (PARQUET, open_datafusion),
    "pyiceberg": (frozenset({"iceberg"}), open_pyiceberg),
    "trino": (PARQUET | LAKES, open_trino),
}
"""By engine: the formats that it reads, and the function that opens it."""

NONE = "none"


def named(words: Sequence[str]) -> tuple[str, ...] | None:
    """The engines of `--engines`; None for the default ones."""
    if not words:
        return None
    engines = tuple(
        dict.fromkeys(w.strip().lower() for word_list in words for w in word_list.split(","))
    )
    if engines == (NONE,):
        return ()
    for word in engines:
        if word not in ENGINES:
            raise UsageError(
                f"unknown engine {word!r}", hint=f"one of {', '.join(ENGINES)}, {NONE}"
            )
    return engines


def fitting(target: Target) -> tuple[str, ...]:
    """The engines that read the table's format, are installed, and need no address."""
    kind = target.snapshot.format
    fit = [name for name, (formats, _) in ENGINES.items() if kind in formats]
    if target.trino is None:
        fit.remove("trino")
    if "pyiceberg" in fit and find_spec("pyiceberg") is None:
        fit.remove("pyiceberg")
    return tuple(fit)


def matrix(
    target: Target,
    engines: Sequence[str],
    predicates: Sequence[tuple[CheckedPredicate, PredicateProof]],
) -> tuple[PredicateProof, ...]:
    """The proofs, each with the reads of every engine."""
    cells: dict[int, list[EngineRead]] = {number: [] for number in range(len(predicates))}
    for name in engines:
        formats, opening = ENGINES[name]
        opened: OpenedEngine | None = None
        why = f"{name} does not read {target.snapshot.format}"
        if target.snapshot.format in formats:
            try:
                opened = opening(target)
            except WhyscanError as error:
                why = error.message
        for number, (question, proof) in enumerate(predicates):
            cells[number].append(_cell(name, opened, why, (question, proof)))
    return tuple(
        replace(proof, engines=tuple(cells[number])) for number, (_, proof) in enumerate(predicates)
    )


def _cell(
    name: str,
    engine: OpenedEngine | None,
    why: str,
    checked: tuple[CheckedPredicate, PredicateProof],
) -> EngineRead:
    question, proof = checked
    if proof.why is not None or question.predicate is None:
        return EngineRead(name, why="the predicate could not be evaluated")
    if engine is None:
        return EngineRead(name, why=why)
    sql = None
    try:
        sql = translated(question.text, question.dialect, engine.dialect)
        answer = engine.ask(sql)
    except WhyscanError as error:
        return EngineRead(name, why=error.message, sql=sql)
    engine_read = EngineRead(
        name,
        sql=sql,
        rows=answer.rows,
        files=answer.files,
        row_groups=answer.row_groups,
        rows_read=answer.rows_read,
        sound=None if proof.rows_true is None else answer.rows == proof.rows_true,
    )
    return _compared_with_plan(engine_read, proof)


def _compared_with_plan(engine_read: EngineRead, proof: PredicateProof) -> EngineRead:
    """Compare an engine's reads with the plan: row groups if it counts them, else files or rows."""
    plan = proof.planned
    if plan is None:
        return engine_read
    pairs = (
        ("row_groups", engine_read.row_groups, plan.row_groups_kept),
        ("files", engine_read.files, plan.files_kept),
        ("rows", engine_read.rows_read, plan.rows_kept),
    )
    for by, read, kept in pairs:
        if read is not None and kept is not None:
            reads = (
                EngineComparison.EQUAL
                if read == kept
                else EngineComparison.MORE
                if read > kept
                else EngineComparison.FEWER
            )
            return replace(engine_read, by=by, reads=reads, more=max(read - kept, 0))
    return engine_read
