"""Column types of tables for reading event logs, whose plans print values without types."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

from whyscan.statements.sql.table_names import matching_names

Types: TypeAlias = Mapping[str, Mapping[str, str]]
"""By table name: the Spark types of its columns."""

NO_TYPES: Types = MappingProxyType({})


def types_of(table: str | None, types: Types) -> Mapping[str, str]:
    """The column types of the table that a plan names; none if several tables fit the name."""
    tables = [] if table is None else matching_names(types, table.replace("`", "").split("."))
    return types[tables[0]] if len(tables) == 1 else {}
