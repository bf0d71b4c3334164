"""The partitioning of a Delta table as transforms of its columns.

A partition column is the identity of itself. A generated partition column is a transform of its
source, unless its value depends on a zone or may stand for an empty string. With a transform, a
predicate whose literals are at the edges of partitions is exact.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from whyscan.pruning.transforms import Day, Hour, IdentityTransform, Month, Unknown, Year
from whyscan.tables.delta.generation_expressions import (
    CalendarField,
    CalendarPeriod,
    CalendarUnit,
    Same,
    Start,
)
from whyscan.tables.delta.partitions import is_instant
from whyscan.tree.types import DateType, IntegerType, StringType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.pruning.transforms import Transform
    from whyscan.tables.delta.generation_expressions import Generated
    from whyscan.tables.delta.partitions import PartitionColumn
    from whyscan.tables.snapshot import Spec
    from whyscan.tree.nodes import Path
    from whyscan.tree.types import Type

_COUNTED: Mapping[CalendarUnit | CalendarPeriod, Transform] = {
    CalendarUnit.YEAR: Year(),
    CalendarUnit.MONTH: Month(),
    CalendarUnit.DAY: Day(),
    CalendarUnit.HOUR: Hour(),
    CalendarPeriod.YEAR: Year(),
    CalendarPeriod.MONTH: Month(),
    CalendarPeriod.DAY: Day(),
}
"""The transforms of fields, and of the periods whose starts are recorded as dates."""


def spec(partitions: Sequence[PartitionColumn], generated: Mapping[Path, Generated]) -> Spec:
    """The transforms of each partition column and of each source of a generated one."""
    types = {partition.column.path: partition.column.type for partition in partitions}
    by_source: dict[Path, list[tuple[Generated, Type]]] = {}
    for path, column in generated.items():
        by_source.setdefault(column.source.path, []).append((column, types[path]))
    transforms = {path: tuple(_transforms(columns)) for path, columns in by_source.items()}
    return {**transforms, **{path: (IdentityTransform(),) for path in types}}


def _transforms(columns: Sequence[tuple[Generated, Type]]) -> Iterator[Transform]:
    """The transforms of one source. Calendar fields give one transform together."""
    source = columns[0][0].source.type
    fields: set[CalendarUnit] = set()
    for column, kind in columns:
        match column.shape, kind:
            case _ if is_instant(source):
                yield Unknown("generated")
            case CalendarField(unit), IntegerType():
                fields.add(unit)
            case Start(period), DateType() if period in _COUNTED:
                yield _COUNTED[period]
            case Same(), _ if not isinstance(kind, StringType):
                yield IdentityTransform()
            case _:
                yield Unknown("generated")
    nested = list(takewhile(fields.__contains__, CalendarUnit))
    if nested and isinstance(source, DateType):
        yield _COUNTED[min(nested[-1], CalendarUnit.DAY)]
    elif fields:
        yield _COUNTED[nested[-1]] if nested else Unknown("generated")
