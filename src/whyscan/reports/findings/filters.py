"""Findings about bloom filters: those that remove nothing, and equalities that have none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports.filters import FilterLine, filter_lines
from whyscan.reports.findings.finding import Code, Facts, Finding, Severity
from whyscan.reports.words import counted, inert, size
from whyscan.tables.snapshot import FilterKind

if TYPE_CHECKING:
    from collections.abc import Iterator

FEWEST_ROW_GROUPS = 4
"""Fewer row groups that stay undecided get no finding about bloom filters."""


def filters(facts: Facts) -> Iterator[Finding]:
    """Yield all findings of this family."""
    lines = filter_lines(facts.workings.filters, facts.plan.snapshot.format)
    dictionaries = {line.column: line for line in lines if line.mechanism is not FilterKind.BLOOM}
    blooms = [line for line in lines if line.mechanism is FilterKind.BLOOM]
    for line in blooms:
        if not line.present:
            yield from _without(line, dictionaries.get(line.column))
        elif not line.excluding:
            yield from _removing_nothing(line)
    yield from _not_read(facts, [line for line in blooms if line.present])


def _removing_nothing(line: FilterLine) -> Iterator[Finding]:
    if line.present < FEWEST_ROW_GROUPS:
        return
    yield Finding(
        Code.UNUSED_BLOOM_FILTERS,
        Severity.INFO,
        f"the bloom filters of {inert(line.column)} remove none of "
        f"{counted(line.present, 'row group')}: each may have a value of the predicate",
        None,
        {
            "row_groups": line.present,
            "bytes": line.bytes,
            "false_positive_rate": line.false_positive_rate or 0.0,
        },
        columns=(line.column,),
    )


def _not_read(facts: Facts, lines: list[FilterLine]) -> Iterator[Finding]:
    """Find filters that none of the named engines reads."""
    named = [engine for engine in facts.engines if engine.named]
    if not named or not lines or any(engine.reads_bloom_filters for engine in named):
        return
    columns = tuple(line.column for line in lines)
    total = sum(line.bytes for line in lines)
    yield Finding(
        Code.UNUSED_BLOOM_FILTERS,
        Severity.INFO,
        f"no bloom filter is read by {', '.join(inert(engine.title) for engine in named)}: those "
        f"of {', '.join(map(inert, columns))} take {size(total)} and remove nothing there",
        None,
        {"bytes": total, "row_groups": sum(line.present for line in lines)},
        columns=columns,
    )


def _without(line: FilterLine, dictionary: FilterLine | None) -> Iterator[Finding]:
    """Find a column that is compared by value, has many values, and has no bloom filters.

    A column of few values is wholly dictionary-encoded.
    """
    few_values = dictionary is not None and dictionary.present * 2 >= dictionary.row_groups
    if few_values or line.row_groups < FEWEST_ROW_GROUPS:
        return
    yield Finding(
        Code.NO_BLOOM_FILTERS,
        Severity.INFO,
        f"{inert(line.column)} is compared by value in {counted(line.row_groups, 'row group')} "
        "that its bounds leave open; it has no bloom filters, and no dictionary, as columns of "
        "many values have none",
        f"write bloom filters of {inert(line.column)}",
        {"row_groups": line.row_groups, "files": line.files},
        columns=(line.column,),
    )
