"""Facts about all parts of a table that decide how each part is planned and counted.

| fact about all parts | what it decides |
|---|---|
| how many files are kept | whether footers are opened |
| whether partition values remove a file | which mechanism gets the credit |
| the conjuncts that can be run on every partition value | which conjuncts are run |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.planning.plan.partition_values import is_open, truths_of_points

if TYPE_CHECKING:
    from whyscan.planning.plan.scan_plan import ScanPlan


class TableFacts(Struct, frozen=True):
    """The facts of one part, or the sum of the facts of several parts.

    Conjuncts are positions: `ran` were run on partition values, `unrunnable` could not be run.
    """

    kept: int
    partitions_stay: bool
    ran: frozenset[int]
    unrunnable: frozenset[int]

    @classmethod
    def of(cls, plan: ScanPlan) -> TableFacts:
        """The facts of the plan of one part."""
        evidence = plan.counted
        if not evidence.files.count:
            return cls(0, partitions_stay=True, ran=frozenset(), unrunnable=frozenset())
        partition = evidence.files.containers.by_partition()
        point_truths = truths_of_points(plan.predicate, partition, plan.zone)
        ran = frozenset(evidence.decided)
        conjuncts = plan.predicate.conjuncts
        settled = {
            at
            for at, truth in point_truths.items()
            if not is_open(truth, conjuncts[at].expression, partition, plan.zone)
        }
        positions = frozenset(range(len(conjuncts)))
        return cls(
            kept=evidence.file_count(evidence.judgement.kept),
            partitions_stay=bool(evidence.by_partition.kept.all()),
            ran=ran,
            unrunnable=positions - ran - settled,
        )

    def __add__(self, other: TableFacts) -> TableFacts:
        return TableFacts(
            self.kept + other.kept,
            self.partitions_stay and other.partitions_stay,
            self.ran | other.ran,
            self.unrunnable | other.unrunnable,
        )

    @property
    def run_everywhere(self) -> frozenset[int]:
        """The conjuncts that are run on the partition values of every part."""
        return self.ran - self.unrunnable

    @property
    def never_run(self) -> frozenset[int]:
        """The conjuncts that only some parts can run: all parts must interpret them."""
        return self.ran & self.unrunnable
