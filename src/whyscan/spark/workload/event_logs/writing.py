"""A scan that is known by its plan alone, written as the query that it answers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from whyscan.spark.workload.event_logs.catalyst import (
    Columns,
    Read,
    members,
    quoted,
    read_filters,
    without_implied,
)
from whyscan.spark.workload.event_logs.iceberg import filters_of, read_iceberg_filters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.spark.workload.event_logs.nodes import ScanNode

_FORMATS = frozenset({"parquet", "delta", "iceberg"})
_NOT_NULL = re.compile(r"isnotnull\(([^()]+#\d+L?)\)")
_LONGEST_SHOWN = 200


def written(scan: ScanNode, zone: str | None) -> tuple[str, tuple[str, ...]]:
    """The query of a scan, and notes on what it leaves out; ValueError where there is none."""
    if scan.format not in _FORMATS:
        raise ValueError(f"a scan of {scan.format or scan.name} is not explained")
    read = _iceberg(scan, zone) if scan.is_iceberg else _of_files(scan, zone)
    if "TahoeBatch" in scan.index and not read.conjuncts and not read.left_out:
        raise ValueError("it reads files that a command of Delta has chosen")
    where = f" WHERE {' AND '.join(read.conjuncts)}" if read.conjuncts else ""
    text = f"SELECT {_columns(scan)} FROM {_from(scan)}{where}"  # noqa: S608 - never run
    return text, tuple(f"left out of its text: {_shortened(part)}" for part in read.left_out)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _from(scan: ScanNode) -> str:
    if scan.table is not None:
        return ".".join(quoted(part.strip("`")) for part in scan.table.split("."))
    if scan.place is None:
        raise ValueError(f"it reads {scan.metadata.get('Location') or 'an unknown place'}")
    return f"{'delta' if scan.is_delta else scan.format}.{quoted(scan.place)}"


def _columns(scan: ScanNode) -> str:
    """What is read, partition columns too; all of them where Spark has cut the list off."""
    attributes = re.search(r"\[(.*?)\](?: |$)", scan.text, re.DOTALL)
    cut = attributes is None or "more fields" in attributes[1]
    names = list(members(scan.metadata.get("ReadSchema", "")))
    if not cut and attributes is not None:
        listed = re.findall(r"(?:^|,\s?)([^,#]+?)#\d+L?", attributes[1])
        names += [name for name in listed if name not in names]
    if (cut and not names) or (scan.is_iceberg and cut):
        return "*"
    return ", ".join(map(quoted, names)) or "1"


def _of_files(scan: ScanNode, zone: str | None) -> Read:
    filters = [scan.metadata.get(key, "[]") for key in ("PartitionFilters", "DataFilters")]
    return read_filters(filters, _known(scan, filters, zone))


def _known(scan: ScanNode, filters: Sequence[str], zone: str | None) -> Columns:
    """The columns that filters may name: those of the scan, and those of which one is tested."""
    schema = members(scan.metadata.get("ReadSchema", ""))
    tokens = {*scan.attributes, *(name for text in filters for name in _NOT_NULL.findall(text))}
    types = {}
    for token in tokens:
        name, _, number = token.rpartition("#")
        types[token] = schema.get(name) or ("bigint" if number.endswith("L") else None)
    return Columns(types, zone)


def _iceberg(scan: ScanNode, zone: str | None) -> Read:
    """What Iceberg was asked, and what Spark checks again above it, which has the values' types."""
    told = read_iceberg_filters(filters_of(scan.text), scan.attributes)
    if scan.condition is None:
        return told
    above = read_filters([scan.condition], _known(scan, [scan.condition], zone))
    conjuncts = without_implied(tuple(dict.fromkeys((*told.conjuncts, *above.conjuncts))))
    told_above = " ".join(
        (*(text for text in conjuncts if not _is_null_test(text)), *above.left_out)
    )
    missing = [part for part in told.left_out if not _names(told_above, part.split(" ")[0])]
    return Read(conjuncts, (*missing, *above.left_out))


def _is_null_test(text: str) -> bool:
    return text.endswith(" IS NOT NULL")


def _names(text: str, column: str) -> bool:
    return f"{quoted(column)} " in text or f"{column}#" in text
