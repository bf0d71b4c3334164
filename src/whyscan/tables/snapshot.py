"""One version of a table, as the planner sees it. A format is a reader that fills these.

Indices always point into the arrays of the object they were made for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from whyscan.pruning.transforms import Transform
from whyscan.tree.nodes import Path

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from whyscan.pruning.containers import Containers
    from whyscan.tables.file_columns import FileReading
    from whyscan.tree.nodes import Column
    from whyscan.tree.types import Schema
    from whyscan.tree.zones import Zone


Spec = Mapping[Path, tuple[Transform, ...]]
"""How files were partitioned: for each source column the transforms of its partition fields."""


class Manifests(Struct, frozen=True):
    """The manifests of a snapshot: how many live files and rows each lists, null if unknown."""

    paths: pa.Array
    files: pa.Array
    rows: pa.Array
    containers: Containers

    @property
    def count(self) -> int:
        return len(self.paths)


class Files(Struct, frozen=True):
    """The live data files: `bytes` and `rows` are null where nothing recorded them.

    `read_paths` gives their paths: few questions need them, and they are most of the memory.
    `deleted` counts the rows of each that a deletion vector hides, None where there are none;
    `maybe_deleted` those that delete files may hide besides, null where nobody knows how many.
    `formats` are the files' formats where they may be others than Parquet; `manifest` is the
    position of the manifest that lists each, `spec` the number of the spec it was written under,
    None where the format has no such thing.
    Statistics were dropped because they cannot be true, `contradictions`, or cannot be read.
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
    contradictions: int = 0
    unreadable: int = 0

    @property
    def paths(self) -> pa.Array:
        """As the table records them."""
        return self.read_paths()

    @property
    def count(self) -> int:
        return self.containers.count


class Unreached(Struct, frozen=True):
    """So many of the data files that were asked for are what `why` says: missing, elsewhere."""

    why: str
    files: int
    of: int

    def __str__(self) -> str:
        return f"{self.files} of {self.of} data files are {self.why}"


class RowGroups(Struct, frozen=True):
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
    unreadable: int = 0
    unchecked: tuple[Unreached, ...] = ()

    @property
    def count(self) -> int:
        return len(self.file)

    @property
    def owners(self) -> pa.Array:
        """The file of each row group, as a position among all files."""
        return self.opened.take(self.file)


class Collected(StrEnum):
    """Whether a table has its writers collect bounds of a column, and if not, why."""

    YES = "yes"
    BEYOND_BUDGET = "beyond the column budget"
    SWITCHED_OFF = "switched off"
    NEVER = "its type has none"


class Recording(Struct, frozen=True):
    """What a table tells its writers to record of a column, and the setting that changes it.

    `setting` is the name and value of a table property, None where there is no such. `prefix` is
    how many characters of a text bound are kept, None for all, and `longer` the setting for more.
    A greatest text that is cut has one more character `appended`, or its last one raised.
    """

    collected: Collected
    why: str = ""
    setting: tuple[str, str] | None = None
    prefix: int | None = None
    longer: str | None = None
    appended: bool = False


class SpecLine(Struct, frozen=True):
    """A partition spec that live files were written under; `fields` are its words for people.

    `names` are those of its values in `Files.partition`.
    """

    id: int
    fields: tuple[str, ...]
    sources: frozenset[Path]
    current: bool
    names: frozenset[str] = frozenset()


class Traffic(Struct, frozen=True):
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
    def numbered_specs(self) -> tuple[SpecLine, ...]:
        """The same specs by their numbers; none where the format does not number them."""
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

    def expect(self, columns: Sequence[Column]) -> None:
        """A question that names these columns comes next: what it needs may be read already."""
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

    def reading(self, files: Files, at: pa.Array, zone: Zone) -> FileReading:
        """How the rows of the files at those positions are read; `zone` is the session's."""
        ...

    def recording(self, column: Column) -> Recording:
        """What the table's settings have writers record of a column."""
        ...

    def traffic(self) -> Traffic: ...
