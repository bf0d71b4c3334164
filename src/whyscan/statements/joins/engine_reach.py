"""Which of the amounts `static`, `bounded` and `actual` of a scan an engine reaches, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.profiles.dynamic_filters import DYNAMIC_FILTERS
from whyscan.profiles.engine_names import named_profiles
from whyscan.statements.records import DynamicOfEngine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.planning.plan.scan_plan import PlannedSnapshot
    from whyscan.tree.nodes import Column


def engine_reach(
    plan: PlannedSnapshot,
    columns: Sequence[Column],
    *,
    filtered_source: bool,
    values: int | None = None,
) -> Iterator[DynamicOfEngine]:
    """Yield how far each named engine reaches in a scan whose `columns` joins filter.

    `filtered_source`: a scan that supplies values has a filter of its own. `values` counts the
    distinct values that a join supplies, None if they were not read.
    """
    snapshot = plan.snapshot
    partitioned = set(snapshot.partition_sources)
    by_partition = any(column.path in partitioned for column in columns)
    for profile in named_profiles(plan.options.engines or ()):
        if not profile.reads(snapshot.format):
            continue
        rule = next(
            rule
            for rule in DYNAMIC_FILTERS[profile.name]
            if rule.holds(
                partition_column=by_partition, filtered_source=filtered_source, values=values
            )
        )
        yield DynamicOfEngine(
            profile.name,
            profile.version,
            rule.reach.value,
            rule.why,
            rule.source,
            rule.evidence.value,
        )
