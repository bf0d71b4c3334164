"""The one rule for names of columns, as in Spark: case is ignored, and two matches are an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Named(Protocol):
    """Anything with a name: a column, a member of a struct, a node of a file's schema."""

    @property
    def name(self) -> str: ...


N = TypeVar("N", bound=Named)
T = TypeVar("T")


class AmbiguousName(LookupError):
    """Several columns of one level match. Its argument is the name that was looked up."""


def folded(names: Iterable[str]) -> tuple[str, ...]:
    """The names in the form in which they are compared."""
    return tuple(name.lower() for name in names)


def all_named(columns: Iterable[N], name: str) -> list[N]:
    """The columns with this name in any case."""
    wanted = name.lower()
    return [column for column in columns if column.name.lower() == wanted]


def single(matches: Sequence[T], name: str) -> T | None:
    """The only match; None without one, AmbiguousName for several."""
    if len(matches) > 1:
        raise AmbiguousName(name)
    return matches[0] if matches else None
