"""What must be known of all parts of a table before one of them is planned and counted for good.

| known of all parts | decides |
|---|---|
| how many files stay | whether footers are opened |
| whether partition values remove a file | who is told to have removed what |
| the conjuncts that can be run on every partition value | which are run at all |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.planning.plan.partition_values import is_open, truths_of_points

if TYPE_CHECKING:
    from whyscan.planning.plan.scan_plan import ScanPlan


class TableFacts(Struct, frozen=True):
    """What one part knows; of several, their sum.

    Conjuncts, by position: `ran` are those that were run on partition values, `unrunnable` those
    that could not be.
    """

    kept: int
    partitions_stay: bool
    ran: frozenset[int]
    unrunnable: frozenset[int]

    @classmethod
    def of(cls, plan: ScanPlan) -> TableFacts:
        """What the plan of one part knows."""
        evidence = plan.counted
        if not evidence.files.count:
            return cls(0, partitions_stay=True, ran=frozenset(), unrunnable=frozenset())
        partition = evidence.files.containers.by_partition()
        pointed = truths_of_points(plan.predicate, partition, plan.zone)
        ran = frozenset(evidence.decided)
        conjuncts = plan.predicate.conjuncts
        settled = {
            at
            for at, truth in pointed.items()
            if not is_open(truth, conjuncts[at].expression, partition, plan.zone)
        }
        every = frozenset(range(len(conjuncts)))
        return cls(
            kept=evidence.number(evidence.judgement.kept),
            partitions_stay=bool(evidence.by_partition.kept.all()),
            ran=ran,
            unrunnable=every - ran - settled,
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
        """The conjuncts that are run: on the partition values of every part."""
        return self.ran - self.unrunnable

    @property
    def never_run(self) -> frozenset[int]:
        """Those that some parts can run and others cannot: all of them are to interpret them."""
        return self.ran & self.unrunnable
