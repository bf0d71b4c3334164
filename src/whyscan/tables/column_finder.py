"""Finds the columns of a table in one file, for the statistics of its footer and for its rows.

| the table looks up by | in a file | a column is found by |
|---|---|---|
| name | any | its name in any case (`tree/names.py`) |
| field id | with ids | its id |
| field id | without ids, with a name mapping | the id that the mapping gives to its name |
| field id | without ids, counted | its position among the top-level columns, from 1 |
| field id | without ids | its name in any case |

A member of a struct is looked up among the members of its struct. Two matches are an error; only
the statistics of a field id that a file has twice are unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import TableError
from whyscan.tree.names import all_named, single

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.tree.names import AmbiguousName

    Key = tuple[str, int | None]
    """The name of a column in data files, and its field id."""


class FileField(Protocol):
    """A column of a file or a nested field; `id` is its field id, None without one."""

    @property
    def name(self) -> str: ...
    @property
    def id(self) -> int | None: ...
    @property
    def members(self) -> tuple[Any, ...]: ...


F = TypeVar("F", bound=FileField)


class MappedName(Struct, frozen=True):
    """An entry of a name mapping: the names of a field id, and the entries of its members."""

    id: int | None
    names: frozenset[str]
    members: tuple[MappedName, ...]


class Naming(Struct, frozen=True):
    """How a table looks up its columns in files: by field id if `by_id`, else by name.

    In a file without field ids, `mapping` gives ids to the columns by name; `counted` numbers the
    columns from 1. `constants_win`: a value from metadata goes before a value in the file.
    """

    by_id: bool = False
    mapping: tuple[MappedName, ...] | None = None
    counted: bool = False
    constants_win: bool = True


class Finder(Struct, Generic[F], frozen=True):
    """Finds columns of a table among the columns of a file.

    `certain`: a column that is not found is not in the file. `guessed`: the file has no ids, and
    the table looks up by id. Rows are read then, but statistics are not believed.
    """

    columns: tuple[F, ...]
    by_id: bool = False
    certain: bool = True
    guessed: bool = False

    def find(self, keys: Sequence[Key]) -> F | None:
        """The column at the end of a path of keys; None if the file lacks a step of it."""
        among, match = self.columns, None
        for key in keys:
            match = self.member(among, key)
            if match is None:
                return None
            among = match.members
        return match

    def member(self, among: Sequence[F], key: Key) -> F | None:
        """The column among the columns of one level; None if it is missing."""
        name, number = key
        if self.by_id and number is not None:
            return single([candidate for candidate in among if candidate.id == number], name)
        return single(all_named(among, name), name)


def finder(columns: tuple[F, ...], naming: Naming) -> Finder[F]:
    """The finder of a file with these columns."""
    if not naming.by_id:
        return Finder(columns)
    if _any_has_id(columns):
        return Finder(columns, by_id=True, certain=_all_have_ids(columns))
    if naming.mapping is not None:
        return Finder(_mapped(columns, naming.mapping), by_id=True)
    if naming.counted:
        counted = tuple(_with(c, id=at) for at, c in enumerate(columns, start=1))
        return Finder(counted, by_id=True, guessed=True)
    return Finder(columns, guessed=True)


def ambiguous(owner: str, error: AmbiguousName) -> TableError:
    """The error for people: a name matches several columns of `owner`, a file or the table."""
    return TableError(
        f"{owner} has several columns that answer to {error.args[0]!r}",
        hint="names are compared without regard to case; rename one of them",
    )


def _any_has_id(columns: Sequence[FileField]) -> bool:
    return any(column.id is not None or _any_has_id(column.members) for column in columns)


def _all_have_ids(columns: Sequence[FileField]) -> bool:
    return all(column.id is not None and _all_have_ids(column.members) for column in columns)


def _mapped(columns: Sequence[F], mapping: Sequence[MappedName]) -> tuple[F, ...]:
    """The columns with the ids of a name mapping; its names are compared with regard to case."""
    entries = [next((m for m in mapping if column.name in m.names), None) for column in columns]
    return tuple(
        column
        if entry is None
        else _with(column, id=entry.id, members=_mapped(column.members, entry.members))
        for column, entry in zip(columns, entries, strict=True)
    )


def _with(column: F, **changes: object) -> F:
    return replace(column, **changes)  # type: ignore[type-var]  # each class of columns is a Struct
