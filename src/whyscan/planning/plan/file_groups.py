"""Cells: files that nothing tells apart for one question are counted as one.

Of files in blocks most blocks are a cell each, and only the members of the others are files by
themselves: what is a million flags for every file is some thousand for every cell. A number of a
report is a sum over cells.
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
    """The `whole` blocks, a cell each, and behind them the containers that stand `apart`.

    These are places in the order of the blocks, and ascend.
    """

    blocks: Blocks
    whole: Positions
    apart: Positions

    @property
    def count(self) -> int:
        return len(self.whole) + len(self.apart)

    @lazy
    def looked_into(self) -> Positions:
        """The blocks whose members stand apart."""
        apart = np.ones(self.blocks.count, np.bool_)
        apart[self.whole] = False
        return np.flatnonzero(apart)

    @lazy
    def sizes(self) -> Positions:
        """How many containers each cell is."""
        return np.concatenate((self.blocks.sizes[self.whole], np.ones(len(self.apart), np.int64)))

    @lazy
    def examples(self) -> Positions:
        """One container of each cell, by its position among all."""
        return self.blocks.order[np.concatenate((self.blocks.begins[self.whole], self.apart))]

    def number(self, flagged: Flags) -> int:
        """How many containers the flagged cells are."""
        # Many times faster than looking up flags that come and go.
        return int(np.einsum("i,i", self.sizes, flagged, dtype=np.int64))

    def sums(self, values: pa.Array) -> pa.Array:
        """The sum of each cell; no value may be unknown."""
        ordered = self.blocks.ordered(values).to_numpy()
        return pa.array(np.concatenate((self.blocks.sums(values)[self.whole], ordered[self.apart])))

    def positions(self, flagged: Flags) -> Positions:
        """Where the containers of the flagged cells stand, cell by cell."""
        return self.blocks.order[self._places(flagged)]

    def chosen(self, values: pa.Array, flagged: Flags) -> pa.Array:
        """The values of the containers of the flagged cells, cell by cell; none is unknown."""
        return pa.array(self.blocks.ordered(values).to_numpy()[self._places(flagged)])

    def _places(self, flagged: Flags) -> Positions:
        whole, apart = map(np.flatnonzero, np.split(flagged, [len(self.whole)]))
        places = self.blocks.places(self.whole[whole])
        return np.concatenate((places, self.apart[apart]))

    def spread(self, values: npt.NDArray[Number]) -> npt.NDArray[Number]:
        """What is told of each cell, container by container in their own order."""
        return values.take(self._numbers)

    @lazy
    def _numbers(self) -> Positions:
        """The cell of each container."""
        found = np.empty_like(self.blocks.order)
        everything = self.positions(np.ones(self.count, np.bool_))
        found[everything] = np.repeat(np.arange(self.count), self.sizes)
        return found

    def by_block(self, flags: Flags) -> Flags | None:
        """One flag a block; None where members of one differ."""
        whole, inside = np.split(flags, [len(self.whole)])
        open_ = self.looked_into
        found = np.zeros(self.blocks.count, np.bool_)
        found[self.whole] = whole
        if len(open_):
            begins = np.concatenate(([0], self.blocks.sizes[open_].cumsum()[:-1]))
            found[open_] = np.logical_or.reduceat(inside, begins)
            if not np.array_equal(np.logical_and.reduceat(inside, begins), found[open_]):
                return None
        return found

    def divided(self, flagged: Flags) -> tuple[FileGroups, Positions]:
        """The same with every container of the flagged cells apart, and which cell each was."""
        stay = ~flagged[: len(self.whole)]
        split = self.whole[~stay]
        apart = np.concatenate((self.blocks.places(split), self.apart))
        order = np.argsort(apart, kind="stable")
        were = np.repeat(np.flatnonzero(~stay), self.blocks.sizes[split])
        inside = np.concatenate((were, np.arange(len(self.whole), self.count)))
        was = np.concatenate((np.flatnonzero(stay), inside[order]))
        return FileGroups(self.blocks, self.whole[stay], apart[order]), was
