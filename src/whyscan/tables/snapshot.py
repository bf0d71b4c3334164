"""One version of a table, as the planner sees it. The reader of each table format fills these.

Positions always point into the arrays of the object that they were made for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from msgspec import Struct

from whyscan.fields import Name, Record
from whyscan.pruning.transforms import Transform
from whyscan.tree.nodes import Path

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from whyscan.pruning.containers import Containers
    from whyscan.pruning.value_filters import ValueFilter
    from whyscan.tables.file_columns import FileReading
    from whyscan.tables.parquet.statistics import FileFooter
    from whyscan.tree.nodes import Column
    from whyscan.tree.types import Schema
    from whyscan.tree.zones import Zone


Spec = Mapping[Path, tuple[Transform, ...]]
"""A partition spec: for each source column the transforms of its partition fields."""


class Manifests(Struct, frozen=True):
    """The manifests of a snapshot; `files` and `rows` count what each lists, null if unknown."""

    paths: pa.Array
    files: pa.Array
    rows: pa.Array
    containers: Containers

    @property
    def count(self) -> int:
        return len(self.paths)

    @property
    def bytes(self) -> pa.Array | None:
        """Unknown: a manifest list does not say how many bytes of data each manifest lists."""
        return None


class Files(Struct, frozen=True):
    """The live data files of a snapshot, one value per file in every array.

    `bytes` and `rows` are null where metadata does not record them. `read_paths` gives the paths:
    few queries need them, and they take most of the memory. `deleted` counts the rows that a
    deletion vector deletes, None if there are no vectors. `maybe_deleted` counts the rows that
    delete files may delete in addition, null where the number is unknown. `formats` are the file
    formats, None if all are Parquet. `manifest` is the position of the manifest that lists the
    file, `spec` the id of its partition spec, None if the table format has none.
    `wrong_counts` counts row counts that were dropped because they cannot be true.
    """

    read_paths: Callable[[], pa.Array]
    bytes: pa.Array
    rows: pa.Array
    partition: pa.Table
    containers: Containers
    deleted: pa.Array | None = None
    maybe_deleted: pa.Array | None = None
    formats: pa.Array | None = None
    manifest: pa.Array | None = None
    spec: pa.Array | None = None
    wrong_counts: int = 0

    @property
    def contradictions(self) -> int:
        """How many statistics and row counts were dropped because they cannot be true."""
        return self.containers.contradictions + self.wrong_counts

    @property
    def paths(self) -> pa.Array:
        """The paths as the table's metadata records them."""
        return self.read_paths()

    @property
    def count(self) -> int:
        return self.containers.count


class Unreached(Struct, frozen=True):
    """`files` of `of` requested data files could not be opened; `why` is an adjective: missing."""

    why: str
    files: int
    of: int

    def __str__(self) -> str:
        return f"{self.files} of {self.of} data files are {self.why}"


class EachColumn(tuple[Path, ...]):
    """A projection whose byte ranges are named column by column, in `RowGroups.chunks`."""

    __slots__ = ()


class RowGroups(Struct, frozen=True):
    """The row groups of opened files, file by file in the order of `opened`.

    `opened` are positions among all files. A requested file that is not in `opened` is planned as
    one container, and `unchecked` says why: it is missing, of another format, or outside of the
    table's folder. One value per row group: `file` is the position of its file in `opened`,
    `ordinal` its number in the file, `bytes` its size on disk, `ranges` the byte ranges of the
    projected column chunks as (start, end) lists. For an `EachColumn` projection `chunks` has
    lists of (position of the column in it, start, end). `footers` has one footer per opened file if
    the footers were to be kept. `filter_counts` says which filters of values were looked at.
    """

    opened: pa.Array
    file: pa.Array
    ordinal: pa.Array
    bytes: pa.Array
    ranges: pa.Array
    containers: Containers
    unchecked: tuple[Unreached, ...] = ()
    chunks: pa.Array | None = None
    footers: tuple[FileFooter, ...] | None = None
    filter_counts: tuple[FilterCount, ...] = ()

    @property
    def count(self) -> int:
        return len(self.file)

    @property
    def rows(self) -> pa.Array:
        """The number of rows of each row group; null where it is unknown."""
        return _rows_of(self.containers)

    @property
    def contradictions(self) -> int:
        """How many statistics were dropped because they cannot be true."""
        return self.containers.contradictions

    @property
    def owners(self) -> pa.Array:
        """The file of each row group, as a position among all files."""
        return self.opened.take(self.file)


def _rows_of(containers: Containers) -> pa.Array:
    rows = containers.rows
    return pa.nulls(containers.count, pa.int64()) if rows is None else rows


class BytePieces(Struct, frozen=True):
    """The bytes that containers need, if two containers may need the same bytes.

    One value per piece in each array: it is needed for any of the containers from `first` to before
    `end`, which are in the container `owners` of the level above, and has the bytes of the file
    from `begin` to before `stop`.
    """

    owners: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    begin: npt.NDArray[np.int64]
    stop: npt.NDArray[np.int64]

    def needed(self, flagged: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """One flag per piece: a flagged container needs it."""
        counts = np.concatenate(([0], np.cumsum(flagged)))
        is_needed: npt.NDArray[np.bool_] = counts[self.end] > counts[self.first]
        return is_needed

    def size(self, flagged: npt.NDArray[np.bool_]) -> int:
        """How many bytes the flagged containers need together."""
        sizes = self.stop - self.begin
        return int(sizes[self.needed(flagged)].sum())


class ContainersBelow(Struct, frozen=True):
    """The containers of a level below row groups.

    One value per container: `owners` is the position of its container in the level above, `bytes`
    its size, None where metadata does not record sizes. `pieces` are their bytes where containers
    share some. `unchecked` says what could not be opened.
    """

    name: str
    owners: pa.Array
    bytes: pa.Array | None
    containers: Containers
    unchecked: tuple[Unreached, ...] = ()
    pieces: BytePieces | None = None

    @property
    def count(self) -> int:
        return self.containers.count

    @property
    def rows(self) -> pa.Array:
        """The number of rows of each container; null where it is unknown."""
        return _rows_of(self.containers)

    @property
    def contradictions(self) -> int:
        """How many statistics were dropped because they cannot be true."""
        return self.containers.contradictions


class Collected(StrEnum):
    """Whether the table's settings make writers collect bounds of a column, and if not, why."""

    YES = "yes"
    BEYOND_BUDGET = "beyond the column budget"
    SWITCHED_OFF = "switched off"
    NEVER = "its type has none"
    LEFT_OUT = "left out of the inventory"


class Recording(Struct, frozen=True):
    """The statistics of one column that the settings of a table tell its writers to record.

    `setting` is the table property that changes this, as name and value; None if there is none.
    `prefix` is the number of characters that a text bound keeps, None for all; `longer` is the
    table property that keeps more. A writer that cuts an upper bound adds one character
    (`appended`), or raises the last character.
    """

    collected: Collected
    why: str = ""
    setting: tuple[str, str] | None = None
    prefix: int | None = None
    longer: str | None = None
    appended: bool = False


class SpecLine(Record, frozen=True):
    """A partition spec of live files; `fields` are its partition fields as text for people.

    `names` are the names of its columns in `Files.partition`.
    """

    OMITTED: ClassVar = ("sources", "names")

    id: int
    fields: tuple[Name, ...]
    sources: frozenset[Path]
    current: bool
    names: frozenset[str] = frozenset()


class Traffic(Struct, frozen=True):
    """How many objects and bytes were read so far, for the report.

    `from_cache` of the objects came from the cache and not from their store; None is unknown: the
    format does not count them. Of `paged` row groups only the pages that stay were read; `whole`
    counts by reason those that were read whole though pages of them were skipped.
    """

    objects: int
    bytes: int
    from_cache: int | None = None
    paged: int = 0
    whole: tuple[tuple[str, int], ...] = ()


class Snapshot(Protocol):
    """One version of a table: what the reader of a table format answers."""

    @property
    def uri(self) -> str: ...
    @property
    def format(self) -> str: ...
    @property
    def version(self) -> int | None: ...
    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for people about how the table was opened; they change no plan."""
        ...

    @property
    def partition_sources(self) -> tuple[Path, ...]:
        """The source columns of all partition fields of live specs."""
        ...

    @property
    def specs(self) -> tuple[Spec, ...]:
        """The partition specs of live files, and always the current one."""
        ...

    @property
    def numbered_specs(self) -> tuple[SpecLine, ...]:
        """The same specs with their ids; empty if the table format does not number specs."""
        ...

    @property
    def footers_describe_files(self) -> bool:
        """Whether statistics are only in the footers, so that pruning files means opening them."""
        ...

    @property
    def below(self) -> BelowRowGroups | None:
        """Reads what the footers of row groups point at; None if nothing below them is known."""
        ...

    def schema(self, named: Sequence[str] = ()) -> Schema:
        """The columns. Names in `named` are looked for in more files before they are missing."""
        ...

    def manifests(self) -> Manifests | None:
        """The manifests, which can be pruned before their files are listed; None if none exist."""
        ...

    def files(
        self, columns: Sequence[Column], zone: Zone, manifests: pa.Array | None = None
    ) -> Files:
        """Every live file with the statistics of `columns` that metadata has; opens no data file.

        `zone` is the session's time zone: partition values of instants are read in it where the
        text of a folder names no zone. `manifests` are the positions of the manifests to open,
        None for all.
        """
        ...

    def row_groups(
        self,
        files: Files,
        opened: pa.Array,
        columns: Sequence[Column],
        projection: Sequence[Path] | None,
        *,
        keep_footers: bool = False,
    ) -> RowGroups:
        """The row groups of the files at `opened`, from their footers.

        `projection` names the columns whose byte ranges are returned, None for all columns.
        `keep_footers`: levels below row groups will be read, so the result has the footers.
        """
        ...

    def reading(self, files: Files, at: pa.Array, zone: Zone) -> FileReading:
        """How to read the rows of the files at the positions `at`; `zone` is the session's."""
        ...

    def recording(self, column: Column) -> Recording:
        """Which statistics of a column the table's settings make writers record."""
        ...

    def traffic(self) -> Traffic: ...


@runtime_checkable
class ReadAhead(Protocol):
    """A snapshot whose files can be read before the predicate is known, as nothing prunes them."""

    def read_ahead(self, columns: Sequence[Column]) -> None:
        """Begins to read the files with the statistics of `columns` for the next call of `files`.

        That call waits for them and gets the errors. With other columns it reads the files itself.
        """
        ...


class FilterKind(StrEnum):
    """What says which values a container may have."""

    BLOOM = "bloom"
    DICTIONARY = "dictionary"


class FilterCount(Struct, frozen=True):
    """The filters of one column and one kind in some row groups.

    `present` of the `groups` row groups have one, in `files_present` of their `files`. They were
    only counted unless they were `read`; then `excluding` of them have none of the values that were
    looked for, and `false_positives` is the sum over them of the probability that a bloom filter
    has a value that no row has.
    """

    kind: FilterKind
    column: Path
    files: int
    files_present: int
    groups: int
    present: int
    bytes: int
    read: bool = True
    excluding: int = 0
    false_positives: float = 0.0

    def __add__(self, other: FilterCount) -> FilterCount:
        """The filters of two parts of a table."""
        return FilterCount(
            self.kind,
            self.column,
            self.files + other.files,
            self.files_present + other.files_present,
            self.groups + other.groups,
            self.present + other.present,
            self.bytes + other.bytes,
            self.read and other.read,
            self.excluding + other.excluding,
            self.false_positives + other.false_positives,
        )


class ProbedFilters(Struct, frozen=True):
    """What filters of values say of row groups, by column, and how many there are."""

    filters: Mapping[Path, ValueFilter]
    counts: tuple[FilterCount, ...] = ()
    unchecked: tuple[Unreached, ...] = ()


class BelowRowGroups(Protocol):
    """What the footers of row groups point at: filters of values, and levels below row groups.

    The row groups must have been read with `keep_footers`.
    """

    def containers_below(
        self, above: RowGroups | ContainersBelow, opened: pa.Array, columns: Sequence[Column]
    ) -> ContainersBelow | None:
        """The containers inside those at the positions `opened`; None if there is no level below.

        A container at `opened` that has no container in the result could not be opened.
        """
        ...

    def bloom_filters(
        self, groups: RowGroups, at: pa.Array, values: Mapping[Column, pa.Array]
    ) -> ProbedFilters:
        """Read the filters of the row groups at the positions `at`, and probe them for values."""
        ...

    def dictionaries(
        self, groups: RowGroups, at: pa.Array, values: Mapping[Column, pa.Array]
    ) -> ProbedFilters:
        """Read the dictionaries that hold all values of a chunk, and probe them for values."""
        ...

    def dictionary_counts(
        self, groups: RowGroups, at: pa.Array, values: Mapping[Column, pa.Array]
    ) -> tuple[FilterCount, ...]:
        """How many dictionaries there are and how many bytes they have; reads none."""
        ...

    def written_filters(
        self, groups: RowGroups, columns: Sequence[Column]
    ) -> tuple[FilterCount, ...]:
        """The columns with bloom filters, by the footers; reads no filter."""
        ...
