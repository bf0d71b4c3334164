"""A layout: how the files of a table could be organised. Its text is the language of `--layout`."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from whyscan.pruning.transforms import IdentityTransform, Transform
from whyscan.tables.sizes import show_size
from whyscan.tree.nodes import Path  # noqa: TC001 - `help` resolves the types of fields


class OrderKind(StrEnum):
    """How rows are ordered before they are cut into files."""

    SORT = "sort"
    ZORDER = "zorder"
    CLUSTER = "cluster"


class OrderColumn(Struct, frozen=True):
    """A column that rows are ordered by; `descending` is for `sort` alone."""

    path: Path
    descending: bool = False

    def __str__(self) -> str:
        return _written(self.path) + (" desc" if self.descending else "")


class Order(Struct, frozen=True):
    """The order of rows: sorted by columns, or along a Z-order or Hilbert curve through them."""

    kind: OrderKind
    columns: tuple[OrderColumn, ...]

    def __str__(self) -> str:
        return f"{self.kind.value} by {', '.join(map(str, self.columns))}"


class PartitionTerm(Struct, frozen=True):
    """A partition field: a source column and its transform."""

    path: Path
    transform: Transform

    def __str__(self) -> str:
        name = _written(self.path)
        if isinstance(self.transform, IdentityTransform):
            return name
        word, bracket, width = str(self.transform).partition("[")
        return f"{word}({width.rstrip(']')}, {name})" if bracket else f"{word}({name})"


class Layout(Struct, frozen=True):
    """How the files of a table could be organised.

    What is None stays as it is today: the partitions, the order of rows, the sizes in bytes, and
    the columns that have statistics. `partitions` is empty for a table without partitions. `bloom`
    are the columns with bloom filters, and `manifests` the partition columns that manifests are
    ordered by.
    """

    partitions: tuple[PartitionTerm, ...] | None = None
    order: Order | None = None
    file_size: int | None = None
    row_group_size: int | None = None
    statistics: tuple[Path, ...] | None = None
    bloom: tuple[Path, ...] | None = None
    manifests: tuple[Path, ...] | None = None

    @property
    def rewrites_files(self) -> bool:
        """Whether the data files are written again, and not the manifests alone."""
        return replace(self, manifests=None) != Layout()

    def __str__(self) -> str:
        clauses = []
        if self.partitions is not None:
            clauses.append(f"partition by {', '.join(map(str, self.partitions)) or 'none'}")
        if self.order is not None:
            clauses.append(str(self.order))
        if self.file_size is not None:
            clauses.append(f"file size {show_size(self.file_size, '')}")
        if self.row_group_size is not None:
            clauses.append(f"row group size {show_size(self.row_group_size, '')}")
        if self.statistics is not None:
            clauses.append(f"statistics on {', '.join(map(_written, self.statistics))}")
        if self.bloom is not None:
            clauses.append(f"bloom on {', '.join(map(_written, self.bloom))}")
        if self.manifests is not None:
            clauses.append(f"order manifests by {', '.join(map(_written, self.manifests))}")
        return " ".join(clauses)

    def columns(self) -> tuple[Path, ...]:
        """The columns that partitions and the order are made from."""
        partitions = tuple(term.path for term in self.partitions or ())
        order = tuple(column.path for column in self.order.columns) if self.order else ()
        return tuple(dict.fromkeys((*partitions, *order)))


def _written(path: Path) -> str:
    """Write a column as the language reads it: `a.b`, with backquotes where a name needs them."""
    return ".".join(
        part if part.isidentifier() else f"`{part.replace('`', '``')}`" for part in path
    )
