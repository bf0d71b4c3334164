"""The four claims that every entry of the catalogue is held to.

*Sound*: f of any rows is contained, and NULL, NaN and errors are announced. *Exact*: a point
goes to a point. *Honest about errors*: where a single point cannot raise, none is announced.
*Monotone*: knowing less of an argument never says more of the result.
"""

from __future__ import annotations

import itertools
import math
import struct
from dataclasses import dataclass
from decimal import Decimal
from random import Random

import pyarrow as pa
from hypothesis import settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pruning.functions.scalars import WIDE, Raised, to_float32
from whyscan.pruning.interval import Interval
from whyscan.pruning.mask import materialise
from whyscan.tree import arrow
from whyscan.tree.types import BINARY, BooleanType, DecimalType, FloatType, IntegerType, StringType

LETTERS = "abiIkKpPs \t\n%_\\1-\u0131\u212a\u017f\u00df\u00e9\u0130\u03a3\u65e5\U0001f600\x7f"
FLOATS = (math.nan, math.inf, -math.inf, 0.0, -0.0, 0.5, -0.5, 2.5, 1.005, 1e300, 5e-324, 2.0**63)
WORDS = ("apple", "apricot", "app\u0131", "appl", "true", " 12 ", "-7.25", "1e3", "foo_bar", "foo%")


def value(dice: Random, kind):
    """A row of a type: often small, often an edge, sometimes anything."""
    roll = dice.random()
    match kind:
        case BooleanType():
            return roll < 0.5
        case IntegerType():
            edges = (kind.least, kind.least + 1, -1, 0, 1, 2, kind.greatest - 1, kind.greatest)
            if roll < 0.5:
                return dice.randint(-30, 30)
            return dice.choice(edges) if roll < 0.8 else dice.randint(kind.least, kind.greatest)
        case DecimalType():
            most = 10**kind.precision - 1
            whole = dice.randint(-300, 300) if roll < 0.5 else dice.randint(-most, most)
            whole = dice.choice((0, most, -most, 2**32 - 1)) if roll > 0.85 else whole
            return Decimal(max(-most, min(most, whole))).scaleb(-kind.scale, WIDE)
        case FloatType():
            value = any_float(dice, roll)
            return value if kind.bits == 64 else to_float32(value)
        case StringType():
            if roll < 0.3:
                return dice.choice(WORDS)
            return "".join(dice.choices(LETTERS, k=dice.randint(0, 4)))


def any_float(dice: Random, roll: float) -> float:
    if roll < 0.5:
        return dice.randint(-40, 40) / 4
    if roll < 0.7:
        return dice.choice(FLOATS)
    if roll < 0.85:
        return dice.uniform(-1e3, 1e3)
    return struct.unpack("d", dice.randbytes(8))[0]


@dataclass(frozen=True)
class Container:
    """The rows of one argument in one container, and what its bounds tell of them."""

    rows: tuple
    lower: object
    upper: object

    @property
    def point(self):
        return len({*map(repr, self.rows)}) == 1 and is_value(self.rows[0]) and self.tight

    @property
    def tight(self):
        return self.lower is not None and self.lower == self.upper


def is_value(row) -> bool:
    return row is not None and row == row  # noqa: PLR0124


def container(dice: Random, kind) -> Container:
    """One to three rows, NULLs among them; bounds that are tight, cut or unknown."""
    rows = tuple(
        None if dice.random() < 0.15 else value(dice, kind)
        for _ in range(dice.choice((1, 1, 2, 3)))
    )
    values = sorted(in_arrow(row) for row in rows if is_value(row))
    lower, upper = (values[0], values[-1]) if values else (None, None)
    if isinstance(kind, StringType) and values and dice.random() < 0.4:
        size = dice.randint(0, 5)
        lower, upper = lower[:size], upper[:size] + b"\xff"
    return Container(
        rows,
        None if dice.random() < 0.1 else lower,
        None if dice.random() < 0.1 else upper,
    )


def batch(seed: int, kinds, count: int = 60):
    """For each argument as many containers as for the others."""
    dice = Random(seed)
    return [[container(dice, kind) for _ in range(count)] for kind in kinds]


some = settings(max_examples=max(4, settings().max_examples // 25))
seeds = st.integers(0, 2**64 - 1)
"""What Hypothesis varies: one seed makes a batch, because kernels are paid by the call."""


def in_arrow(row):
    return row.encode() if isinstance(row, str) else row


def interval(kind, column) -> Interval:
    """What statistics would say of these containers."""

    def holds(test):
        return pa.array([any(test(row) for row in c.rows) for c in column], pa.bool_())

    bounds = BINARY if isinstance(kind, StringType) else kind
    return Interval(
        kind,
        arrow.array([c.lower for c in column], bounds),
        arrow.array([c.upper for c in column], bounds),
        value=holds(is_value),
        null=holds(lambda row: row is None),
        nan=holds(lambda row: row is not None and row != row),  # noqa: PLR0124
    )


def check(rule, scalar, kinds, seed, *, exact=True):
    """All claims of `rule(*intervals)` against `scalar(*rows)`."""
    columns = batch(seed, kinds)
    count = len(columns[0])
    arguments = [interval(kind, column) for kind, column in zip(kinds, columns, strict=True)]
    answers = unpacked(rule(*arguments), count)
    for answer, *parts in zip(answers, *columns, strict=True):
        rows = itertools.product(*(part.rows for part in parts))
        outcomes = [outcome(scalar, row) for row in rows]
        for one in outcomes:
            assert answer.contains(one), f"{one!r} of {parts} is not in {answer}"
        if exact and all(part.point for part in parts):
            assert answer.is_just(outcomes[0]), f"{parts}: {outcomes[0]!r} is exact, got {answer}"
    assert unpacked(rule(*(interval(kind, []) for kind in kinds)), 0) == []
    for i in range(3):
        (alone,) = unpacked(rule(*(single(x, i) for x in arguments)), 1)
        assert answers[i].covers(alone), f"as constants {alone}, as columns {answers[i]}"
    for weaker in vaguer(arguments):
        for tight, loose in zip(answers, unpacked(rule(*weaker), count), strict=True):
            assert loose.covers(tight), f"knowing less gave {loose}, knowing more {tight}"


def outcome(scalar, rows):
    try:
        outcome = scalar(*rows)
    except Raised:
        return Raised
    return in_arrow(outcome)


def single(x: Interval, index: int) -> Interval:
    """One container as a constant: scalars and plain booleans."""
    flags = {flag: getattr(x, flag)[index].as_py() for flag in ("value", "null", "nan")}
    return replace(x, lower=x.lower[index], upper=x.upper[index], **flags)


def vaguer(arguments):
    """The same arguments, each in turn without a bound or with a NULL that may be."""
    for i, x in enumerate(arguments):
        for change in ({"lower": None}, {"upper": None}, {"null": True}):
            yield [*arguments[:i], replace(x, **change), *arguments[i + 1 :]]


@dataclass(frozen=True)
class Answer:
    """The result for one container."""

    lower: object
    upper: object
    value: bool
    null: bool
    nan: bool
    raises: bool

    def contains(self, outcome) -> bool:
        if outcome is Raised:
            return self.raises
        if outcome is None:
            return self.null
        if not is_value(outcome):
            return self.nan
        above = self.lower is None or self.lower <= outcome
        return self.value and above and (self.upper is None or outcome <= self.upper)

    def is_just(self, outcome) -> bool:
        """Nothing but this one outcome."""
        flags = (self.value, self.null, self.nan, self.raises)
        if outcome is Raised:
            return flags == (False, False, False, True)
        if outcome is None:
            return flags == (False, True, False, False)
        if not is_value(outcome):
            return flags == (False, False, True, False)
        return flags == (True, False, False, False) and self.lower == outcome == self.upper

    def covers(self, other) -> bool:
        flags = ("value", "null", "nan", "raises")
        if any(getattr(other, f) and not getattr(self, f) for f in flags):
            return False
        if not other.value:
            return True
        below = self.lower is None or (other.lower is not None and self.lower <= other.lower)
        return below and (
            self.upper is None or (other.upper is not None and self.upper >= other.upper)
        )


def unpacked(result: Interval, count: int) -> list[Answer]:
    ends = (
        [None] * count
        if end is None
        else [end.as_py()] * count
        if isinstance(end, pa.Scalar)
        else end.to_pylist()
        for end in (result.lower, result.upper)
    )
    masks = (
        materialise(mask, count).to_pylist()
        for mask in (result.value, result.null, result.nan, result.raises)
    )
    return [Answer(*parts) for parts in zip(*ends, *masks, strict=True)]
