"""The types of `--partition-type`, by Spark's names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from whyscan.errors import UsageError
from whyscan.tree.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    DecimalType,
)

if TYPE_CHECKING:
    from whyscan.tree.types import Type

MAX_DIGITS = 38
_NAMES: dict[str, Type] = {
    "boolean": BOOLEAN,
    "tinyint": TINYINT,
    "byte": TINYINT,
    "smallint": SMALLINT,
    "short": SMALLINT,
    "int": INT,
    "integer": INT,
    "bigint": BIGINT,
    "long": BIGINT,
    "float": FLOAT,
    "real": FLOAT,
    "double": DOUBLE,
    "string": STRING,
    "binary": BINARY,
    "date": DATE,
    "timestamp": TIMESTAMP,
    "timestamp_ltz": TIMESTAMP,
    "timestamp_ntz": TIMESTAMP_NTZ,
}
_DECIMAL = re.compile(r"(?:decimal|dec|numeric)(?:\((\d{1,2})(?:,(\d{1,2}))?\))?", re.ASCII)


def type_named(text: str) -> Type:
    """The type with this name; raises UsageError for an unknown name."""
    name = "".join(text.split()).lower()
    decimal = _DECIMAL.fullmatch(name)
    if decimal is not None:
        precision, scale = int(decimal[1] or 10), int(decimal[2] or 0)
        if 0 < precision <= MAX_DIGITS and scale <= precision:
            return DecimalType(precision, scale)
    if name not in _NAMES:
        hint = "one of " + ", ".join(dict.fromkeys(str(kind) for kind in _NAMES.values()))
        raise UsageError(f"unknown type {text!r}", hint=f"{hint}, decimal(p,s)")
    return _NAMES[name]
