"""The columns of the tables that a log is read for: its plans print values without their types."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

from whyscan.statements.sql.table_names import meant

Types: TypeAlias = Mapping[str, Mapping[str, str]]
"""By the table's name: the types of its columns, as Spark calls them."""

NOTHING_KNOWN: Types = MappingProxyType({})


def types_of(table: str | None, known: Types) -> Mapping[str, str]:
    """The columns of the table that a plan names; none where it may be one of several."""
    found = [] if table is None else meant(known, table.replace("`", "").split("."))
    return known[found[0]] if len(found) == 1 else {}
