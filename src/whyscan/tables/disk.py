"""Folders of this machine, listed with names as they are and links followed, but not in circles.

Not by obstore: it stops at the first name that is not plain Unicode, and takes twice as long.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from whyscan.errors import TableError
from whyscan.tables.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LISTING = pa.schema([("path", pa.string()), ("size", pa.int64()), ("modified", pa.timestamp("us"))])
"""A row an object: its path below the store's folder, its bytes, when it was written (UTC)."""


def walk(folder: str, under: str, enter: Callable[[str], bool]) -> pa.Table:
    """Every file at any depth below `under`; folders whose name `enter` refuses stay shut."""
    top = str(Path(folder, under))
    paths: list[str] = []
    sizes: list[int] = []
    times: list[int] = []
    pending = [(top, f"{under}/" if under else "", frozenset[tuple[int, int]]())]
    while pending:
        place, prefix, above = pending.pop()
        try:
            with os.scandir(place) as entries:
                seen = above | {_identity(Path(place).stat())}
                for entry in entries:
                    if entry.is_dir():
                        if enter(entry.name) and not _is_loop(entry, seen):
                            pending.append((entry.path, f"{prefix}{entry.name}/", seen))
                    elif entry.is_file():
                        facts = entry.stat()
                        paths.append(prefix + entry.name)
                        sizes.append(facts.st_size)
                        times.append(facts.st_mtime_ns // 1000)
        except OSError as error:
            raise refused(place, error) from None
    return _listing(folder, paths, sizes, times)


def _identity(facts: os.stat_result) -> tuple[int, int]:
    return facts.st_dev, facts.st_ino


def _is_loop(entry: os.DirEntry[str], above: frozenset[tuple[int, int]]) -> bool:
    """A link to one of the folders that it lies in."""
    return entry.is_symlink() and _identity(entry.stat()) in above


def entry(folder: str, path: str) -> pa.Table:
    """The file of exactly that path as a listing of one, or of none."""
    place = Path(folder, path)
    try:
        facts = place.stat()
    # A ValueError: a name with a NUL in it, which no file has.
    except (FileNotFoundError, ValueError):
        return LISTING.empty_table()
    except OSError as error:
        raise refused(str(place), error) from None
    # Opening a pipe would wait for ever.
    if not stat.S_ISREG(facts.st_mode):
        raise TableError(f"{place} is not a regular file")
    return _listing(folder, [path], [facts.st_size], [facts.st_mtime_ns // 1000])


def sizes(folder: str, paths: Sequence[str]) -> list[int | None]:
    """The bytes of regular files, None where there is none.

    In a folder that is not there nothing is looked for.
    """
    parents = [path.rpartition("/")[0] for path in paths]
    there = {parent for parent in set(parents) if Path(folder, parent).exists()}
    return [
        # A Path each would take ten times as long.
        _size(os.path.join(folder, path)) if parent in there else None  # noqa: PTH118
        for path, parent in zip(paths, parents, strict=True)
    ]


def _size(place: str) -> int | None:
    try:
        facts = os.stat(place)  # noqa: PTH116 - likewise
    except (OSError, ValueError):
        return None
    return facts.st_size if stat.S_ISREG(facts.st_mode) else None


def _listing(folder: str, paths: list[str], sizes: list[int], times: list[int]) -> pa.Table:
    try:
        names = pa.array(paths, pa.string())
    except UnicodeEncodeError as error:
        name = ascii(error.object)
        raise TableError(
            f"{folder} holds a name that is not Unicode: {name}", hint="rename the file"
        ) from None
    moments = pa.array(times, pa.int64()).view(pa.timestamp("us"))
    return pa.table([names, pa.array(sizes, pa.int64()), moments], schema=LISTING)
