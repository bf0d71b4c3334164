"""An attribute that is computed at its first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801 - written as a decorator, as `property` is
    """`functools.cached_property` without its lock.

    In Python 3.11 all instances share the lock of a property: one thread that computes `true`
    from `false` and another that computes `false` from `true` would wait for each other forever.
    Without the lock both threads may compute a value; they compute the same value.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        value = self._compute(instance)
        # An attribute of the instance comes before a descriptor that has no `__set__`.
        instance.__dict__[self._name] = value
        return value
