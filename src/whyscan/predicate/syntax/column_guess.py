"""A guess which columns a text names, from its words and without a parser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from whyscan.tree.nodes import Column
from whyscan.tree.types import StructType

if TYPE_CHECKING:
    from whyscan.tree.types import Schema

_STRING = re.compile(r"'[^']*'")
_WORD = re.compile(r"\w+")


def mentioned_columns(text: str, schema: Schema) -> tuple[Column, ...] | None:
    """The columns whose names are words of the text outside of strings.

    None if a column may be named in another way: in quotes, in `_metadata` or in a struct.
    """
    words = {word.lower() for word in _WORD.findall(_STRING.sub("", text))}
    fields = [field for field in schema.fields if field.name.lower() in words]
    if "`" in text or "_metadata" in words or any(isinstance(f.type, StructType) for f in fields):
        return None
    return tuple(Column((field.name,), field.type) for field in fields)
