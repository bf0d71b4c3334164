"""The record of a function: its name, its signature, its law and its SQL in DuckDB."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from whyscan.tree.nodes import Expression, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from whyscan.pruning.interval import Interval
    from whyscan.tree.nodes import Call
    from whyscan.tree.types import Type
    from whyscan.tree.zones import Zone

UNLIMITED = 1000
"""The greatest number of arguments of a function that takes any number."""

Law: TypeAlias = "Callable[[Call, Sequence[Interval], Zone], Interval]"
"""The interval of a call, from the intervals of its arguments."""

Template: TypeAlias = "Callable[[Call, list[str]], str | None]"
"""The DuckDB SQL of a call, from the SQL of its arguments; None where DuckDB may differ."""

Result: TypeAlias = "Type | Callable[[tuple[Expression, ...]], Type | None]"
"""The type of a call, or how it follows from the arguments; None if it does not."""


class Argument(Enum):
    """The type that a function expects of one argument. Another type is cast to it."""

    ANY = "anything"
    NUMBER = "a number"
    DOUBLE = "double"
    INT = "int"
    BIGINT = "bigint"
    STRING = "string"
    BYTES = "string or binary"
    DATE = "date"
    TIMESTAMP = "timestamp"
    MOMENT = "date or timestamp"


class ScalarFunction(Struct, frozen=True):
    """All that whyscan knows about one function of the tree, which has its Spark name.

    The last `optional` parameters may be left out; the last one repeats if `repeats`. Without a law
    the function may have any value and may raise. A `strict` function is NULL if an argument is
    NULL. `duckdb` is SQL with the same meaning in DuckDB on printable ASCII text, and on any text
    if `any_text`; without it DuckDB may differ.
    """

    name: str
    parameters: tuple[Argument, ...]
    result: Result
    law: Law | None = None
    duckdb: Template | str | None = None
    optional: int = 0
    repeats: bool = False
    strict: bool = True
    any_text: bool = False

    @property
    def least(self) -> int:
        """The least number of arguments."""
        return len(self.parameters) - self.optional

    @property
    def most(self) -> int:
        """The greatest number of arguments."""
        return UNLIMITED if self.repeats else len(self.parameters)

    def duckdb_sql(self, call: Call, arguments: list[str]) -> str | None:
        """The call as DuckDB SQL; None where DuckDB may differ from Spark."""
        if isinstance(self.duckdb, str):
            return self.duckdb.format(*arguments) if len(arguments) >= self.least else None
        return None if self.duckdb is None else self.duckdb(call, arguments)


def by_type(rule: Callable[..., Interval]) -> Law:
    """A law that needs the type of the call and no time zone: `rule(type, *arguments)`."""
    return lambda call, arguments, _: rule(call.type, *arguments)


def type_of_first(arguments: tuple[Expression, ...]) -> Type:
    """The type of the first argument."""
    return type_of(arguments[0])
