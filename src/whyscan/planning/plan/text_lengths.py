"""Upper bounds of the length of texts that an expression makes, before it is run.

`repeat`, `replace` and similar functions turn a short text into a long one; nested, they make a
text that does not fit into memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.predicate.syntax.parse import MAX_CHARACTERS
from whyscan.pruning.functions.text.duckdb_templates import LONGEST_PADDED
from whyscan.tree.nodes import Call, Case, Cast, Coalesce, Column, Literal, children, walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.tree.nodes import Expression, Path

LONGEST_TEXTS = 100_000
"""How many characters all functions of an expression may make of one tuple, in sum.

DuckDB keeps the results of each function for some thousand tuples at once.
"""
_LONGEST_NUMBER = 40
_DIGEST = 32


def makes_little(
    expression: Expression, columns: Sequence[Column], values: Sequence[pa.Array]
) -> bool:
    """The texts that the expression makes of these column values stay short."""
    longest = {c.path: _longest(array) for c, array in zip(columns, values, strict=True)}
    greatest = {
        c.path: pc.max(array).as_py() or 0
        for c, array in zip(columns, values, strict=True)
        if pa.types.is_integer(array.type)
    }
    made = 0
    lengths: dict[int, int] = {}
    for node in reversed(list(walk(expression))):
        inner = [lengths[id(part)] for part in children(node)]
        length = _length(node, inner, longest, greatest)
        if isinstance(node, Call):
            made += length
        if made > LONGEST_TEXTS or length > MAX_CHARACTERS:
            return False
        lengths[id(node)] = length
    return True


def _longest(values: pa.Array) -> int:
    """The length in bytes of the longest text; for numbers and dates a constant."""
    if not pa.types.is_string(values.type):
        return _LONGEST_NUMBER
    return pc.max(pc.binary_length(values)).as_py() or 0


def _length(
    node: Expression,
    inner: Sequence[int],
    longest: Mapping[Path, int],
    greatest: Mapping[Path, int],
) -> int:
    """An upper bound of the characters of a node's value; `inner` are those of its operands."""
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
                case Column(path=path) if path in greatest:
                    return inner[0] * max(greatest[path], 0)
                case _:
                    return LONGEST_TEXTS + 1
        case Call(function="md5"):
            return _DIGEST
        case Call() | Case() | Coalesce() | Cast():
            return max((*inner, _LONGEST_NUMBER))
        case _:
            return _LONGEST_NUMBER
