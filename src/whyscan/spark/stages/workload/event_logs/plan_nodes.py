"""Read the scans of a plan from the plan nodes in Spark's events."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SCAN = re.compile(r"(?:Batch|Photon|Gpu|GpuBatch|GpuFileGpu)?Scan\b")
_TRANSPARENT = re.compile(r"InputAdapter|ColumnarToRow|WholeStageCodegen.*")
_CACHED = frozenset({"InMemoryTableScan", "TableCacheQueryStage"})
_REUSED = frozenset({"ReusedExchange", "ReusedSubquery"})
_JDBC = re.compile(r"Scan (?:JDBCRelation\(|\S+\.JDBCScan\b)")
_NO_TABLE = re.compile(r"Scan (?:ExistingRDD|OneRowRelation)\b.*|LocalTableScan")
_LOG_OF_DELTA = re.compile(r"DeltaLogFileIndex\b|/_delta_log(?:/|\b)")
# Spark before 3.1 does not write the number of paths.
_LOCATION = re.compile(r"(?P<index>\w+)(?:\((?P<count>\d+) paths\))?\[(?P<paths>.*)\]", re.DOTALL)
_ICEBERG = re.compile(
    r"\bIceberg(?:CopyOnWrite)?Scan\(table=(?P<table>[^,]+),|\] (?P<old>\S+) \(branch="
)
_DESCRIBED = re.compile(
    r"(?:,|\s)\s?(Batched|DataFilters|Format|Location|PartitionFilters|Pushed\w+|ReadSchema"
    r"|RuntimeFilters|Selected\w+): "
)
"""A key in the text of a scan of files, with its value behind it."""
_CUT = "..."
_ATTRIBUTE = re.compile(r"[^,\[\]]+?#\d+L?(?=,|\]|$)")


class ScanNode(Struct, frozen=True):
    """A scan of a table's files.

    `condition` is the Filter directly above it. `cached` is True if the scan fills Spark's cache,
    which only the first execution does. `metrics` are accumulator ids by metric name.
    """

    name: str
    text: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, int] = field(default_factory=dict)
    condition: str | None = None
    cached: bool = False

    @property
    def is_iceberg(self) -> bool:
        return (
            self.name.startswith(("BatchScan", "GpuBatchScan"))
            and _ICEBERG.search(self.text) is not None
        )

    @property
    def index(self) -> str:
        """The class of Spark's file index: `InMemoryFileIndex`, or one of Delta's."""
        match = _LOCATION.match(self.metadata.get("Location", ""))
        return "" if match is None else match["index"]

    @property
    def is_delta(self) -> bool:
        return "Delta" in self.index or "Tahoe" in self.index

    @property
    def format(self) -> str:
        if self.is_iceberg:
            return "iceberg"
        written = self.metadata.get("Format", "").lower()
        # "Scan JDBCRelation(people) [numPartitions=1]" has the text of a query, or a table.
        return written or ("jdbc" if _JDBC.match(self.name) else "")

    @property
    def table(self) -> str | None:
        """The name of the table in the plan, None if it was read by its path."""
        if self.is_iceberg:
            match = _ICEBERG.search(self.text)
            return None if match is None else (match["table"] or match["old"])
        # "Scan parquet spark_catalog.db.t"; "Scan parquet " where it has no name. "BatchScan
        # parquet file:/lake/t" has its place instead.
        words = self.name.split(" ", 2)
        name = words[2].strip() if len(words) > 2 else ""  # noqa: PLR2004 - two words
        return None if not name or "/" in name else name

    @property
    def place(self) -> str | None:
        """The path that is read, None if there are several or Spark has cut the text."""
        match = _LOCATION.match(self.metadata.get("Location", ""))
        if match is None or match["paths"].endswith("..."):
            return None
        is_one = ", " not in match["paths"] if match["count"] is None else match["count"] == "1"
        return re.sub(r"^file:/+", "/", match["paths"]) if is_one else None

    @property
    def attributes(self) -> frozenset[str]:
        """The columns as written in the plan, `id#12L`; only some if Spark has cut the text."""
        listed = re.search(r"\[(.*?)\](?: |$)", self.text, re.DOTALL)
        if listed is None:
            return frozenset()
        return frozenset(name.strip() for name in _ATTRIBUTE.findall(listed[1]))


def described(text: str) -> dict[str, str]:
    """The metadata that the text of a scan describes: `Format: parquet, PushedFilters: [...]`.

    Spark writes metadata beside the text for its first kind of scans only. Nothing is taken from a
    text with a key twice: a filter's value may look like a key. A schema that was cut is left out.
    """
    parts = _DESCRIBED.split(text)
    keys, values = parts[1::2], parts[2::2]
    if len(set(keys)) < len(keys):
        return {}
    metadata = dict(zip(keys, values, strict=True))
    if metadata.get("ReadSchema", "").endswith(_CUT):
        del metadata["ReadSchema"]
    return metadata


def scans_of(plan: Mapping[str, Any]) -> tuple[ScanNode, ...]:
    """The scans of files in a plan, each once, also if the plan contains it several times."""
    scans: dict[tuple[str, ...], ScanNode] = {}
    for at, scan in enumerate(_walk(plan, None, cached=False)):
        key = tuple(map(str, sorted(scan.metrics.values()))) or (f"scan {at}",)
        earlier = scans.get(key)
        if earlier is None or (earlier.cached and not scan.cached):
            scans[key] = scan
    return tuple(scans.values())


def _walk(node: Mapping[str, Any], condition: str | None, *, cached: bool) -> Iterator[ScanNode]:
    name = str(node.get("nodeName") or "")
    if name in _REUSED:
        return
    text = str(node.get("simpleString") or "")
    if _is_scan_of_files(name, node):
        yield ScanNode(
            name,
            text,
            {key: str(value) for key, value in (node.get("metadata") or {}).items()}
            or described(text),
            {metric["name"]: metric["accumulatorId"] for metric in node.get("metrics") or ()},
            condition,
            cached,
        )
    if name == "Filter":
        condition = text.removeprefix("Filter ")
    elif not _TRANSPARENT.fullmatch(name):
        condition = None
    for child in node.get("children") or ():
        yield from _walk(child, condition, cached=cached or name in _CACHED)


def _is_scan_of_files(name: str, node: Mapping[str, Any]) -> bool:
    """Whether a node scans data files: not rows in memory, and not the log of a Delta table."""
    if _SCAN.match(name) is None or _NO_TABLE.fullmatch(name):
        return False
    location = str((node.get("metadata") or {}).get("Location") or "")
    return _LOG_OF_DELTA.search(location) is None
