"""A clustered table of 1,000 files, as Delta and as Iceberg over the same Parquet files.

The Delta table is the folder `data` of the Iceberg table.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import delta_tables
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pathlib import Path

FILES, ROWS = 1_000, 10_000
"""Files of the table, and rows of a file."""
WANTED = FILES * ROWS // 100
FIRST = 4_321_000
FIELDS = {"id": "long", "user_id": "long", "amount": "double", "note": "string"}


@dataclass(frozen=True, slots=True)
class Clustered:
    """Where the Delta table is, Iceberg's metadata file, and all files of data."""

    delta: str
    iceberg: str
    files: tuple[str, ...]


def clustered(folder: Path, location: str | None = None) -> Clustered:
    """The table below a folder, made on first use; `location` is where it is going to be."""
    place = location or folder.as_uri()
    data = folder / "data"
    if not (data / "_delta_log" / delta_tables.HINT).exists():
        data.mkdir(parents=True, exist_ok=True)
        _write_data(data)
        _write_iceberg(folder, place)
        _write_delta(data)
    metadata = max((folder / "metadata").glob("*.metadata.json")).name
    files = tuple(str(data / _name(number)) for number in range(FILES))
    return Clustered(f"{place}/data", f"{place}/metadata/{metadata}", files)


def _name(number: int) -> str:
    return f"part-{number:05}.parquet"


def _write_data(folder: Path) -> None:
    random = np.random.default_rng(11)
    for number in range(FILES):
        table = pa.table(
            {
                "id": np.arange(number * ROWS, (number + 1) * ROWS),
                "user_id": random.integers(0, 1_000_000, ROWS),
                "amount": random.random(ROWS),
                "note": pa.array(random.integers(0, 10_000, ROWS)).cast(pa.string()),
            }
        )
        pq.write_table(table, folder / _name(number))


def _write_delta(folder: Path) -> None:
    """A checkpoint with the bounds of `id`."""
    stats = [
        json.dumps(
            {
                "numRecords": ROWS,
                "minValues": {"id": number * ROWS},
                "maxValues": {"id": (number + 1) * ROWS - 1},
                "nullCount": dict.fromkeys(FIELDS, 0),
            }
        )
        for number in range(FILES)
    ]
    names = [_name(number) for number in range(FILES)]
    sizes = np.array([(folder / name).stat().st_size for name in names])
    added = delta_tables.adds(names, [[]] * FILES, sizes, stats)
    delta_tables.write(folder / "_delta_log", FIELDS, [], added)


def _write_iceberg(folder: Path, place: str) -> None:
    """A table of the same files, which are added by their names."""
    from pyiceberg.catalog.memory import InMemoryCatalog

    catalog = InMemoryCatalog("bench", warehouse=folder.as_uri())
    catalog.create_namespace("bench")
    schema = pq.read_schema(folder / "data" / _name(0))
    made = catalog.create_table("bench.t", schema, location=folder.as_uri())
    made.add_files([f"{folder.as_uri()}/data/{_name(number)}" for number in range(FILES)])
    if place != folder.as_uri():
        _move(folder, place)


def _move(folder: Path, place: str) -> None:
    """Write another place of the table into its metadata."""
    import fastavro

    old = folder.as_uri()
    for file in (folder / "metadata").iterdir():
        if file.suffix == ".json":
            file.write_text(file.read_text().replace(old, place))
            continue
        with file.open("rb") as source:
            reader = fastavro.reader(source)
            schema, metadata = reader.writer_schema, dict(reader.metadata)
            entries = [_moved(entry, old, place) for entry in reader]
        own = {k: v for k, v in metadata.items() if not k.startswith("avro.")}
        with file.open("wb") as target:
            fastavro.writer(target, schema, entries, codec="deflate", metadata=own)


def _moved(value: Any, old: str, place: str) -> Any:
    match value:
        case str():
            return value.replace(old, place)
        case dict():
            return {key: _moved(inner, old, place) for key, inner in value.items()}
        case list():
            return [_moved(inner, old, place) for inner in value]
        case _:
            return value
