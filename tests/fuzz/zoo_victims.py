"""Tables of real engines, if the folder with them is beside the project."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

from fuzz.damage import Kind
from fuzz.victims import Target, Victim

ZOO = Path(__file__).parents[3] / "shared" / "zoo"
LARGEST = 100_000
KINDS = {".json": Kind.LINES, ".parquet": Kind.PARQUET, ".avro": Kind.BINARY}


def _tables() -> list[Path]:
    logs, metadata = ZOO.rglob("_delta_log"), ZOO.rglob("*.metadata.json")
    return sorted({*(log.parent for log in logs), *(file.parent.parent for file in metadata)})


def _copy(source: Path, folder: Path) -> None:
    shutil.copytree(source, folder, dirs_exist_ok=True)


def _kind(path: Path) -> Kind | None:
    return Kind.DOCUMENT if path.name.endswith(".metadata.json") else KINDS.get(path.suffix)


def _targets(folder: Path) -> tuple[Target, ...]:
    """Metadata first. Which of it a plan needs is not known: only the outcome is judged."""
    targets = [
        (path.relative_to(folder), kind)
        for path in folder.rglob("*")
        if path.is_file() and 0 < path.stat().st_size < LARGEST
        if (kind := _kind(path)) is not None
    ]
    targets.sort(key=lambda pair: (pair[0].parts[0] not in ("_delta_log", "metadata"), pair[0]))
    return tuple(Target(str(path), kind) for path, kind in targets[:8])


VICTIMS = tuple(
    Victim(f"zoo:{table.relative_to(ZOO)}", partial(_copy, table), None, targets)
    for table in _tables()
    if (targets := _targets(table))
)
