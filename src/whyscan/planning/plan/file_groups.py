"""Groups of files that nothing distinguishes for one predicate: each group is counted as one.

If files are in blocks, most blocks are one group each; only the members of the other blocks are
groups by themselves. So a table with a million files needs some thousand flags. A number of a
report is a sum over groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa
from msgspec import Struct

from whyscan.tree.lazy import lazy

if TYPE_CHECKING:
    import numpy.typing as npt

    from whyscan.planning.plan.judgement import Flags
    from whyscan.pruning.blocks import Blocks

    Positions = npt.NDArray[np.int64]

Number = TypeVar("Number", bound=np.generic)


class FileGroups(Struct, frozen=True, eq=False, dict=True):
    """Groups of files: first one for each of the `whole_blocks`, then one for each single file.

    `single_places` are places in the order of the blocks, and ascend.
    """

    blocks: Blocks
    whole_blocks: Positions
    single_places: Positions

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
        """How many files each group has."""
        return np.concatenate(
            (self.blocks.sizes[self.whole_blocks], np.ones(len(self.single_places), np.int64))
        )

    @lazy
    def examples(self) -> Positions:
        """The position of one file of each group."""
        return self.blocks.order[
            np.concatenate((self.blocks.begins[self.whole_blocks], self.single_places))
        ]

    def file_count(self, flagged: Flags) -> int:
        """How many files the flagged groups have."""
        # Many times faster than indexing with flags that alternate.
        return int(np.einsum("i,i", self.sizes, flagged, dtype=np.int64))

    def sums(self, values: pa.Array) -> pa.Array:
        """The sum of each group; no value may be unknown."""
        ordered = self.blocks.ordered(values).to_numpy()
        return pa.array(
            np.concatenate(
                (self.blocks.sums(values)[self.whole_blocks], ordered[self.single_places])
            )
        )

    def positions(self, flagged: Flags) -> Positions:
        """The positions of the files of the flagged groups, group by group."""
        return self.blocks.order[self._places(flagged)]

    def chosen(self, values: pa.Array, flagged: Flags) -> pa.Array:
        """The values of the files of the flagged groups, group by group; no value is unknown."""
        return pa.array(self.blocks.ordered(values).to_numpy()[self._places(flagged)])

    def _places(self, flagged: Flags) -> Positions:
        blocks, singles = map(np.flatnonzero, np.split(flagged, [len(self.whole_blocks)]))
        places = self.blocks.places(self.whole_blocks[blocks])
        return np.concatenate((places, self.single_places[singles]))

    def spread(self, values: npt.NDArray[Number]) -> npt.NDArray[Number]:
        """Spread one value per group to one value per file, in the order of files."""
        return values.take(self.group_numbers)

    @lazy
    def group_numbers(self) -> Positions:
        """The group of each file."""
        numbers = np.empty_like(self.blocks.order)
        everything = self.positions(np.ones(self.count, np.bool_))
        numbers[everything] = np.repeat(np.arange(self.count), self.sizes)
        return numbers

    def by_block(self, flags: Flags) -> Flags | None:
        """One flag per block; None where members of a block differ."""
        of_blocks, of_members = np.split(flags, [len(self.whole_blocks)])
        open_blocks = self.open_blocks
        by_block = np.zeros(self.blocks.count, np.bool_)
        by_block[self.whole_blocks] = of_blocks
        if len(open_blocks):
            begins = np.concatenate(([0], self.blocks.sizes[open_blocks].cumsum()[:-1]))
            by_block[open_blocks] = np.logical_or.reduceat(of_members, begins)
            if not np.array_equal(
                np.logical_and.reduceat(of_members, begins), by_block[open_blocks]
            ):
                return None
        return by_block

    def split(self, flagged: Flags) -> tuple[FileGroups, Positions]:
        """The groups with each file of the flagged groups single, and the earlier group of each."""
        stay = ~flagged[: len(self.whole_blocks)]
        split_blocks = self.whole_blocks[~stay]
        single_places = np.concatenate((self.blocks.places(split_blocks), self.single_places))
        order = np.argsort(single_places, kind="stable")
        split_groups = np.repeat(np.flatnonzero(~stay), self.blocks.sizes[split_blocks])
        single_groups = np.concatenate(
            (split_groups, np.arange(len(self.whole_blocks), self.count))
        )
        group_before = np.concatenate((np.flatnonzero(stay), single_groups[order]))
        return FileGroups(self.blocks, self.whole_blocks[stay], single_places[order]), group_before
