"""The data from which findings are made, and plans of changed statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.plan.scan_plan import Depth
from whyscan.reports.findings import Effect
from whyscan.statements.joins.dynamic_filters import filters_of
from whyscan.statements.joins.edges import Origins, every_source
from whyscan.statements.scans import placed_scans, predicate_of
from whyscan.tree.lazy import lazy
from whyscan.tree.nodes import Column
from whyscan.tree.rendering import to_sql
from whyscan.tree.rewrite import substituted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from whyscan.reports.gates import GatedAmount
    from whyscan.statements.joins.dynamic_filters import PlannedScan
    from whyscan.statements.placement.facts import Fact
    from whyscan.statements.placement.placement import PlacedScan
    from whyscan.statements.records import ScanReport
    from whyscan.statements.scans import BoundStatement
    from whyscan.statements.sql.relations import Query
    from whyscan.tree.nodes import Expression
    from whyscan.tree.zones import Zone


SHARE = 0.1
"""A finding needs at least this share of the bytes that the statement reads."""


class FindingContext(Struct, frozen=True, dict=True):
    """A statement with its scans, by key.

    `static` are their plans without what joins supply; changed statements are planned without it
    too.
    """

    statement: BoundStatement
    static: Mapping[str, PlannedScan]
    scans: Mapping[str, ScanReport]
    titles: Mapping[str, str]

    @lazy
    def origins(self) -> Origins:
        return Origins(self.statement.query)

    @lazy
    def _aliases(self) -> Mapping[str, str]:
        return {source.key: source.alias for source in every_source(self.statement.query)}

    @property
    def query(self) -> Query:
        return self.statement.query

    @property
    def zone(self) -> Zone:
        return self.statement.clock.zone

    def reading(self, key: str) -> GatedAmount:
        """The files and bytes that a scan reads, as in its report."""
        return self.scans[key].reading

    def rows(self, key: str) -> int | None:
        """The rows of the files that a scan keeps; None where they are unknown."""
        return self.static[key].plan.summary.rows_kept

    def facts(self, key: str) -> Sequence[Fact]:
        return self.static[key].leaf.facts

    def is_filtered(self, key: str) -> bool:
        """Whether a condition of the statement reaches the scan."""
        return bool(self.facts(key))

    def larger(self, one: str, other: str) -> str:
        """The scan that reads more bytes, or more files where bytes are unknown."""
        reads = {key: self.reading(key) for key in (one, other)}
        if any(read.bytes_kept is None for read in reads.values()):
            return max(reads, key=lambda key: reads[key].kept)
        return max(reads, key=lambda key: reads[key].bytes_kept or 0)

    def is_relevant(self, reads: int | None) -> bool:
        """Whether the bytes are a relevant share of what the statement reads; unknown bytes are."""
        sizes = [self.reading(key).bytes_kept for key in self.static]
        sizes_read = [size for size in sizes if size is not None]
        return reads is None or len(sizes_read) < len(sizes) or reads >= SHARE * sum(sizes_read)

    def sql(self, expression: Expression) -> str:
        """An expression as SQL, with the aliases of the statement."""
        with_aliases = substituted(expression, self._with_alias)
        return to_sql(expression if with_aliases is None else with_aliases)

    def _with_alias(self, column: Column) -> Column:
        return Column((self._aliases.get(column.path[0], ""), *column.path[1:]), column.type)

    def leaves(self, query: Query) -> dict[str, PlacedScan]:
        """The scans of a changed statement that this statement has too, by key."""
        placed = placed_scans(replace(self.statement, query=query))
        return {leaf.source.key: leaf for leaf in placed if leaf.source.key in self.static}

    def kept(self, leaf: PlacedScan) -> int:
        """The number of files that a scan keeps with other filters, on the same snapshot."""
        key = leaf.source.key
        if filters_of(leaf) == filters_of(self.static[key].leaf):
            return self.static[key].plan.summary.files_kept
        options = replace(self.static[key].plan.options, depth=Depth.FILES)
        scan_predicate = predicate_of(leaf.facts, self.statement)
        return self.statement.planner.plan(
            leaf.base.snapshot, scan_predicate, options
        ).summary.files_kept

    def kept_with(self, key: str, facts: Iterable[Fact]) -> int:
        """The number of files that a scan keeps with these filters instead of its present ones."""
        return self.kept(replace(self.static[key].leaf, facts=tuple(facts)))

    def gain(self, query: Query) -> tuple[str, Effect] | None:
        """The scan of which a changed statement saves most files, and the effect; None for none."""
        best: tuple[str, Effect] | None = None
        for key, leaf in self.leaves(query).items():
            effect = self.effect(key, self.kept(leaf))
            if effect is not None and (best is None or _saved(effect) > _saved(best[1])):
                best = (key, effect)
        return best

    def effect(self, key: str, after: int) -> Effect | None:
        """The effect from the present number of files to `after`; None where nothing is saved."""
        before = self.reading(key).kept
        return Effect(f"files of {self.titles[key]}", before, after) if after < before else None


def _saved(effect: Effect) -> int:
    return effect.before - effect.after
