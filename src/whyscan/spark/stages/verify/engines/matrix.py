"""Run each predicate on each engine, and compare rows and reads with the plan and the profile."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import UsageError, WhyscanError
from whyscan.planning.plan.evidence import FILES, ROW_GROUPS
from whyscan.profiles.engine_names import default_profile, engine_rules, named_profiles
from whyscan.profiles.prediction import EngineReader
from whyscan.spark.stages.verify.conditions import translated
from whyscan.spark.stages.verify.engines.datafusion_engine import open_datafusion
from whyscan.spark.stages.verify.engines.delta_rs_engine import open_delta_rs
from whyscan.spark.stages.verify.engines.duckdb_engine import open_duckdb
from whyscan.spark.stages.verify.engines.polars_engine import open_polars
from whyscan.spark.stages.verify.engines.pyarrow_engine import open_pyarrow
from whyscan.spark.stages.verify.engines.pyiceberg_engine import open_pyiceberg
from whyscan.spark.stages.verify.engines.spark_reader import open_reader
from whyscan.spark.stages.verify.engines.trino import open_trino
from whyscan.spark.stages.verify.result import EngineComparison, EngineRead, PredictedRead
from whyscan.tables.parquet.snapshot import ParquetSnapshot

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.profiles.prediction import Prediction
    from whyscan.profiles.rule import EngineProfile
    from whyscan.spark.stages.verify.conditions import CheckedPredicate
    from whyscan.spark.stages.verify.engines.engine import (
        EngineAnswer,
        OpenedEngine,
        Opening,
        Target,
    )
    from whyscan.spark.stages.verify.result import PredicateProof

ENGINES: Mapping[str, Opening] = {
    "spark-delta": open_reader,
    "spark-iceberg": open_reader,
    "spark-parquet": open_reader,
    "duckdb": open_duckdb,
    "datafusion": open_datafusion,
    "polars": open_polars,
    "pyiceberg": open_pyiceberg,
    "delta-rs": open_delta_rs,
    "pyarrow": open_pyarrow,
    "trino": open_trino,
}
"""By engine: the function that opens it. Its profile says which formats it reads."""

PACKAGES = {"pyiceberg": "pyiceberg", "polars": "polars", "delta-rs": "deltalake"}
"""By engine: the package that need not be installed."""

ROWS = "rows"
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
    return tuple(
        name
        for name in ENGINES
        if _reads(name, target)
        and (name != "trino" or target.trino is not None)
        and (name not in PACKAGES or find_spec(PACKAGES[name]) is not None)
    )


def _reads(name: str, target: Target) -> bool:
    """Whether an engine reads the format; engines take partitions from folders, not a catalog."""
    snapshot = target.snapshot
    declared = isinstance(snapshot, ParquetSnapshot) and snapshot.declared is not None
    return not declared and snapshot.format in engine_rules(name).formats


class VerifiedPredicate(Struct, frozen=True):
    """A predicate, its proof, and its plan as users get it; None if it could not be planned."""

    question: CheckedPredicate
    proof: PredicateProof
    plan: ScanPlan | None


def matrix(
    target: Target, engines: Sequence[str], predicates: Sequence[VerifiedPredicate]
) -> tuple[PredicateProof, ...]:
    """The proofs, each with the reads of every engine."""
    cells: dict[int, list[EngineRead]] = {number: [] for number in range(len(predicates))}
    readers = [
        None if predicate.plan is None else EngineReader(predicate.plan, open_more=True)
        for predicate in predicates
    ]
    for name in engines:
        opened: OpenedEngine | None = None
        why = f"{name} does not read {target.snapshot.format}"
        if _reads(name, target):
            try:
                opened = ENGINES[name](target)
            except WhyscanError as error:
                why = error.message
        for number, predicate in enumerate(predicates):
            cells[number].append(_cell(name, opened, why, predicate, readers[number]))
    return tuple(
        replace(predicate.proof, engines=tuple(cells[number]))
        for number, predicate in enumerate(predicates)
    )


def _cell(
    name: str,
    engine: OpenedEngine | None,
    why: str,
    predicate: VerifiedPredicate,
    reader: EngineReader | None,
) -> EngineRead:
    question, proof = predicate.question, predicate.proof
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
    if reader is not None:
        predicted = _predicted(_profile(name, answer), reader, answer)
        engine_read = replace(engine_read, predicted=predicted)
    return _compared_with_plan(engine_read, proof)


def _profile(name: str, answer: EngineAnswer) -> EngineProfile:
    """The profile of the version that answered, else the default one."""
    if answer.version is not None:
        try:
            return named_profiles([f"{name}@{answer.version}"])[0]
        except UsageError:
            pass
    return default_profile(engine_rules(name))


def _predicted(profile: EngineProfile, reader: EngineReader, answer: EngineAnswer) -> PredictedRead:
    prediction = reader.predict(profile)
    by_footers = reader.plan.snapshot.footers_describe_files
    numbers = comparable(prediction, answer, by_footers=by_footers)
    if len(numbers) > 1:
        # Pages and dictionaries leave out rows of row groups that are read.
        numbers.pop(ROWS, None)
    predicted = {level: pair[0] for level, pair in numbers.items()}
    bound = is_bound(prediction, numbers)
    return PredictedRead(
        version=profile.version,
        files=predicted.get(FILES),
        row_groups=predicted.get(ROW_GROUPS),
        rows=predicted.get(ROWS),
        at_least=bound,
        rules=tuple(dict.fromkeys(use.rule.id for use in prediction.uses)),
        reads=_agreement(numbers.values(), bound=bound),
    )


def comparable(
    prediction: Prediction, answer: EngineAnswer, *, by_footers: bool
) -> dict[str, tuple[int, int]]:
    """What was predicted and what was read, at the levels that both have.

    `by_footers`: only footers leave out files, which engines count before or after reading them.
    """
    groups = prediction.level(ROW_GROUPS)
    pairs = {
        FILES: (prediction.files_kept, answer.files),
        ROW_GROUPS: (None if groups is None else groups.kept, answer.row_groups),
        ROWS: (None if groups is None else groups.rows, answer.rows_read),
    }
    if by_footers and answer.row_groups is not None:
        del pairs[FILES]
    return {
        level: (predicted, read)
        for level, (predicted, read) in pairs.items()
        if predicted is not None and read is not None
    }


def is_bound(prediction: Prediction, levels: Collection[str]) -> bool:
    """Whether the engine may read more than it was predicted at one of these levels."""
    return any(
        level.at_least
        for level in prediction.levels
        if level.level in levels or (level.level == ROW_GROUPS and ROWS in levels)
    )


def _agreement(numbers: Collection[tuple[int, int]], *, bound: bool) -> EngineComparison | None:
    """What an engine read, compared with its profile; None if no number can be compared."""
    if not numbers:
        return None
    if not bound and any(read > predicted for predicted, read in numbers):
        return EngineComparison.MORE
    fewer = any(read < predicted for predicted, read in numbers)
    return EngineComparison.FEWER if fewer else EngineComparison.EQUAL


def _compared_with_plan(engine_read: EngineRead, proof: PredicateProof) -> EngineRead:
    """Compare an engine's reads with the plan: row groups if it counts them, else files or rows."""
    plan = proof.planned
    if plan is None:
        return engine_read
    pairs = (
        (ROW_GROUPS, engine_read.row_groups, plan.row_groups_kept),
        (FILES, engine_read.files, plan.files_kept),
        (ROWS, engine_read.rows_read, plan.rows_kept),
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
