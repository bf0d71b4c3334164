"""Spark's `_metadata` columns: constants of a file that are not written in it."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import quote

import pyarrow as pa

from whyscan.pruning.interval import Interval, between
from whyscan.tree.types import BIGINT, STRING, TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Collection

    from whyscan.tables.storage.store import Store
    from whyscan.tree.nodes import Path

FILE_PATH = ("_metadata", "file_path")
FILE_NAME = ("_metadata", "file_name")
FILE_SIZE = ("_metadata", "file_size")
FILE_MODIFIED = ("_metadata", "file_modification_time")

_MILLISECOND = 1000


def constants(store: Store, objects: pa.Table, wanted: Collection[Path]) -> dict[Path, Interval]:
    """The intervals of the wanted `_metadata` columns, one point per file, with Spark's values."""
    intervals: dict[Path, Interval] = {}
    if FILE_PATH in wanted or FILE_NAME in wanted:
        addresses = [uri(store, path) for path in objects["path"].to_pylist()]
        intervals[FILE_PATH] = _points([text.encode() for text in addresses])
        intervals[FILE_NAME] = _points([text.rsplit("/", 1)[1].encode() for text in addresses])
    if FILE_SIZE in wanted:
        sizes = objects["size"].combine_chunks()
        intervals[FILE_SIZE] = between(BIGINT, sizes, sizes)
    if FILE_MODIFIED in wanted:
        # Spark cuts the time to milliseconds.
        times = objects["modified"].combine_chunks().view(pa.int64()).to_numpy()
        cut = pa.array(times // _MILLISECOND * _MILLISECOND).view(pa.timestamp("us"))
        intervals[FILE_MODIFIED] = between(TIMESTAMP, cut, cut)
    return intervals


def uri(store: Store, path: str) -> str:
    """The address of a file in Spark's spelling: `file:/folder/a%20b`."""
    store, path = store.place(path)
    address = (
        f"{store.folder.rstrip('/')}/{path}" if store.folder is not None else store.shown(path)
    )
    quoted = _quoted_by_java().sub(lambda match: quote(match[0], safe=""), address)
    return f"file:{quoted}" if store.folder is not None else quoted


@cache
def _quoted_by_java() -> re.Pattern[str]:
    """The characters that java.net.URI quotes in a path: ASCII without these, and other blanks.

    The pattern is compiled on first use, because it takes a millisecond of every start.
    """
    return re.compile(
        r"[^A-Za-z0-9/:@&=+$,;\-_.!~*'()\u0080-\U0010ffff]"
        r"|[\u0080-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
    )


def _points(texts: list[bytes]) -> Interval:
    array = pa.array(texts, pa.binary())
    return between(STRING, array, array)
