"""Folders of this machine, listed with names as they are and links followed, but not in circles.

Not by obstore: it stops at the first name that is not plain Unicode, and takes twice as long.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from whyscan.errors import TableError
from whyscan.tables.storage.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LISTING = pa.schema([("path", pa.string()), ("size", pa.int64()), ("modified", pa.timestamp("us"))])
"""A row an object: its path below the store's folder, its bytes, when it was written (UTC)."""


MOST_WAYS = 1000
"""Links may lead to a folder in so many ways: each is another place of its files in the table."""


def is_folder(path: str | Path) -> bool:
    """Whether there is a folder; a name that no file can have names none."""
    return os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises for names that are too long


def is_there(path: str | Path) -> bool:
    """Whether there is anything of that name; a name that no file can have names nothing."""
    return os.path.exists(path)  # noqa: PTH110 - likewise


def require_regular(place: str) -> None:
    """Refuse a pipe or a device: opening one may wait for ever."""
    try:
        mode = os.stat(place).st_mode  # noqa: PTH116 - a Path each would take ten times as long
    except (OSError, ValueError):
        return  # Whoever opens it says why it cannot.
    if not stat.S_ISREG(mode):
        raise TableError(f"{place} is not a regular file")


def walk(folder: str, under: str, enter: Callable[[str], bool]) -> pa.Table:
    """Every file at any depth below `under`; folders whose name `enter` refuses stay shut.

    A folder that links lead to in several ways is listed in each of them, as engines do; links
    that lead there in very many ways are refused.
    """
    top = str(Path(folder, under))
    paths: list[str] = []
    sizes: list[int] = []
    times: list[int] = []
    ways = Counter[tuple[int, int]]()
    pending = [(top, f"{under}/" if under else "", frozenset[tuple[int, int]]())]
    while pending:
        place, prefix, above = pending.pop()
        try:
            with os.scandir(place) as entries:
                itself = _identity(Path(place).stat())
                ways[itself] += 1
                if ways[itself] > MOST_WAYS:
                    raise TableError(
                        f"links lead to {place} in more than {MOST_WAYS:,} ways",
                        hint="name a folder below the links",
                    )
                seen = above | {itself}
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
    there = {parent for parent in set(parents) if is_there(Path(folder, parent))}
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
