"""The columns of the tables that a log is read for: its plans print values without their types."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

from whyscan.statements.sql.table_names import meant

Types: TypeAlias = Mapping[str, Mapping[str, str]]
"""By the table's name: the types of its columns, as Spark calls them."""

NO_TYPES: Types = MappingProxyType({})


def types_of(table: str | None, types: Types) -> Mapping[str, str]:
    """The columns of the table that a plan names; none where it may be one of several."""
    tables = [] if table is None else meant(types, table.replace("`", "").split("."))
    return types[tables[0]] if len(tables) == 1 else {}
