"""Exact answers on partition values: what the interpreter leaves open, DuckDB decides.

A conjunct that names only identity partition columns has one answer for each distinct tuple of
their values. Where the interpreter has no rule for a function in it, the function is run.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from whyscan.planning.plan.duckdb_sql import (
    DuckDBConnection,
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
    settled,
    tally,
    unknown_as,
)
from whyscan.pruning.truth import Truth
from whyscan.tree.nodes import Column, columns_of
from whyscan.tree.types import DateType, IntegerType, StringType

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from whyscan.planning.plan.judgement import Decided
    from whyscan.pruning.containers import Containers
    from whyscan.tree.nodes import Expression, Predicate
    from whyscan.tree.zones import Zone


def truths_of_points(predicate: Predicate, containers: Containers, zone: Zone) -> Decided:
    """The truth, file by file, of the conjuncts that name columns with one value in each file."""
    found: dict[int, Truth] = {}
    for position, conjunct in enumerate(predicate.conjuncts):
        columns = columns_of(conjunct.expression)
        if columns and all(_is_a_point(column, containers) for column in columns):
            found[position] = evaluate(conjunct.expression, containers, zone)
    return found


def decide(predicate: Predicate, pointed: Decided, containers: Containers, zone: Zone) -> Decided:
    """The truth of those of them that only running them can decide, as far as that goes."""
    decided: dict[int, Truth] = {}
    for position, found in pointed.items():
        expression = predicate.conjuncts[position].expression
        if is_open(found, expression, containers, zone):
            answer = _run(expression, containers, found)
            if answer is not None:
                decided[position] = answer
    return decided


def spread(decided: Decided, at: pa.Array) -> Decided:
    """The same answers for the parts of files: `at` is the file of each part."""

    def take(mask: Mask) -> Mask:
        return mask if isinstance(mask, bool) else mask.take(at)

    def taken(truth: Truth) -> Truth:
        return Truth(
            lambda: take(truth.true),
            lambda: take(truth.false),
            lambda: take(truth.null),
            lambda: take(truth.raises),
        )

    return {position: taken(truth) for position, truth in decided.items()}


def _is_a_point(column: Column, containers: Containers) -> bool:
    """Every container has one value of this column, or only NULL."""
    interval = containers.partition.get(column.path)
    if interval is None or not isinstance(column.type, IntegerType | StringType | DateType):
        return False
    alone = either(both(interval.point(), opposite(interval.null)), opposite(interval.present))
    return tally(alone, containers.count) == containers.count


def is_open(found: Truth, expression: Expression, containers: Containers, zone: Zone) -> bool:
    """Some container may give more than one answer."""
    blocks = containers.blocks
    if blocks is None:
        return tally(_several(found), containers.count) > 0
    # What a member may give its hull may give: members of the other blocks have one answer.
    columns = columns_of(expression)
    hulls = blocks.hulls(containers, columns)
    several = materialise(_several(evaluate(expression, hulls, zone)), blocks.count)
    open_ = np.flatnonzero(several.to_numpy(zero_copy_only=False))
    if not len(open_):
        return False
    members = blocks.members(containers, columns, open_)
    return tally(_several(evaluate(expression, members, zone)), members.count) > 0


def _several(found: Truth) -> Mask:
    possible = (found.true, found.false, found.null, found.raises)
    return any_of(both(*two) for two in combinations(possible, 2))


def _run(expression: Expression, containers: Containers, found: Truth) -> Truth | None:
    """The expression on each distinct tuple; what was `found` where DuckDB may mean another thing.

    None where it cannot be run, whatever the values: one part of a table is to say what all say.
    """
    columns = columns_of(expression)
    names = {column.path: f"c{i}" for i, column in enumerate(columns)}
    sql = to_duckdb(expression, names)
    values = [v for c in columns if (v := _values(c, containers)) is not None]
    if sql is None or len(values) < len(columns) or not writes_the_same(expression):
        return None
    if not makes_little(expression, columns, values):
        return found
    sent = where_it_means_the_same(expression, values)
    if not tally(sent, containers.count):
        return found
    first, tuple_of = _distinct(values)
    asked = materialise(sent, containers.count).take(first)
    tuples = pa.table({n: v.take(first) for n, v in zip(names.values(), values, strict=True)})
    with DuckDBConnection() as engine:
        answers = engine.answers(sql, tuples.filter(asked))
    if answers is None:
        return None
    place = pa.array(np.cumsum(asked) - 1, mask=~np.asarray(asked))
    return _truth(answers.take(place).take(pa.array(tuple_of)), sent, found)


def _values(column: Column, containers: Containers) -> pa.Array | None:
    """One value a container, NULL where it has none; text as text."""
    interval = containers.partition[column.path]
    lower = interval.lower
    if lower is None:
        return None
    whole = lower if isinstance(lower, pa.Array) else pa.repeat(lower, containers.count)
    if isinstance(column.type, StringType):
        try:
            return whole.cast(pa.string())
        except pa.ArrowInvalid:
            return None
    return whole


def _distinct(
    values: Sequence[pa.Array],
) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """Where each distinct tuple first stands, and the tuple of each container."""
    codes = np.zeros(len(values[0]), np.int64)
    for column in values:
        encoded = column.dictionary_encode(null_encoding="encode")
        codes = codes * (len(encoded.dictionary) + 1) + encoded.indices.to_numpy()
        _, codes = np.unique(codes, return_inverse=True)
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return pa.array(first), inverse.astype(np.int64)


def _truth(answers: pa.Array, sent: Mask, found: Truth) -> Truth:
    """The answers to what was sent, and of the rest what was found without."""

    def chosen(answer: Mask, other: Mask) -> Mask:
        return either(both(sent, answer), both(opposite(sent), other))

    return Truth(
        lambda: chosen(unknown_as(answers, verdict=False), found.true),
        lambda: chosen(opposite(unknown_as(answers, verdict=True)), found.false),
        lambda: chosen(settled(answers.is_null()), found.null),
        lambda: both(opposite(sent), found.raises),
    )
