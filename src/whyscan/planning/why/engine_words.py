"""What engines call a conjunct or an operand of one, beside whyscan's own class.

| whyscan | Trino | DataFusion | evaluated above the scan |
|---|---|---|---|
| exact | enforced | Exact | nothing |
| inexact | unenforced | Inexact | the whole condition, once more |
| unsupported | unsupported | Unsupported | the whole condition |

Delta on Spark classifies filters by the columns they name: a *partition filter* names partition
columns only, a *data filter* can be rewritten as a filter on minima, maxima and null counts, and an
*unused filter* is any other. Delta looks at the filter's form; whyscan looks at what the filter can
exclude.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from whyscan.fields import Record
from whyscan.planning.why.pushdown import ConjunctBucket, Pushdown
from whyscan.pruning.same_representation import column_below
from whyscan.tree.nodes import (
    And,
    Between,
    Cast,
    Column,
    Comparison,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
)
from whyscan.tree.types import DateType, TimestampType

if TYPE_CHECKING:
    from collections.abc import Callable

    from whyscan.planning.why.pushdown import Class
    from whyscan.tree.nodes import Expression

    Measured = Callable[[Column], bool]
    """The table collects bounds of a column, and the column is no partition source."""


class Trino(StrEnum):
    """What a Trino connector answers to a pushed constraint."""

    ENFORCED = "enforced"
    UNENFORCED = "unenforced"
    UNSUPPORTED = "unsupported"


class DeltaSpark(StrEnum):
    """How Delta on Spark classifies a filter."""

    PARTITION = "partition filter"
    DATA = "data filter"
    UNUSED = "unused filter"


class DataFusion(StrEnum):
    """The values of `TableProviderFilterPushDown`."""

    EXACT = "Exact"
    INEXACT = "Inexact"
    UNSUPPORTED = "Unsupported"


class Words(Record, frozen=True, rename={"remains": "remains_above_scan"}):
    """The words of each engine for one condition; `remains`: the engine evaluates it again."""

    trino: Trino
    delta_spark: DeltaSpark
    datafusion: DataFusion
    remains: bool


_TRINO = {
    Pushdown.EXACT: Trino.ENFORCED,
    Pushdown.INEXACT: Trino.UNENFORCED,
    Pushdown.UNSUPPORTED: Trino.UNSUPPORTED,
}
_DATAFUSION = {
    Pushdown.EXACT: DataFusion.EXACT,
    Pushdown.INEXACT: DataFusion.INEXACT,
    Pushdown.UNSUPPORTED: DataFusion.UNSUPPORTED,
}


def words(expression: Expression, conjunct_class: Class, measured: Measured) -> Words:
    """The words of each engine for an expression of this class."""
    return Words(
        _TRINO[conjunct_class.pushdown],
        _delta(expression, conjunct_class, measured),
        _DATAFUSION[conjunct_class.pushdown],
        remains=conjunct_class.pushdown is not Pushdown.EXACT,
    )


def _delta(expression: Expression, conjunct_class: Class, measured: Measured) -> DeltaSpark:
    if conjunct_class.bucket is ConjunctBucket.PARTITION_SAFE:
        return DeltaSpark.PARTITION
    return DeltaSpark.DATA if _asks_statistics(expression, measured) else DeltaSpark.UNUSED


def _asks_statistics(expression: Expression, measured: Measured) -> bool:
    """A part of every alternative compares a data column itself with a constant."""

    def asks(part: Expression) -> bool:
        return _asks_statistics(part, measured)

    match expression:
        case And():
            return any(map(asks, expression.operands))
        case Or():
            return all(map(asks, expression.operands))
        case Not(operand=And(operands=operands)):
            return all(asks(Not(operand)) for operand in operands)
        case Not(operand=Or(operands=operands)):
            return any(asks(Not(operand)) for operand in operands)
        case Not(operand=Not(operand=operand)):
            return asks(operand)
        case Not(operand=In() | Like()):
            return False
        case Not(operand=operand):
            return asks(operand)
        case Comparison(left=left, right=right):
            pair = ((left, right), (right, left))
            return any(
                isinstance(b, Literal) and _is_data(_unwrapped(a), measured) for a, b in pair
            )
        case Between(operand=operand) | In(operand=operand) | IsNull(operand=operand):
            return _is_data(operand, measured)
        case Like(operand=operand, pattern=pattern):
            return _is_data(operand, measured) and _is_prefix(pattern)
        case _:
            return False


def _is_data(expression: Expression, measured: Measured) -> bool:
    column = column_below(expression)
    return column is not None and measured(column)


def _unwrapped(expression: Expression) -> Expression:
    """The timestamp in a cast to date: Spark's optimizer turns it into a range of timestamps."""
    match expression:
        case Cast(operand=Column(type=TimestampType()) as column, type=DateType()):
            return column
        case _:
            return expression


def _is_prefix(pattern: str) -> bool:
    """A pattern like `ab%`, which Spark reads as "starts with ab"."""
    head = pattern.rstrip("%")
    return bool(head) and not set(head) & set("%_\\")
