"""How long the texts are that an expression makes, before anything makes them.

`repeat`, `replace` and the like turn a short text into a long one, and within one another into one
that no memory holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.planning.plan.duckdb_sql import LONGEST_PADDED
from whyscan.predicate.syntax.parse import MAX_CHARACTERS
from whyscan.tree.nodes import Call, Case, Cast, Coalesce, Column, Literal, children, walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.tree.nodes import Expression, Path

LONGEST_TEXTS = 100_000
"""Characters that all functions of an expression may make of one tuple, together.

DuckDB keeps what each function makes of some thousand tuples at once.
"""
_LONGEST_NUMBER = 40
_DIGEST = 32


def makes_little(
    expression: Expression, columns: Sequence[Column], values: Sequence[pa.Array]
) -> bool:
    """Whether the texts that the expression makes of these values of its columns stay short."""
    longest = {c.path: _longest(array) for c, array in zip(columns, values, strict=True)}
    made = 0
    lengths: dict[int, int] = {}
    for node in reversed(list(walk(expression))):
        inner = [lengths[id(part)] for part in children(node)]
        length = _length(node, inner, longest)
        if isinstance(node, Call):
            made += length
        if made > LONGEST_TEXTS or length > MAX_CHARACTERS:
            return False
        lengths[id(node)] = length
    return True


def _longest(values: pa.Array) -> int:
    """The bytes of the longest text; numbers and dates have few characters."""
    if not pa.types.is_string(values.type):
        return _LONGEST_NUMBER
    return pc.max(pc.binary_length(values)).as_py() or 0


def _length(node: Expression, inner: Sequence[int], longest: Mapping[Path, int]) -> int:
    """An upper bound of the characters of a node's value, of those of its operands."""
    match node:
        case Column():
            return longest[node.path]
        case Literal(value=str() as text):
            return len(text)
        case Call(function="concat" | "concat_ws"):
            return sum(inner) + inner[0] * len(inner)
        case Call(function="replace" | "regexp_replace"):
            return (inner[0] + 1) * (inner[2] + 1)
        case Call(function="lpad" | "rpad"):
            return inner[0] + LONGEST_PADDED
        case Call(function="repeat"):
            match node.arguments[1]:
                case Literal(value=int() as times):
                    return inner[0] * max(times, 0)
                case _:
                    return LONGEST_TEXTS + 1
        case Call(function="md5"):
            return _DIGEST
        case Call() | Case() | Coalesce() | Cast():
            return max((*inner, _LONGEST_NUMBER))
        case _:
            return _LONGEST_NUMBER
