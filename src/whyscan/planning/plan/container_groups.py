"""Groups of containers that nothing distinguishes for one predicate: each is counted as one.

If containers are in blocks, most blocks are one group each; only the members of the other blocks
are groups by themselves. So a table with a million files needs some thousand flags. Elsewhere every
container is a group. A number of a report is a sum over flagged groups, each with its weight: how
many containers, bytes and rows it has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa
from msgspec import Struct

from whyscan.pruning.blocks import Blocks
from whyscan.tree.lazy import lazy

if TYPE_CHECKING:
    import numpy.typing as npt

    from whyscan.planning.plan.judgement import Flags

    Positions = npt.NDArray[np.int64]

Number = TypeVar("Number", bound=np.generic)


class ContainerGroups(Struct, frozen=True, eq=False, dict=True):
    """Groups: first one for each of the `whole_blocks`, then one for each single container.

    `single_places` are places in the order of the blocks, and ascend. `plain`: every container is a
    group by itself, and the groups are in the order of the containers.
    """

    blocks: Blocks
    whole_blocks: Positions
    single_places: Positions
    plain: bool = False

    @classmethod
    def one_per_container(cls, count: int) -> ContainerGroups:
        """The groups of `count` containers that are not in blocks."""
        positions, no_blocks = np.arange(count), np.zeros(0, np.int64)
        return cls(Blocks(positions, np.array([0, count])), no_blocks, positions, plain=True)

    @property
    def count(self) -> int:
        return len(self.whole_blocks) + len(self.single_places)

    @lazy
    def open_blocks(self) -> Positions:
        """The blocks whose members are groups by themselves."""
        is_open = np.ones(self.blocks.count, np.bool_)
        is_open[self.whole_blocks] = False
        return np.flatnonzero(is_open)

    @lazy
    def sizes(self) -> Positions:
        """How many containers each group has."""
        if self.plain:
            # One number in memory, however many groups there are.
            return np.broadcast_to(np.int64(1), self.count)
        return np.concatenate(
            (self.blocks.sizes[self.whole_blocks], np.ones(len(self.single_places), np.int64))
        )

    @lazy
    def examples(self) -> Positions:
        """The position of one container of each group."""
        if self.plain:
            return self.single_places
        return self.blocks.order[
            np.concatenate((self.blocks.begins[self.whole_blocks], self.single_places))
        ]

    def container_count(self, flagged: Flags) -> int:
        """How many containers the flagged groups have."""
        if self.plain:
            return int(np.count_nonzero(flagged))
        of_blocks, of_singles = np.split(flagged, [len(self.whole_blocks)])
        sizes = self.sizes[: len(self.whole_blocks)]
        # Many times faster than indexing with flags that alternate.
        in_blocks = int(np.einsum("i,i", sizes, of_blocks, dtype=np.int64))
        return in_blocks + int(np.count_nonzero(of_singles))

    def sums(self, values: pa.Array) -> pa.Array:
        """The sum of each group; only in plain groups may a value be unknown."""
        if self.plain:
            return values
        ordered = self.blocks.ordered(values).to_numpy()
        return pa.array(
            np.concatenate(
                (self.blocks.sums(values)[self.whole_blocks], ordered[self.single_places])
            )
        )

    def positions(self, flagged: Flags) -> Positions:
        """The positions of the containers of the flagged groups, group by group."""
        blocks, singles = map(np.flatnonzero, np.split(flagged, [len(self.whole_blocks)]))
        places = self.blocks.places(self.whole_blocks[blocks])
        return self.blocks.order[np.concatenate((places, self.single_places[singles]))]

    def spread(self, values: npt.NDArray[Number]) -> npt.NDArray[Number]:
        """Spread one value per group to one value per container, in their order."""
        return values.take(self.group_numbers)

    @lazy
    def group_numbers(self) -> Positions:
        """The group of each container."""
        numbers = np.empty_like(self.blocks.order)
        everything = self.positions(np.ones(self.count, np.bool_))
        numbers[everything] = np.repeat(np.arange(self.count), self.sizes)
        return numbers

    def split(self, flagged: Flags) -> tuple[ContainerGroups, Positions]:
        """The same with the containers of flagged groups single, and the earlier group of each."""
        stay = ~flagged[: len(self.whole_blocks)]
        if stay.all():
            return self, np.arange(self.count)
        split_blocks = self.whole_blocks[~stay]
        single_places = np.concatenate((self.blocks.places(split_blocks), self.single_places))
        order = np.argsort(single_places, kind="stable")
        split_groups = np.repeat(np.flatnonzero(~stay), self.blocks.sizes[split_blocks])
        single_groups = np.concatenate(
            (split_groups, np.arange(len(self.whole_blocks), self.count))
        )
        group_before = np.concatenate((np.flatnonzero(stay), single_groups[order]))
        return ContainerGroups(
            self.blocks, self.whole_blocks[stay], single_places[order]
        ), group_before
