"""Reads partition columns from `key=value` folders by Spark's rules.

The paths of all files are reduced to their distinct folders, and each file has the position of its
folder. No file is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.errors import TableError
from whyscan.tables.parquet.values import unescape

if TYPE_CHECKING:
    from collections.abc import Sequence

# A part that begins with a dot, or with an underscore unless it is a key=value, and Hadoop's
# mark of an unfinished copy.
_HIDDEN = r"(^|/)(\.|_[^/=]*(/|$))|\._COPYING_(/|$)"
_SHOWN_AT_MOST = 3


class PartitionKeys(Struct, frozen=True):
    """The partition columns of a table, and the folder of each file.

    `texts[i]` are the raw values of the column `names[i]`, one per folder. `folder` is the
    position of each file's folder. It is null for files beside the partition folders: Spark does
    not read those.
    """

    names: tuple[str, ...]
    folders: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    folder: pa.Array


class _Folder(Struct, frozen=True):
    """One folder split by Spark's rules: `base` is the path before its first key=value part."""

    path: str
    base: str
    pairs: tuple[tuple[str, str], ...]


def visible(paths: pa.Array) -> pa.BooleanArray:
    """Which files are data, by their names: one boolean per file."""
    return pc.invert(pc.match_substring_regex(paths, _HIDDEN))


def is_visible_folder(name: str) -> bool:
    """Whether a folder of this name may contain data."""
    return not name.startswith(".") and ("=" in name or not name.startswith("_"))


def read_keys(paths: pa.Array) -> PartitionKeys:
    """The partition columns of files, whose paths are relative to the root."""
    encoded = pc.replace_substring_regex(paths, r"/?[^/]*$", "").dictionary_encode()
    folders = [_split(path) for path in encoded.dictionary.to_pylist()]
    order = sorted(range(len(folders)), key=lambda at: folders[at].path)
    keyed = [at for at in order if folders[at].pairs]
    if not keyed:
        return PartitionKeys((), ("",), (), pa.repeat(pa.scalar(0, pa.int32()), len(paths)))
    _require_one_base([folders[at] for at in order])
    ordered = [folders[at] for at in keyed]
    names = _require_one_list_of_names(ordered)
    position = pa.array(_positions(keyed, len(folders)), pa.int32())
    columns = tuple(zip(*([value for _, value in f.pairs] for f in ordered), strict=True))
    return PartitionKeys(
        names, tuple(f.path for f in ordered), columns, position.take(encoded.indices)
    )


def _positions(keyed: Sequence[int], count: int) -> list[int | None]:
    positions: list[int | None] = [None] * count
    for position, at in enumerate(keyed):
        positions[at] = position
    return positions


def _split(path: str) -> _Folder:
    """Collect `key=value` parts from the innermost outwards, up to the first other part."""
    parts = path.split("/") if path else []
    pairs: list[tuple[str, str]] = []
    while parts:
        if "=" in parts[-1]:
            pairs.append(_pair(parts[-1], path))
        elif pairs:
            break
        parts.pop()
    base = "/".join(parts) if pairs else path
    return _Folder(path, base, tuple(reversed(pairs)))


def _pair(part: str, path: str) -> tuple[str, str]:
    key, _, value = part.partition("=")
    if not key or not value:
        missing = "value" if key else "name"
        raise TableError(
            f"the folder {path!r} has a partition column without a {missing}",
            hint="NULL is written as __HIVE_DEFAULT_PARTITION__",
        )
    return unescape(key), value


def _require_one_base(folders: Sequence[_Folder]) -> None:
    """Refuse partition folders below different bases, and data files in other folders."""
    bases = list(dict.fromkeys(folder.base.lower() for folder in folders))
    if len(bases) > 1:
        raise TableError(
            f"partition folders begin at different places: {_first_few(bases)}",
            hint="name each of them as a table of its own, or the files by a glob; "
            "audit takes a glob of tables: --table 'lake/*'",
        )


def _require_one_list_of_names(folders: Sequence[_Folder]) -> tuple[str, ...]:
    lists: dict[tuple[str, ...], _Folder] = {}
    for folder in folders:
        lists.setdefault(tuple(name.lower() for name, _ in folder.pairs), folder)
    if len(lists) > 1:
        shown = _first_few([folder.path for folder in lists.values()])
        raise TableError(
            f"folders disagree on the partition columns: {shown}",
            hint="data lies only in the innermost folders, all with the same keys in one order",
        )
    (lowered,) = lists
    if len(set(lowered)) < len(lowered):
        raise TableError(f"the folder {folders[0].path!r} names a partition column twice")
    return tuple(name for name, _ in folders[0].pairs)


def _first_few(texts: Sequence[str]) -> str:
    shown = ", ".join(repr(text) for text in texts[:_SHOWN_AT_MOST])
    return (
        shown if len(texts) <= _SHOWN_AT_MOST else f"{shown} and {len(texts) - _SHOWN_AT_MOST} more"
    )
