"""Evaluates a predicate on rows: a row is a container whose bounds are its values.

The evaluator that plans files also decides rows, so that reading and planning agree. DuckDB runs
the conditions that the evaluator cannot decide. A condition that DuckDB cannot run is an error,
never a guess. AND, OR and NOT are evaluated row by row: a row that one operand decides needs no
other operand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import EvaluationProblem
from whyscan.planning.plan.duckdb_sql import answers, means_the_same, to_duckdb
from whyscan.planning.plan.judgement import flags
from whyscan.planning.plan.text_lengths import makes_little
from whyscan.pruning.containers import Containers
from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.functions.time.kernels import floor_divide, times
from whyscan.pruning.interval import Interval, points
from whyscan.tree.arrow import arrow_type
from whyscan.tree.nodes import (
    And,
    Between,
    Column,
    Comparison,
    IsNull,
    Literal,
    Not,
    Or,
    children,
    columns_of,
)
from whyscan.tree.rendering import to_sql
from whyscan.tree.types import (
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
    TimestampType,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.pruning.mask import Mask, Vector
    from whyscan.tree.nodes import Expression, Path
    from whyscan.tree.types import Type
    from whyscan.tree.zones import Zone

Flags = npt.NDArray[np.bool_]
_SAMPLE = 1 << 12
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_RUN = (BooleanType, DateType, IntegerType, StringType)


class FileRows(Struct, frozen=True):
    """Rows of one file: an Arrow array per column, and an interval per constant column."""

    count: int
    values: Mapping[Column, pa.Array]
    constants: Mapping[Path, Interval]
    zone: Zone

    def containers(self) -> Containers:
        """One container per row."""
        intervals = {
            column.path: as_interval(array, column.type) for column, array in self.values.items()
        }
        return Containers(self.count, statistics={**intervals, **self.constants})

    def at(self, chosen: Flags) -> FileRows:
        mask = pa.array(chosen)
        values = {column: array.filter(mask) for column, array in self.values.items()}
        return replace(self, count=int(chosen.sum()), values=values)


class Ternary(Struct, frozen=True):
    """One truth value per row: TRUE, FALSE, NULL, or not decided yet."""

    true: Flags
    false: Flags
    null: Flags

    @property
    def open(self) -> Flags:
        undecided: Flags = ~(self.true | self.false | self.null)
        return undecided

    def negated(self) -> Ternary:
        return Ternary(self.false, self.true, self.null)


def matching(conjuncts: Sequence[Expression], rows: FileRows) -> Flags:
    """The rows for which every conjunct is TRUE.

    A row that one conjunct excludes does not match, even if another conjunct raises an error: a
    file of such rows is pruned, too.
    """
    judge = _Judge(rows)
    outcomes = [_evaluated(conjunct, judge) for conjunct in conjuncts]
    possible: Flags = np.ones(rows.count, np.bool_)
    for outcome in outcomes:
        possible &= ~(outcome.false | outcome.null)
    for conjunct, outcome in zip(conjuncts, outcomes, strict=True):
        undecided = possible & outcome.open
        if undecided.any():
            possible[undecided] = _run(conjunct, rows.at(undecided))
    return possible


def _run(conjunct: Expression, rows: FileRows) -> Flags:
    """The rows for which the conjunct is TRUE, where the evaluator alone cannot decide."""
    judge = _Runner(rows)
    outcome = _evaluated(conjunct, judge)
    if outcome.open.any():
        raise EvaluationProblem(
            f"cannot evaluate {judge.culprit or to_sql(conjunct)} on the rows: "
            f"{int(outcome.open.sum())} of {rows.count} may match or may raise an error",
            hint="plan without this condition, and filter what is read in an engine of your own",
        )
    return outcome.true


def _evaluated(expression: Expression, atoms: _Judge) -> Ternary:
    match expression:
        case And():
            return _all([_evaluated(e, atoms) for e in expression.operands])
        case Or():
            return _all([_evaluated(e, atoms).negated() for e in expression.operands]).negated()
        case Not():
            return _evaluated(expression.operand, atoms).negated()
        case _:
            return atoms.judge(expression)


def _all(operands: Sequence[Ternary]) -> Ternary:
    """AND: FALSE if any is FALSE, TRUE if all are, NULL if some are NULL and the others TRUE."""
    true, false, null = operands[0].true, operands[0].false, operands[0].null
    for operand in operands[1:]:
        null = (null & (operand.true | operand.null)) | (true & operand.null)
        true, false = true & operand.true, false | operand.false
    return Ternary(true, false, null)


class _Judge:
    """Decides rows with the evaluator. In a column with few values, each is evaluated once."""

    def __init__(self, rows: FileRows) -> None:
        self._rows = rows
        self._encoded: dict[Column, pa.DictionaryArray | None] = {}

    def judge(self, atom: Expression) -> Ternary:
        columns = columns_of(atom)
        if len(columns) != 1 or _is_quick(atom) or columns[0] not in self._rows.values:
            return self._directly(atom, self._rows)
        encoded = self._few(columns[0])
        if encoded is None:
            return self._directly(atom, self._rows)
        values = {columns[0]: encoded.dictionary}
        distinct = self._directly(
            atom, replace(self._rows, count=len(encoded.dictionary), values=values)
        )
        at = encoded.indices.to_numpy()
        return Ternary(distinct.true[at], distinct.false[at], distinct.null[at])

    def _few(self, column: Column) -> pa.DictionaryArray | None:
        """The column as a dictionary of its values and NULL; None if most rows differ."""
        if column not in self._encoded:
            array = self._rows.values[column]
            plain = array.storage if isinstance(array, pa.ExtensionArray) else array
            few = _is_repetitive(plain)
            self._encoded[column] = plain.dictionary_encode("encode") if few else None
        return self._encoded[column]

    def _directly(self, atom: Expression, rows: FileRows) -> Ternary:
        truth = evaluate(atom, rows.containers(), rows.zone)
        may = [flags(m, rows.count) for m in (truth.true, truth.false, truth.null, truth.raises)]
        alone: Flags = np.sum(may, axis=0, dtype=np.int8) == 1
        return Ternary(may[0] & alone, may[1] & alone, may[2] & alone)


class _Runner(_Judge):
    """Decides rows with the evaluator, then with DuckDB; `culprit` is what DuckDB cannot run."""

    culprit: str | None = None

    def _directly(self, atom: Expression, rows: FileRows) -> Ternary:
        outcome = super()._directly(atom, rows)
        undecided = outcome.open
        if not undecided.any():
            return outcome
        ran = _answers(atom, rows.at(undecided))
        if ran is None:
            self.culprit = self.culprit or to_sql(atom)
            return outcome
        null = ran.is_null().to_numpy(zero_copy_only=False)
        true = pc.fill_null(ran, fill_value=False).to_numpy(zero_copy_only=False)
        for target, part in (
            (outcome.true, true),
            (outcome.false, ~true & ~null),
            (outcome.null, null),
        ):
            target[undecided] = part
        return outcome


def _is_quick(atom: Expression) -> bool:
    """A column compared with literals: this is faster than finding the distinct values."""
    match atom:
        case Comparison() | Between() | IsNull():
            return all(isinstance(part, Column | Literal) for part in children(atom))
        case _:
            return isinstance(atom, Column)


def _is_repetitive(array: pa.Array) -> bool:
    """Fewer than half of the values of a sample from the middle are distinct."""
    sample = array.slice(max(0, (len(array) - _SAMPLE) // 2), _SAMPLE)
    if pa.types.is_nested(array.type) or len(array) < _SAMPLE:
        return False
    return len(sample.unique()) * 2 < len(sample)


def _answers(atom: Expression, rows: FileRows) -> pa.Array | None:
    """The result of the expression for each row; None if DuckDB may have other semantics."""
    columns = columns_of(atom)
    names = {column.path: f"c{i}" for i, column in enumerate(columns)}
    sql = to_duckdb(atom, names)
    if (
        sql is None
        or not columns
        or not all(isinstance(c.type, _RUN) and c in rows.values for c in columns)
    ):
        return None
    try:
        values = [_sent(rows.values[column], column.type) for column in columns]
    except pa.ArrowInvalid:
        return None
    if not means_the_same(atom, values) or not makes_little(atom, columns, values):
        return None
    return answers(sql, pa.table(values, list(names.values())))


def _sent(array: pa.Array, kind: Type) -> pa.Array:
    return array.cast(pa.string() if isinstance(kind, StringType) else arrow_type(kind))


def as_interval(array: pa.Array, kind: Type) -> Interval:
    """One interval per value: a point, NULL, or NaN."""
    point = represented(array, kind)
    null: Mask = array.is_null() if array.null_count else False
    present: Mask = array.is_valid() if array.null_count else True
    if point is None:
        return Interval(kind, None, None, value=present, null=null, nan=isinstance(kind, FloatType))
    return points(kind, point, null)


def represented(array: pa.Array, kind: Type) -> Vector | None:
    """The values as the evaluator holds them (tree/arrow.py); None for a type without an order."""
    target = arrow_type(kind)
    if pa.types.is_null(target):
        return None
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if isinstance(kind, TimestampType):
        return _in_steps(array, target)
    if isinstance(kind, DecimalType) and not pa.types.is_decimal(array.type):
        return array.cast(pa.decimal128(20, 0)).cast(target)
    return array if array.type == target else array.cast(target)


def _in_steps(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Timestamps in another unit. Finer digits are rounded down, as Spark does.

    A timestamp that does not fit into 64 bits of the finer unit is unknown.
    """
    steps = array.view(pa.int64())
    has, wanted = _PER_SECOND[array.type.unit], _PER_SECOND[target.unit]
    if wanted < has:
        steps = floor_divide(steps, has // wanted)
    elif wanted > has:
        factor = wanted // has
        steps = times(steps, factor)
    return steps.view(target)
