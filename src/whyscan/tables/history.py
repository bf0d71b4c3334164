"""What the metadata of a table says besides its live files: versions, branches, tags, settings."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Protocol, runtime_checkable

from msgspec import Meta, Struct, field

from whyscan.fields import Count, Name, Record, Word, one_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class TableVersion(Record, frozen=True):
    """A version or snapshot. What its format does not record is null."""

    version: int
    time: datetime | None
    operation: Annotated[Name | None, Meta(description="What the writer calls the change.")] = None
    added_files: Count | None = None
    removed_files: Count | None = None
    added_bytes: Count | None = None
    files: Annotated[Count | None, Meta(description="The data files after the commit.")] = None
    bytes: Annotated[Count | None, Meta(description="Their bytes.")] = None
    rows: Annotated[Count | None, Meta(description="Their rows.")] = None
    opened: Annotated[bool, Meta(description="The version that was described.")] = False


class VersionReference(Record, frozen=True):
    """A branch or a tag: a name for a snapshot."""

    name: Name
    kind: Annotated[Word, one_of("branch", "tag")]
    version: int


class History(Struct, frozen=True):
    """The versions of a table, newest first, and what its format records of the whole table.

    `protocol` is the version of the format with its features. `count` counts all versions, of
    which `versions` may have the newest. `properties` are those that matter for pruning, and
    `other_properties` counts the others. `order` says how writers are told to sort the rows, None
    if nothing says it.
    """

    protocol: str
    versions: tuple[TableVersion, ...]
    count: int
    references: tuple[VersionReference, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    other_properties: int = 0
    order: str | None = None


@runtime_checkable
class WithHistory(Protocol):
    """A snapshot of a format that keeps versions."""

    def history(self, newest: int) -> History:
        """The history with at most the `newest` versions."""
        ...


class Registration(Struct, frozen=True):
    """How the partitions that a catalog has registered differ from the folders of the table.

    `without_files` of the `partitions` have no data file. `unregistered_*` count what is in folders
    below the table's folder that are no partition. `nested_files` are in folders inside those of
    partitions, where Athena reads them, and Spark, Hive and Trino do not.
    """

    partitions: int
    without_files: int
    unregistered_folders: int
    unregistered_files: int
    unregistered_bytes: int
    nested_files: int

    @property
    def differs(self) -> bool:
        return bool(self.without_files or self.unregistered_files or self.nested_files)


@runtime_checkable
class WithRegistration(Protocol):
    """A snapshot whose partitions may be registered in a catalog."""

    @property
    def registration(self) -> Registration | None: ...


def time_of(microseconds: int) -> datetime | None:
    """The time in UTC of microseconds since 1970; None for one that no calendar has."""
    try:
        return _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return None
