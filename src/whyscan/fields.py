"""The kinds of fields that records of reports have. A record is also the JSON document.

The annotation of a field says everything about it: its type, its kind (for `--redact`), and its
description (for the JSON Schema). `reports/document.py` makes the documents.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, TypeAlias

from msgspec import Meta, Struct


class TextKind(StrEnum):
    """What a text is, and so what `--redact` does with it."""

    SQL = "sql"
    """SQL. Its literals are hidden."""
    SENTENCE = "sentence"
    """Words for people, which may quote SQL. The literals of the predicate are hidden."""
    ERROR = "error"
    """An error that may quote any text. Only its first words stay."""
    VALUE = "value"
    """A value of the table, as text. It is hidden."""
    PATH = "path"
    """The path of a file. The partition values in it become pseudonyms."""
    NAME = "name"
    """The name of a table, a column or an engine. It stays."""
    WORD = "word"
    """One of a few words of ours. It stays."""


Sql: TypeAlias = Annotated[str, TextKind.SQL]
Sentence: TypeAlias = Annotated[str, TextKind.SENTENCE]
ErrorText: TypeAlias = Annotated[str, TextKind.ERROR]
Value: TypeAlias = Annotated[str, TextKind.VALUE]
FilePath: TypeAlias = Annotated[str, TextKind.PATH]
Name: TypeAlias = Annotated[str, TextKind.NAME]
Word: TypeAlias = Annotated[str, TextKind.WORD]
Count: TypeAlias = Annotated[int, Meta(ge=0)]
Fraction: TypeAlias = Annotated[float, Meta(ge=0, le=1)]


def one_of(*words: str) -> Meta:
    """Annotate a `Word` with the words that it may be."""
    return Meta(extra_json_schema={"enum": list(words)})


def object_of(required: tuple[str, ...] = (), **properties: dict[str, Any]) -> Meta:
    """Annotate a mapping with the names that it may have."""
    shape = {"additionalProperties": False, "required": list(required), "properties": properties}
    return Meta(extra_json_schema=shape)


LevelName: TypeAlias = Annotated[Word, one_of("manifests", "files", "row_groups", "pages")]
TableFormat: TypeAlias = Annotated[Word, one_of("delta", "iceberg", "hive", "parquet")]
Outcome: TypeAlias = Annotated[Word, one_of("pass", "fail")]


class Record(Struct, frozen=True):
    """The base of records that documents are made of. Their annotations are read at run time."""
