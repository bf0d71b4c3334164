"""Values that are worked out when somebody first asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801 - written as a decorator, as `property` is
    """`functools.cached_property` without its lock.

    In Python 3.11 one lock serves a property of all instances: two threads that evaluate
    `true` by way of `false`, and `false` by way of `true`, would wait for each other forever.
    Here both may work a value out, and both find the same.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        found = self._compute(instance)
        # An attribute of the instance comes before a descriptor that has no `__set__`.
        instance.__dict__[self._name] = found
        return found
