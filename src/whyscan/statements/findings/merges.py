"""Finds why a MERGE reads more of its target than its source can match, and what to add.

The plan of the source guarantees which values its columns have in the files that are read. They say
which rows of the target can match. As a condition of ON, every engine can prune by it. Delta on
Spark, which takes no values from the source at run time, prunes by nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.predicate.binding.comparisons import all_of
from whyscan.reports.findings import Code, Finding, Severity
from whyscan.reports.words import counted
from whyscan.statements.findings.merge_join import (
    Merge,
    bare_of,
    effect_of,
    equalities,
    merge_of,
    source_values,
)
from whyscan.statements.placement.facts import Fact
from whyscan.statements.placement.placement import Placement
from whyscan.statements.placement.row_facts import RowFacts
from whyscan.statements.sql.relations import Select, Source
from whyscan.tree.nodes import Column, Comparator, Comparison, columns_of
from whyscan.tree.rewrite import substituted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.statements.findings.context import FindingContext
    from whyscan.statements.findings.equalities import Side
    from whyscan.tree.nodes import Expression, Path


def merges(context: FindingContext) -> Iterator[Finding]:
    """The findings about a MERGE."""
    merge = merge_of(context)
    if merge is None:
        return
    yield from _without_partition_term(merge)
    yield from _in_function(merge)
    yield from _at_run_time(merge)
    yield from _by_source(merge)


def _without_partition_term(merge: Merge) -> Iterator[Finding]:
    """A finding where no condition is about the partitions of the target."""
    partitions = merge.partitioned_by
    conditions = [condition.expression for condition in merge.join.on]
    conditions += [fact.expression for fact in merge.context.facts(merge.key)]
    named = {c.path[1:] for e in conditions for c in columns_of(e) if c.path[0] == merge.key}
    if not partitions or partitions & named or merge.files < 2:  # noqa: PLR2004
        return
    names = ", ".join(".".join(path) for path in sorted(partitions))
    message = (
        f"ON has no term on {names}, by which {merge.title} is partitioned: "
        f"{merge.files:,} of {counted(merge.context.reading(merge.key).total, 'file')} are "
        "searched for rows that match"
    )
    evidence: dict[str, int | float | str] = {"files": merge.files, "partitioned_by": names}
    pairs = [pair for path in sorted(partitions) if (pair := _counterpart(merge, path))]
    if not pairs:
        fix = f"give the source {names} as well, and join by it too"
        yield Finding(Code.MERGE_WITHOUT_PARTITION_TERM, Severity.WARNING, message, fix, evidence)
        return
    yield _joined_by_partition(merge, pairs, message, evidence)


def _joined_by_partition(
    merge: Merge,
    pairs: Sequence[tuple[Column, Column]],
    message: str,
    evidence: dict[str, int | float | str],
) -> Finding:
    """The finding with the equalities of partition columns as its fix."""
    equal = [
        Comparison(Comparator.EQUAL, target_column, source_column)
        for target_column, source_column in pairs
    ]
    source_conditions = (
        source_values(merge, target_column, source_column) for target_column, source_column in pairs
    )
    conditions = [condition for condition in source_conditions if condition is not None]
    after = merge.read_with([merge.condition(part) for part in (*equal, *conditions)])
    effect = effect_of(merge, after)
    terms = equal if effect is None else [*equal, *conditions]
    sql = " AND ".join(merge.context.sql(part) for part in terms)
    names = " and ".join(".".join(target_column.path[1:]) for target_column, _ in pairs)
    gain = (
        f"reads {after:,} instead of {counted(merge.files, 'file')}"
        if effect is not None
        else "leaves it to the engine to take the source's partitions to the target"
    )
    return Finding(
        Code.MERGE_WITHOUT_PARTITION_TERM,
        Severity.WARNING,
        message,
        f"add {sql} to ON, which {gain}; it is the same where a row never changes its {names}",
        evidence,
        sql,
        effect,
    )


def _counterpart(merge: Merge, path: Path) -> tuple[Column, Column] | None:
    """A partition column of the target, and the source column with the same name and type."""
    source = merge.join.left
    if not isinstance(source, Source) or len(path) != 1:
        return None
    target_field = next((f for f in merge.target.fields if f.name == path[0]), None)
    source_field = next((f for f in source.fields if f.name.lower() == path[0].lower()), None)
    if target_field is None or source_field is None or target_field.type != source_field.type:
        return None
    return Column((merge.key, target_field.name), target_field.type), Column(
        (source.key, source_field.name), source_field.type
    )


def _in_function(merge: Merge) -> Iterator[Finding]:
    """A finding for each equality that has the target's column inside a function."""
    for side, other, sql in equalities(merge):
        if not isinstance(side.expression, Column):
            yield _wrapped(merge, side, sql, source_values(merge, side.expression, other))


def _wrapped(merge: Merge, side: Side, sql: str, source_condition: Expression | None) -> Finding:
    """The finding: the files that are read by the function, and by the bare column."""
    context, facts = merge.context, merge.context.facts(merge.key)
    rest = [fact for fact in facts if fact.via != sql]
    before = context.kept_with(merge.key, rest)
    name = ".".join(side.column.path[1:])
    fix = f"compare {name} itself: apply the inverse to the source's side"
    rewrite, effect = None, None
    if source_condition is not None:
        added = bare_of(source_condition, context.zone) or source_condition
        after = context.kept_with(merge.key, [*rest, Fact(added, sql)])
        rewrite, effect = context.sql(added), effect_of(merge, after, before)
    if effect is not None:
        fix += (
            f"; or add {rewrite} to ON, which follows from what the source's files hold, and "
            f"reads {effect.after:,} instead of {counted(before, 'file')}"
        )
    return Finding(
        Code.MERGE_KEY_IN_FUNCTION,
        Severity.WARNING,
        f"{sql} looks for {context.sql(side.expression)}: bounds and partitions of {merge.title} "
        f"are those of {name}, and an engine that does not see through it searches "
        f"{counted(before, 'file')}",
        fix,
        {"files": before, "column": name},
        rewrite if effect is not None else None,
        effect,
    )


def _at_run_time(merge: Merge) -> Iterator[Finding]:
    """A finding where engines learn the source's values at run time only; its files bound them."""
    bare = [(s.expression, o) for s, o, _ in equalities(merge) if isinstance(s.expression, Column)]
    source_conditions = (source_values(merge, column, other) for column, other in bare)
    pruning = [
        condition
        for condition in source_conditions
        if condition is not None and merge.read_with([merge.condition(condition)]) < merge.files
    ]
    if not pruning:
        return
    sql = " AND ".join(merge.context.sql(part) for part in pruning)
    effect = effect_of(merge, merge.read_with([merge.condition(part) for part in pruning]))
    if effect is None:
        return
    yield Finding(
        Code.MERGE_VALUES_AT_RUN_TIME,
        Severity.INFO,
        f"which rows of {merge.title} match is known when the source is read: an engine that does "
        f"not take its values to the target's files (Delta on Spark) searches "
        f"{counted(effect.before, 'file')}",
        f"add {sql} to ON: it follows from what the source's files hold now, and reads "
        f"{effect.after:,} instead of {counted(effect.before, 'file')}",
        {"files": effect.before},
        sql,
        effect,
    )


def _by_source(merge: Merge) -> Iterator[Finding]:
    """A finding where WHEN NOT MATCHED BY SOURCE has no condition and acts on all other rows."""
    target_query = merge.context.statement.target_query
    if not isinstance(target_query, Select) or target_query.where or merge.files < 2:  # noqa: PLR2004
        return
    message = (
        "WHEN NOT MATCHED BY SOURCE has no condition: every row of "
        f"{merge.title} that the source lacks is changed, and so "
        f"{counted(merge.files, 'file')} are read whatever ON says"
    )
    scope, narrow = _reach(merge)
    if scope is None:
        fix = "say which rows it may act on: WHEN NOT MATCHED BY SOURCE AND …"
        yield Finding(Code.NOT_MATCHED_BY_SOURCE_READS_ALL, Severity.WARNING, message, fix)
        return
    condition = merge.condition(scope)
    orphan_condition = merge.condition(_renamed(scope, target_query))
    added = [condition] if narrow else []
    effect = effect_of(merge, merge.read_with(added, orphans=orphan_condition))
    where_to = "ON and to the clause" if narrow else "the clause"
    fix = f"if rows beyond what the source can match are to stay, add {condition.sql} to {where_to}"
    if effect is not None:
        fix += f": {effect.after:,} instead of {counted(effect.before, 'file')} are read"
    yield Finding(
        Code.NOT_MATCHED_BY_SOURCE_READS_ALL,
        Severity.WARNING,
        message,
        fix,
        {"files": merge.files},
        condition.sql,
        effect,
    )


def _reach(merge: Merge) -> tuple[Expression | None, bool]:
    """A condition on the target rows that can match, and whether it must be added to ON."""
    statement = merge.context.statement
    leaves = Placement(statement.clock.zone, RowFacts(lambda _: ())).run(statement.query)
    facts = next(leaf.facts for leaf in leaves if leaf.source.key == merge.key)
    if facts:
        return all_of([fact.expression for fact in facts]), False
    source_conditions = (
        source_values(merge, side.expression, other) for side, other, _ in equalities(merge)
    )
    conditions = [condition for condition in source_conditions if condition is not None]
    return (all_of(conditions), True) if conditions else (None, False)


def _renamed(expression: Expression, target_query: Select) -> Expression:
    """The same condition on the target rows that have no source row."""
    tree = target_query.tree
    key = tree.key if isinstance(tree, Source) else ""
    renamed = substituted(expression, lambda c: Column((key, *c.path[1:]), c.type))
    return expression if renamed is None else renamed
