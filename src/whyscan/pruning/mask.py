"""Masks: one yes or no per container. A mask is a constant where all containers agree.

A mask says what is possible. It holds no nulls: if a kernel cannot know, the answer is the one that
prunes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Mask: TypeAlias = bool | pa.BooleanArray
Vector: TypeAlias = pa.Array | pa.Scalar
"""Values of one type: one per container, or one scalar for all containers."""


def simplified(mask: pa.BooleanArray) -> Mask:
    """The mask, as a constant where all containers agree. Counting the bits is cheap."""
    yes = mask.true_count
    if yes == len(mask):
        return True
    return False if yes == 0 else mask


def all_of(masks: Iterable[Mask]) -> Mask:
    """Return the AND of the masks; True for no masks.

    The masks behind one that is False everywhere are not computed.
    """
    answer: Mask = True
    for mask in masks:
        if mask is False:
            return False
        if mask is not True:
            answer = mask if answer is True else simplified(pc.and_(answer, mask))
        if answer is False:
            return False
    return answer


def any_of(masks: Iterable[Mask]) -> Mask:
    """Yes where some mask is; no for no masks. Stops as soon as the answer is yes everywhere."""
    answer: Mask = False
    for mask in masks:
        if mask is True:
            return True
        if mask is not False:
            answer = mask if answer is False else simplified(pc.or_(answer, mask))
        if answer is True:
            return True
    return answer


def both(*masks: Mask) -> Mask:
    """Yes where every mask is."""
    return all_of(masks)


def either(*masks: Mask) -> Mask:
    """Yes where some mask is."""
    return any_of(masks)


def opposite(mask: Mask) -> Mask:
    """Yes where the mask is no."""
    return (not mask) if isinstance(mask, bool) else pc.invert(mask)


def may(kernel: Callable[..., Vector], *operands: Vector | None) -> Mask:
    """The result of the kernel, and yes where an operand is unknown."""
    if any(operand is None for operand in operands):
        return True
    return unknown_as(kernel(*operands), verdict=True)


def surely(kernel: Callable[..., Vector], *operands: Vector | None) -> Mask:
    """The result of the kernel, and no where an operand is unknown."""
    if any(operand is None for operand in operands):
        return False
    return unknown_as(kernel(*operands), verdict=False)


def unknown_as(result: Vector, *, verdict: bool) -> Mask:
    """The result of a kernel as a mask, with `verdict` for its nulls."""
    if isinstance(result, pa.Scalar):
        answer = result.as_py()
        return verdict if answer is None else bool(answer)
    return simplified(result.fill_null(verdict) if result.null_count else result)


def has_value(values: Vector | None) -> Mask:
    """Yes where the slot has a value."""
    if values is None:
        return False
    if isinstance(values, pa.Scalar):
        return bool(values.is_valid)
    return values.is_valid() if values.null_count else True


def choose(mask: Mask, chosen: Vector | None, other: Vector | None) -> Vector | None:
    """`chosen` where the mask says yes, else `other`. None means unknown in every container."""
    if isinstance(mask, bool):
        return chosen if mask else other
    like = other if chosen is None else chosen
    if like is None:
        return None
    unknown = pa.scalar(None, like.type)
    return pc.if_else(
        mask, unknown if chosen is None else chosen, unknown if other is None else other
    )


def keep(mask: Mask, values: Vector | None) -> Vector | None:
    """The values where the mask says yes; unknown elsewhere."""
    return choose(mask, values, None)


def materialise(mask: Mask, count: int) -> pa.BooleanArray:
    """The mask as an array of `count` booleans."""
    if isinstance(mask, bool):
        return pa.repeat(pa.scalar(mask), count)
    return mask


def as_array(values: Vector | None, count: int, kind: pa.DataType) -> pa.Array:
    """The values as an array of `count` slots, null where they are unknown."""
    if values is None:
        return pa.nulls(count, kind)
    return values if isinstance(values, pa.Array) else pa.repeat(values, count)


def tally(mask: Mask, count: int) -> int:
    """The number of containers, out of `count`, where the mask says yes."""
    if isinstance(mask, bool):
        return count if mask else 0
    return int(mask.true_count)
