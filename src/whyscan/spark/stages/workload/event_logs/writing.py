"""Write a scan of a plan as a SQL query."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from whyscan.spark.plans.iceberg_filters import (
    METADATA_TABLES,
    filters_of,
    read_iceberg_filters,
)
from whyscan.spark.plans.printed_filters import (
    IS_DELETED,
    NO_TYPES,
    ReadFilters,
    ScanColumns,
    members,
    quoted,
    read_filters,
    without_implied,
)
from whyscan.statements.sql.table_names import matching_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from whyscan.spark.plans.printed_filters import Types
    from whyscan.spark.stages.workload.event_logs.plan_nodes import ScanNode

_FORMATS = frozenset({"parquet", "delta", "iceberg"})
_NOT_NULL = re.compile(r"isnotnull\(([^()]+#\d+L?)\)")
_COMPARED = re.compile(
    r"\((?P<column>[^()#]+)#\d+ (?P<operator>[<>]=?|=) \d{4}-\d\d-\d\d "
    r"|(?P<listed>[^()#]+)#\d+L? IN(?:SET)? "
)
_LONGEST_SHOWN = 200
_OF_FILES = frozenset(
    {
        IS_DELETED,
        "_tmp_metadata_row_index",
        "file_path",
        "file_name",
        "file_size",
        "file_block_start",
        "file_block_length",
        "file_modification_time",
    }
)
"""Columns that Spark and Delta generate: file, position and whether the row is deleted."""
_OF_ICEBERG = frozenset(
    {"_file", "_pos", "_spec_id", "_partition", "_deleted", "_row_id"}
    | {"_last_updated_sequence_number"}
)
"""Columns that Iceberg generates (specification, reserved field ids)."""
_ABOUT_A_TABLE = re.compile(rf".+#\w+|(?:[^.]+\.){{3,}}(?:{METADATA_TABLES})")
"""The name of an Iceberg metadata table: catalog, namespace, table and its own name."""


def query_of(
    scan: ScanNode, zone: str | None, types: Types = NO_TYPES
) -> tuple[str, tuple[str, ...]]:
    """The query of a scan, and notes on the filters that it leaves out.

    ValueError if the scan cannot be written. `zone` is the session's time zone, `types` are column
    types, as plans do not have all of them.
    """
    if scan.format not in _FORMATS:
        raise ValueError(f"it reads {scan.format or scan.name}, which is no table of the lake")
    if scan.is_iceberg and _ABOUT_A_TABLE.fullmatch(scan.table or ""):
        raise ValueError("it reads metadata of a table, and no rows of it")
    read = _iceberg(scan, zone, types) if scan.is_iceberg else _of_files(scan, zone)
    if "TahoeBatch" in scan.index and not read.conjuncts and not read.left_out:
        raise ValueError("it reads files that a command of Delta has chosen")
    where = f" WHERE {' AND '.join(read.conjuncts)}" if read.conjuncts else ""
    text = f"SELECT {_columns(scan)} FROM {_source_name(scan)}{where}"  # noqa: S608 - never run
    return text, tuple(f"left out of its text: {_shortened(part)}" for part in read.left_out)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _source_name(scan: ScanNode) -> str:
    if scan.table is not None:
        return ".".join(quoted(part.strip("`")) for part in scan.table.split("."))
    if scan.place is None:
        raise ValueError(f"it reads {scan.metadata.get('Location') or 'an unknown place'}")
    return f"{'delta' if scan.is_delta else scan.format}.{quoted(scan.place)}"


def _columns(scan: ScanNode) -> str:
    """The columns that are read, with partition columns; `*` if Spark has cut the list."""
    attributes = re.search(r"\[(.*?)\](?: |$)", scan.text, re.DOTALL)
    cut = attributes is None or "more fields" in attributes[1]
    names = list(members(scan.metadata.get("ReadSchema", "")))
    if not cut and attributes is not None:
        listed = re.findall(r"(?:^|,\s?)([^,#]+?)#\d+L?", attributes[1])
        names += [name for name in listed if name not in names]
    made = _OF_ICEBERG if scan.is_iceberg else _OF_FILES
    names = [name for name in names if name not in made]
    if (cut and not names) or (scan.is_iceberg and cut):
        return "*"
    return ", ".join(map(quoted, names)) or "1"


def _of_files(scan: ScanNode, zone: str | None) -> ReadFilters:
    filters = [scan.metadata.get(key, "[]") for key in ("PartitionFilters", "DataFilters")]
    # A plan's text has only the beginning of a long list of filters.
    cut = tuple(text for text in filters if text.endswith("..."))
    filters = [text for text in filters if text not in cut]
    read = read_filters(filters, _scan_columns(scan, filters, zone))
    # Every reader skips deleted rows: this filter is no condition of the query.
    left_out = tuple(part for part in read.left_out if f"({IS_DELETED}#" not in part)
    return ReadFilters(read.conjuncts, (*left_out, *cut))


def _scan_columns(
    scan: ScanNode,
    filters: Sequence[str],
    zone: str | None,
    table_types: Mapping[str, str] = MappingProxyType({}),
) -> ScanColumns:
    """The columns that filters may name: those of the scan, and those with an `isnotnull`."""
    schema = {**table_types, **members(scan.metadata.get("ReadSchema", ""))}
    tokens = {*scan.attributes, *(name for text in filters for name in _NOT_NULL.findall(text))}
    types = {}
    for token in tokens:
        name, _, number = token.rpartition("#")
        if name in _OF_FILES and not scan.is_iceberg:
            continue
        types[token] = schema.get(name) or ("bigint" if number.endswith("L") else None)
    return ScanColumns(types, zone)


def _iceberg(scan: ScanNode, zone: str | None, all_types: Types) -> ReadFilters:
    """The filters in the Iceberg scan, and those of Spark's Filter above, which shows types."""
    name = (scan.table or "").replace("`", "").split(".")
    tables = matching_names(all_types, name) if scan.table else []
    # Without types if several tables match the name of the scan.
    table_types = all_types[tables[0]] if len(tables) == 1 else {}
    columns = _scan_columns(scan, [scan.condition or ""], zone, table_types)
    listed = {token.rpartition("#")[0]: kind for token, kind in columns.types.items()}
    # The plan of a wide table lists only the first columns.
    types = {**table_types, **listed}
    from_iceberg = read_iceberg_filters(filters_of(scan.text), types)
    if scan.condition is None:
        return ReadFilters(without_implied(from_iceberg.conjuncts), from_iceberg.left_out)
    above = read_filters([scan.condition], columns)
    conjuncts = without_implied(tuple(dict.fromkeys((*from_iceberg.conjuncts, *above.conjuncts))))
    text_above = " ".join(
        (*(text for text in above.conjuncts if not _is_null_test(text)), *above.left_out)
    )
    missing = [part for part in from_iceberg.left_out if not _names_all(text_above, part, types)]
    unsaid = [
        part for part in above.left_out if not _is_pushed_to_iceberg(part, from_iceberg.conjuncts)
    ]
    return ReadFilters(conjuncts, (*missing, *unsaid))


def _is_pushed_to_iceberg(part: str, conjuncts: Sequence[str]) -> bool:
    """Whether a doubtful filter of Spark (a time, a list) is among Iceberg's filters."""
    match = _COMPARED.match(part)
    if match is None:
        return False
    if match["listed"]:
        beginning = f"{quoted(match['listed'])} IN ("
    else:
        beginning = f"{quoted(match['column'])} {match['operator']} TIMESTAMP"
    return any(text.startswith(beginning) for text in conjuncts)


def _is_null_test(text: str) -> bool:
    return text.endswith(" IS NOT NULL")


def _names_all(text: str, part: str, columns: Iterable[str]) -> bool:
    """Whether a text contains all columns that a filter names."""
    named = [name for name in columns if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", part)]
    return bool(named) and all(quoted(name) in text or f"{name}#" in text for name in named)
