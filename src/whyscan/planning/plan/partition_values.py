"""Exact answers on partition values: DuckDB decides what the interpreter leaves open.

A conjunct that names only identity partition columns has one answer for each distinct tuple of
their values. Where the interpreter has no rule for a function in it, DuckDB runs the function.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from whyscan.planning.plan.duckdb_sql import (
    answers,
    to_duckdb,
    where_it_means_the_same,
    writes_the_same,
)
from whyscan.planning.plan.text_lengths import makes_little
from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.mask import (
    Mask,
    any_of,
    both,
    either,
    materialise,
    opposite,
    simplified,
    tally,
    unknown_as,
)
from whyscan.pruning.truth import Truth
from whyscan.tree import arrow
from whyscan.tree.nodes import Column, columns_of
from whyscan.tree.types import DateType, IntegerType, StringType

if TYPE_CHECKING:
    from whyscan.planning.plan.judgement import Decided
    from whyscan.pruning.containers import Containers
    from whyscan.tree.nodes import Expression, Predicate
    from whyscan.tree.zones import Zone


def truths_of_points(predicate: Predicate, containers: Containers, zone: Zone) -> Decided:
    """The truth, file by file, of the conjuncts whose columns have one value in each file."""
    truths: dict[int, Truth] = {}
    for position, conjunct in enumerate(predicate.conjuncts):
        columns = conjunct.columns
        if columns and all(_is_a_point(column, containers) for column in columns):
            truths[position] = evaluate(conjunct.expression, containers, zone)
    return truths


def decide(
    predicate: Predicate, point_truths: Decided, containers: Containers, zone: Zone
) -> Decided:
    """The truth of those conjuncts that the interpreter leaves open and DuckDB can decide."""
    decided: dict[int, Truth] = {}
    for position, truth in point_truths.items():
        expression = predicate.conjuncts[position].expression
        if is_open(truth, expression, containers, zone):
            answer = _run(expression, containers, truth)
            if answer is not None:
                decided[position] = answer
    return decided


def spread(decided: Decided, at: pa.Array) -> Decided:
    """The same truths for the row groups of files: `at` is the file of each row group."""

    def take(mask: Mask) -> Mask:
        return mask if isinstance(mask, bool) else mask.take(at)

    return {position: truth.map(take) for position, truth in decided.items()}


def _is_a_point(column: Column, containers: Containers) -> bool:
    """Every container has one value of this column, or only NULL."""
    interval = containers.partition.get(column.path)
    if interval is None or not isinstance(column.type, IntegerType | StringType | DateType):
        return False
    alone = either(both(interval.point(), opposite(interval.null)), opposite(interval.present))
    return tally(alone, containers.count) == containers.count


def is_open(truth: Truth, expression: Expression, containers: Containers, zone: Zone) -> bool:
    """Some container may give more than one answer."""
    blocks = containers.blocks
    if blocks is None:
        return tally(_several(truth), containers.count) > 0
    # The hull may give every answer that a member may give: closed blocks have one answer.
    columns = columns_of(expression)
    hulls = blocks.hulls(containers, columns)
    several_answers = materialise(_several(evaluate(expression, hulls, zone)), blocks.count)
    open_blocks = np.flatnonzero(several_answers.to_numpy(zero_copy_only=False))
    if not len(open_blocks):
        return False
    members = blocks.members(containers, columns, open_blocks)
    return tally(_several(evaluate(expression, members, zone)), members.count) > 0


def _several(truth: Truth) -> Mask:
    possible = (truth.true, truth.false, truth.null, truth.raises)
    return any_of(both(*pair) for pair in combinations(possible, 2))


def _run(expression: Expression, containers: Containers, truth: Truth) -> Truth | None:
    """The truth by running the expression on each distinct tuple; None where it cannot be run.

    Where DuckDB may give another answer than Spark, the interpreter's `truth` stays. Whether the
    expression can be run must not depend on the values: all parts of a table must decide the same.
    """
    columns = columns_of(expression)
    names = {column.path: f"c{i}" for i, column in enumerate(columns)}
    sql = to_duckdb(expression, names)
    values = [v for c in columns if (v := _values(c, containers)) is not None]
    if sql is None or len(values) < len(columns) or not writes_the_same(expression):
        return None
    if not makes_little(expression, columns, values):
        return truth
    sent = where_it_means_the_same(expression, values)
    if not tally(sent, containers.count):
        return truth
    numbers = arrow.tuple_numbers(values, containers.count)
    _, at, tuple_of = np.unique(numbers, return_index=True, return_inverse=True)
    first = pa.array(at)
    is_sent = materialise(sent, containers.count).take(first)
    tuples = pa.table({n: v.take(first) for n, v in zip(names.values(), values, strict=True)})
    answered = answers(sql, tuples.filter(is_sent))
    if answered is None:
        return None
    place = pa.array(np.cumsum(is_sent) - 1, mask=~np.asarray(is_sent))
    return _truth(answered.take(place).take(pa.array(tuple_of)), sent, truth)


def _values(column: Column, containers: Containers) -> pa.Array | None:
    """One value per container, NULL where it has none; text as text."""
    interval = containers.partition[column.path]
    lower = interval.lower
    if lower is None:
        return None
    values = lower if isinstance(lower, pa.Array) else pa.repeat(lower, containers.count)
    if isinstance(column.type, StringType):
        try:
            return values.cast(pa.string())
        except pa.ArrowInvalid:
            return None
    return values


def _truth(answers: pa.Array, sent: Mask, truth: Truth) -> Truth:
    """DuckDB's answers where tuples were sent, and the interpreter's `truth` elsewhere."""

    def chosen(answer: Mask, otherwise: Mask) -> Mask:
        return either(both(sent, answer), both(opposite(sent), otherwise))

    return Truth(
        lambda: chosen(unknown_as(answers, verdict=False), truth.true),
        lambda: chosen(opposite(unknown_as(answers, verdict=True)), truth.false),
        lambda: chosen(simplified(answers.is_null()), truth.null),
        lambda: both(opposite(sent), truth.raises),
    )
