"""Finds the table with metadata that files belong to: plain files would show deleted rows.

A folder is the root of a table if it holds one of these:

| in the folder | the table |
|---|---|
| `_delta_log/` | Delta |
| `.hoodie/` | Hudi |
| `metadata/*.metadata.json` or `metadata/version-hint.text` | Iceberg |

All folders above a location are checked, up to the root of its store or disk, at the same time.
Tables below a location are found in its listing. If a store does not allow to list a folder, the
files are opened.
"""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import AccessDenied, StorageError, TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    import pyarrow as pa

    from whyscan.tables.storage.store import Store

OPTION = "as_files"
"""The option that opens files of a table as plain files."""

_YES = frozenset({"on", "true", "yes", "1"})
_LOGS = {"_delta_log": "Delta", ".hoodie": "Hudi"}
_METADATA = "metadata"
_ICEBERG = "Iceberg"
_METADATA_FILE = re.compile(r"[^/]+\.metadata\.json(?:\.gz)?|version-hint\.text")
_MARK = rf"(?:^|/)(?:_delta_log/|\.hoodie/|{_METADATA}/(?:{_METADATA_FILE.pattern})$)"
_LISTED_AT_MOST = 10_000
_LOOKED_INTO_AT_MOST = 64
_AT_ONCE = 32


def read_as_files(options: Mapping[str, Any]) -> bool:
    """Whether the options ask to read files as plain files."""
    return any(key.lower() == OPTION and str(options[key]).lower() in _YES for key in options)


class FolderFilter(Struct):
    """Says which folders a listing enters, and notes whether it met the log of a table."""

    enter: Callable[[str], bool]
    has_log: bool = False

    def __call__(self, name: str) -> bool:
        self.has_log = self.has_log or name in _LOGS
        return self.enter(name)


class TableRoot(Struct, frozen=True):
    """The path of a table from the root of its store or disk, and the table's format."""

    path: str
    format: str


def refuse_inside(table: TableRoot | None, store: Store, address: str, named: str) -> None:
    """Raise an error if the files belong to `table`."""
    if table is None:
        return
    shown = f"{address}/{table.path}".rstrip("/") if store.folder is None else table.path or "/"
    raise TableError(
        f"{named} holds files of the {table.format} table {shown}",
        hint=f"open {shown}: its files alone may show deleted rows;"
        " --as-files, in Python as_files=True, reads them as plain files",
    )


def root_above(store: Store, folders: Iterable[str]) -> TableRoot | None:
    """The innermost table around any of these folders, which are paths from the store's root."""
    if store.folder is not None:
        real = {os.path.realpath(folder) for folder in folders}
        return _first(_on_disk, _upwards({*folders, *real}))
    top = replace(store, prefix="")
    wanted = _upwards({folder.strip("/") for folder in folders})
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = pool.map(lambda folder: _in_store(top, folder), wanted)
        return next((root for root in answers if root is not None), None)


def root_below(
    store: Store, base: str, listed: Sequence[pa.Table], objects: pa.Table, *, has_log: bool
) -> TableRoot | None:
    """The table below `base` that some of the objects belong to, None for no such table.

    `listed` are the listings before a glob chose the objects. On a disk the logs of tables are
    not listed; if the listing met one (`has_log`), the folders of the objects are checked.
    """
    if has_log and store.folder is not None:
        inside = (f"{base}/{path}".rpartition("/")[0] for path in objects["path"].to_pylist())
        return _first(_on_disk, [f for f in _upwards(inside) if len(f) >= len(base)])
    marks = {
        path
        for table in listed
        for path in table.filter(pc.match_substring_regex(table["path"], _MARK))["path"].to_pylist()
    }
    roots = {table_root for path in marks if (table_root := _root_of(path)) is not None}
    for root in sorted(roots, key=lambda root: len(root.path), reverse=True):
        below = pc.starts_with(objects["path"], pattern=f"{root.path}/" if root.path else "")
        if pc.any(below).as_py():
            return TableRoot(
                "/".join(part for part in (base.rstrip("/"), root.path) if part), root.format
            )
    return None


def _root_of(mark: str) -> TableRoot | None:
    """The root of the table whose log or metadata has this path."""
    parts = mark.split("/")
    for at, part in enumerate(parts):
        if part in _LOGS:
            return TableRoot("/".join(parts[:at]), _LOGS[part])
    return TableRoot("/".join(parts[:-2]), _ICEBERG)


def _upwards(folders: Iterable[str]) -> list[str]:
    """These folders and all folders above them, the innermost first.

    If they are very many, `key=value` folders are left out: no table begins there.
    """
    upwards: set[str] = set()
    for folder in folders:
        above = folder
        while above not in upwards:
            upwards.add(above)
            above = above.rpartition("/")[0]
    if len(upwards) > _LOOKED_INTO_AT_MOST:
        upwards = {folder for folder in upwards if "=" not in folder.rpartition("/")[2]}
    return sorted(upwards, key=lambda folder: (-folder.count("/"), -len(folder), folder))


def _first(look: Callable[[str], TableRoot | None], folders: Iterable[str]) -> TableRoot | None:
    return next((root for folder in folders if (root := look(folder)) is not None), None)


def _on_disk(folder: str) -> TableRoot | None:
    path = Path(folder or "/")
    for name, kind in _LOGS.items():
        # Not Path.is_dir: it raises an error without permission.
        if os.path.isdir(path / name):  # noqa: PTH112
            return TableRoot(folder, kind)
    try:
        entries = os.scandir(path / _METADATA)
    except OSError:
        return None
    with entries:
        if any(_METADATA_FILE.fullmatch(entry.name) for entry in entries):
            return TableRoot(folder, _ICEBERG)
    return None


def _in_store(top: Store, folder: str) -> TableRoot | None:
    """The table in one folder of an object store; all requests run at the same time."""

    def below(name: str) -> str:
        return f"{folder}/{name}" if folder else name

    with ThreadPoolExecutor(len(_LOGS) + 1) as pool:
        logs = {kind: pool.submit(_holds, top, below(name)) for name, kind in _LOGS.items()}
        metadata = pool.submit(_holds_metadata, top, below(_METADATA))
        for kind, answer in logs.items():
            if answer.result():
                return TableRoot(folder, kind)
        return TableRoot(folder, _ICEBERG) if metadata.result() else None


def _holds(top: Store, folder: str) -> bool:
    """Whether a folder has any content; a refusal counts as no."""
    with _no_answer(top):
        return top.holds(folder)
    return False


def _holds_metadata(top: Store, folder: str) -> bool:
    """Whether a folder has an Iceberg metadata file among its first names."""
    with _no_answer(top):
        names = top.names(folder, _LISTED_AT_MOST)
        return any(_METADATA_FILE.fullmatch(name) for name in names)
    return False


def _no_answer(top: Store) -> suppress:
    """Suppresses refusals to list a folder: denied access, and every error of a web server.

    Few web servers list folders. Other errors of a store are raised: without an answer the files
    might show deleted rows.
    """
    return suppress(StorageError if top.uri.startswith("http") else AccessDenied)
