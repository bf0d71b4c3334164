"""Lists folders on disk. Links are followed, but not in circles.

obstore is not used for it: it stops at the first name that is not Unicode, and takes twice as long.
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
"""One row per object: its path below the store's folder, its bytes, its time of writing (UTC)."""


MOST_WAYS = 1000
"""Links may lead to a folder in this many ways; in each way its files are listed again."""


def is_folder(path: str | Path) -> bool:
    """Whether a folder exists; False for a name that no file can have."""
    return os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises for names that are too long


def is_there(path: str | Path) -> bool:
    """Whether a file or folder exists; False for a name that no file can have."""
    return os.path.exists(path)  # noqa: PTH110 - likewise


def require_regular(path: str) -> None:
    """Refuse a pipe or a device: opening one may wait for ever."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - a Path each would take ten times as long
    except (OSError, ValueError):
        return  # Opening the file raises the error with its reason.
    if not stat.S_ISREG(mode):
        raise TableError(f"{path} is not a regular file")


def walk(folder: str, under: str, enter: Callable[[str], bool]) -> pa.Table:
    """List all files below `under` at any depth, without folders whose name `enter` refuses.

    A folder that links lead to in several ways is listed once for each way, as engines do; more
    than MOST_WAYS ways are an error.
    """
    top = str(Path(folder, under))
    paths: list[str] = []
    sizes: list[int] = []
    times: list[int] = []
    ways = Counter[tuple[int, int]]()
    pending = [(top, f"{under}/" if under else "", frozenset[tuple[int, int]]())]
    while pending:
        current, prefix, above = pending.pop()
        try:
            with os.scandir(current) as entries:
                identity = _identity(Path(current).stat())
                ways[identity] += 1
                if ways[identity] > MOST_WAYS:
                    raise TableError(
                        f"links lead to {current} in more than {MOST_WAYS:,} ways",
                        hint="name a folder below the links",
                    )
                around = above | {identity}
                for entry in entries:
                    if entry.is_dir():
                        if enter(entry.name) and not _is_loop(entry, around):
                            pending.append((entry.path, f"{prefix}{entry.name}/", around))
                    elif entry.is_file():
                        facts = entry.stat()
                        paths.append(prefix + entry.name)
                        sizes.append(facts.st_size)
                        times.append(facts.st_mtime_ns // 1000)
        except OSError as error:
            raise refused(current, error) from None
    return _listing(folder, paths, sizes, times)


def _identity(facts: os.stat_result) -> tuple[int, int]:
    return facts.st_dev, facts.st_ino


def _is_loop(entry: os.DirEntry[str], above: frozenset[tuple[int, int]]) -> bool:
    """Whether an entry is a link to one of the folders around it."""
    return entry.is_symlink() and _identity(entry.stat()) in above


def entry(folder: str, path: str) -> pa.Table:
    """The file with exactly this path, as a listing of one row or no row."""
    file = Path(folder, path)
    try:
        facts = file.stat()
    # A ValueError: a name with a NUL in it, which no file has.
    except (FileNotFoundError, ValueError):
        return LISTING.empty_table()
    except OSError as error:
        raise refused(str(file), error) from None
    # Opening a pipe would wait for ever.
    if not stat.S_ISREG(facts.st_mode):
        raise TableError(f"{file} is not a regular file")
    return _listing(folder, [path], [facts.st_size], [facts.st_mtime_ns // 1000])


def sizes(folder: str, paths: Sequence[str]) -> list[int | None]:
    """The size of each regular file in bytes, None where there is no such file.

    A folder that does not exist is checked once, not for each of its files.
    """
    parents = [path.rpartition("/")[0] for path in paths]
    existing = {parent for parent in set(parents) if is_there(Path(folder, parent))}
    return [
        # A Path each would take ten times as long.
        _size(os.path.join(folder, path)) if parent in existing else None  # noqa: PTH118
        for path, parent in zip(paths, parents, strict=True)
    ]


def _size(path: str) -> int | None:
    try:
        facts = os.stat(path)  # noqa: PTH116 - likewise
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
