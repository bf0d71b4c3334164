"""One version of a table, as the planner sees it. A format is a reader that fills these.

Indices always point into the arrays of the object they were made for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from whyscan.predicate.tree import Path
from whyscan.pruning.transforms import Transform

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from whyscan.predicate.tree import Column
    from whyscan.predicate.types import Schema
    from whyscan.predicate.zones import Zone
    from whyscan.pruning.containers import Containers


Spec = Mapping[Path, tuple[Transform, ...]]
"""How files were partitioned: for each source column the transforms of its partition fields."""


@dataclass(frozen=True, slots=True)
class Manifests:
    """The manifests of a snapshot: how many live files and rows each lists, null if unknown."""

    paths: pa.Array
    files: pa.Array
    rows: pa.Array
    containers: Containers

    @property
    def count(self) -> int:
        return len(self.paths)


@dataclass(frozen=True, slots=True)
class Files:
    """The live data files: `bytes` and `rows` are null where nothing recorded them.

    `deleted` counts the rows of each that a deletion vector hides, None where there are none;
    `maybe_deleted` those that delete files may hide besides, null where nobody knows how many.
    `formats` are the files' formats where they may be others than Parquet.
    Statistics were dropped because they cannot be true, `contradictions`, or cannot be read.
    """

    paths: pa.Array
    bytes: pa.Array
    rows: pa.Array
    partition: pa.Table
    containers: Containers
    deleted: pa.Array | None = None
    maybe_deleted: pa.Array | None = None
    formats: pa.Array | None = None
    contradictions: int = 0
    unreadable: int = 0

    @property
    def count(self) -> int:
        return len(self.paths)


@dataclass(frozen=True, slots=True)
class RowGroups:
    """Row groups of opened files, file by file in the order of `opened`.

    A file that was asked for and is not among `opened` stays whole, and `unchecked` says why: it
    is missing, of another format, or lies elsewhere. `file` is the position of each row group in
    `opened`, `ordinal` its number in the file, `bytes` its size on disk, `ranges` the byte ranges
    of the asked column chunks as (start, end) lists.
    """

    opened: pa.Array
    file: pa.Array
    ordinal: pa.Array
    bytes: pa.Array
    ranges: pa.Array
    containers: Containers
    contradictions: int = 0
    unchecked: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        return len(self.file)


@dataclass(frozen=True, slots=True)
class Traffic:
    """What was read so far, for the report; `from_cache` of the objects not from their store.

    None is unknown: the format does not count them.
    """

    objects: int
    bytes: int
    from_cache: int | None = None


class Snapshot(Protocol):
    """What a table format answers."""

    @property
    def uri(self) -> str: ...
    @property
    def format(self) -> str: ...
    @property
    def version(self) -> int | None: ...
    @property
    def notes(self) -> tuple[str, ...]:
        """What people should know of how the table was opened; none of it changes a plan."""
        ...

    @property
    def partition_sources(self) -> tuple[Path, ...]:
        """The columns that some partition field of a live spec is made from."""
        ...

    @property
    def specs(self) -> tuple[Spec, ...]:
        """The specs of live files, and at least the current one."""
        ...

    @property
    def footers_describe_files(self) -> bool:
        """Nothing but the footers has statistics, so that pruning files means opening them."""
        ...

    def schema(self, named: Sequence[str] = ()) -> Schema:
        """The columns; `named` are names that must be looked for harder before they are missed."""
        ...

    def manifests(self) -> Manifests | None:
        """What groups the files and can be ruled out before they are listed; None for nothing."""
        ...

    def files(
        self, columns: Sequence[Column], zone: Zone, manifests: pa.Array | None = None
    ) -> Files:
        """Every live file with what is known of `columns` without opening it.

        `zone` is the session's: partition values of instants are read in it where the text of a
        folder names none. `manifests` are the positions of those to open, None for all.
        """
        ...

    def row_groups(
        self,
        files: Files,
        opened: pa.Array,
        columns: Sequence[Column],
        projection: Sequence[Path] | None,
    ) -> RowGroups:
        """The row groups of the files at `opened`, from their footers.

        `projection` names the columns whose byte ranges are asked for, None all of them.
        """
        ...

    def traffic(self) -> Traffic: ...
