"""What other readers keep of a Hive table for a predicate: files and row groups, as they say."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import datafusion
import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PARTITION_COLUMNS = [("p", pa.int64()), ("q", pa.string())]


@dataclass(frozen=True, slots=True)
class Kept:
    """How much a reader keeps; None where it does not say."""

    files: int | None
    row_groups: int | None


class DuckDB:
    """`EXPLAIN ANALYZE`: the files after partition pruning, the row groups it went into."""

    def __init__(self, root: Path) -> None:
        self._source = f"read_parquet('{root}/**/*.parquet', hive_partitioning=true)"
        self._connection = duckdb.connect(config={"threads": 1})

    def kept(self, sql: str) -> Kept:
        query = f"EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM {self._source} WHERE {sql}"
        answer = self._connection.sql(query).fetchall()
        plan = json.loads(answer[0][1])
        for node in _nodes(plan["operator"]):
            if "row_groups_scanned" in node:
                files = node["extra_info"].get("Scanning Files")
                read = None if files is None else int(files.split("/")[0])
                return Kept(read, node["row_groups_scanned"])
        return Kept(0, 0)  # an EMPTY_RESULT stands where the scan would be


def _nodes(operators: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for node in operators:
        yield node
        yield from _nodes(node.get("children", []))


class PyArrow:
    """Dataset fragments, then their row groups."""

    def __init__(self, root: Path) -> None:
        self._dataset = ds.dataset(root, partitioning="hive")

    def kept(self, expression: pc.Expression) -> Kept:
        groups = [
            part
            for fragment in self._dataset.get_fragments(expression)
            for part in fragment.split_by_row_group(expression, schema=self._dataset.schema)
        ]
        return Kept(len({part.path for part in groups}), len(groups))


class DataFusion:
    """The scan's own metrics: *matched* means kept."""

    def __init__(self, root: Path) -> None:
        self._context = datafusion.SessionContext()
        self._context.register_parquet("t", str(root), table_partition_cols=PARTITION_COLUMNS)

    def kept(self, sql: str) -> Kept:
        frame = self._context.sql(f"EXPLAIN ANALYZE SELECT * FROM t WHERE {sql}")
        text = "\n".join(str(v) for batch in frame.collect() for v in batch.column(1).to_pylist())
        if "DataSourceExec" not in text:
            return Kept(0, 0)
        return Kept(
            _matched(text, "files_ranges_pruned_statistics"),
            _matched(text, "row_groups_pruned_statistics"),
        )


def _matched(text: str, metric: str) -> int | None:
    match = re.search(rf"{metric}=\d+ total → (\d+) matched", text)
    return None if match is None else int(match[1])
