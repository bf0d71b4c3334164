"""Which columns a text seems to name: a guess from its words, before a parser is there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from whyscan.tree.nodes import Column
from whyscan.tree.types import StructType

if TYPE_CHECKING:
    from whyscan.tree.types import Schema

_STRING = re.compile(r"'[^']*'")
_WORD = re.compile(r"\w+")


def mentioned(text: str, schema: Schema) -> tuple[Column, ...] | None:
    """The columns among the words outside of strings; None where names may be more than words."""
    words = {word.lower() for word in _WORD.findall(_STRING.sub("", text))}
    fields = [field for field in schema.fields if field.name.lower() in words]
    if "`" in text or "_metadata" in words or any(isinstance(f.type, StructType) for f in fields):
        return None
    return tuple(Column((field.name,), field.type) for field in fields)
