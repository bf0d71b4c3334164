"""The columns that a text seems to name. A name that is not a plain word gives no guess."""

from __future__ import annotations

import pytest

from whyscan.predicate.syntax.column_guess import mentioned_columns
from whyscan.tree.types import BIGINT, STRING, Field, Schema, StructType

SCHEMA = Schema(
    (
        Field("id", BIGINT),
        Field("Country", STRING),
        Field("age", BIGINT),
        Field("place", StructType((Field("x", BIGINT),))),
    )
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("country = 'DE' AND age > 85", ["Country", "age"]),
        ("t.AGE > 1", ["age"]),
        ("country = 'age'", ["Country"]),
        ("country = 'it''s age'", ["Country"]),
        ("true", []),
        ("`age` > 1", None),
        ("place.x > 1", None),
        ("_metadata.file_size > 1 AND age = 1", None),
    ],
)
def test_words_that_are_columns(text, names):
    columns = mentioned_columns(text, SCHEMA)
    assert (None if columns is None else [column.path[0] for column in columns]) == names
