"""Delta tables of the tests' own making: logs written action by action, with or without data."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from whyscan.table import Table
from whyscan.tables.delta.snapshot import open_delta
from whyscan.tables.storage.store import local_store

if TYPE_CHECKING:
    from pathlib import Path

PROTOCOL = {"minReaderVersion": 1, "minWriterVersion": 2}


def schema_string(columns: dict[str, Any], about: dict[str, dict[str, Any]]) -> str:
    fields = [
        {"name": name, "type": kind, "nullable": True, "metadata": about.get(name, {})}
        for name, kind in columns.items()
    ]
    return json.dumps({"type": "struct", "fields": fields})


@dataclass
class Lake:
    """A Delta table in a folder, written by hand: each commit is a list of actions."""

    folder: Path
    version: int = -1
    paths: list[str] = field(default_factory=list)

    @property
    def log(self) -> Path:
        return self.folder / "_delta_log"

    def commit(self, *actions: dict[str, Any]) -> int:
        """Write the next version."""
        self.version += 1
        self.log.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(action) + "\n" for action in actions)
        (self.log / f"{self.version:020}.json").write_text(text)
        return self.version

    def create(
        self,
        columns: dict[str, Any],
        partitioned_by: tuple[str, ...] = (),
        *,
        about: dict[str, dict[str, Any]] | None = None,
        properties: dict[str, str] | None = None,
        protocol: dict[str, Any] | None = None,
    ) -> Lake:
        """Write version 0: protocol and schema. `about` is the metadata of fields by name."""
        self.commit(
            {"protocol": protocol or PROTOCOL},
            {
                "metaData": {
                    "id": "t",
                    "format": {"provider": "parquet", "options": {}},
                    "schemaString": schema_string(columns, about or {}),
                    "partitionColumns": list(partitioned_by),
                    "configuration": properties or {},
                }
            },
        )
        return self

    def add(self, path: str, stats: Any = None, **values: Any) -> dict[str, Any]:
        """An add action. `stats` is text, or an object to be written as text."""
        action: dict[str, Any] = {
            "path": path,
            "size": 1000,
            "modificationTime": 1_700_000_000_000,
            "dataChange": True,
            "partitionValues": values.pop("partition", {}),
        }
        if stats is not None:
            action["stats"] = stats if isinstance(stats, str) else json.dumps(stats)
        return {"add": action | values}

    def remove(self, path: str, **values: Any) -> dict[str, Any]:
        return {"remove": {"path": path, "dataChange": True} | values}

    def checkpoint(self, rows: list[dict[str, Any]], schema: pa.Schema, name: str = "") -> None:
        """Write a Parquet checkpoint of the newest version from rows of actions."""
        import pyarrow.parquet as pq

        file = self.log / (name or f"{self.version:020}.checkpoint.parquet")
        file.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows, schema), file)

    def open(self, version: int | None = None, timestamp: int | None = None) -> Any:
        return open_delta(local_store(str(self.folder)), version, timestamp)

    def table(self) -> Table:
        return Table(self.open())

    def kept(self, predicate: str, **question: Any) -> list[str]:
        """The files that a predicate keeps, by what the log alone says."""
        return self.verdicts(predicate, **question)[0]

    def every(self, predicate: str, **question: Any) -> list[str]:
        """The files all of whose rows match."""
        return self.verdicts(predicate, **question)[1]

    def verdicts(self, predicate: str, **question: Any) -> tuple[list[str], list[str]]:
        plan = self.table().plan(predicate, depth="files", **question)
        paths, judgement = plan.evidence.files.paths.to_pylist(), plan.evidence.judgement
        return (
            [p for p, kept in zip(paths, judgement.kept, strict=True) if kept],
            [p for p, every in zip(paths, judgement.every, strict=True) if every],
        )

    def live(self, version: int | None = None) -> list[str]:
        return sorted(self.open(version).files([]).paths.to_pylist())


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """An empty folder to write a table into."""
    return Lake(tmp_path / "table")


def bounds(column: str, lower: Any, upper: Any, nulls: int = 0, rows: int = 10) -> dict[str, Any]:
    """Statistics of one column as a writer records them."""
    return {
        "numRecords": rows,
        "minValues": {column: lower},
        "maxValues": {column: upper},
        "nullCount": {column: nulls},
    }


@pytest.fixture(name="bounds")
def _bounds() -> Any:
    return bounds
