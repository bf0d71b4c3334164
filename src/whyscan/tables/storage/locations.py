"""What the user named, a folder, a file, a glob or several of them, as one listing.

| named | the table's root |
|---|---|
| a folder | the folder |
| a file, a glob, a list | the deepest folder above all of them that is no `key=value` folder |
"""

from __future__ import annotations

import difflib
import os
import re
from collections import deque
from contextlib import suppress
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.errors import TableError, UsageError
from whyscan.tables.storage import azure_variables
from whyscan.tables.storage.disk import is_folder, is_there
from whyscan.tables.storage.enclosing_tables import (
    Folders,
    read_as_files,
    refuse_inside,
    root_above,
    root_below,
)
from whyscan.tables.storage.schemes import miswritten
from whyscan.tables.storage.store import Store, local_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_FILE = re.compile(r"^file:/+")
_WILD = re.compile(r"[*?\[{]")
_WEB = frozenset({"http", "https"})
_WITH_CONTAINER = frozenset({"abfs", "abfss", "wasb", "wasbs"})
_HOST = re.compile(r"[\w.-]*(?::\d+)?|\[[\da-fA-F:.]+\](?::\d+)?")
_HOST_IN_CONTAINER = re.compile(r"(?:[\w.$-]+@)?[\w.-]*(?::\d+)?")
# A lone `?` is a wildcard.
_QUERY = re.compile(r"\?[\w.-]+=")


_SHOWN = 5
_LOOKED_AT = 200
_DEEPEST = 2


class Location(Struct, frozen=True):
    """One thing that the user named: the store's own name ('' on disk) and a path in it.

    `pattern` is what is left of a glob behind its fixed folders, None where there is none.
    """

    store: str
    path: str
    pattern: str | None = None


class LocatedObjects(Struct, frozen=True):
    """The objects below the root of what was named, and the store rooted there."""

    store: Store
    objects: pa.Table


def find(
    named: Sequence[str], options: Mapping[str, Any], enter: Callable[[str], bool]
) -> LocatedObjects:
    """List what was named. `enter` says which folders are looked into, by their names."""
    if not named:
        raise UsageError("no table was named")
    places = [parse(text) for text in named]
    if len({place.store for place in places}) > 1:
        raise UsageError("the paths lie in different stores", hint="open one table at a time")
    root = _root(places)
    store = _open(places[0].store, root, options)
    folders = Folders(enter)
    listed = [_list(store, place, _below(place.path, root), folders) for place in places]
    found = [_matching(one, place, root) for one, place in zip(listed, places, strict=True)]
    objects = pa.concat_tables(found)
    if len(found) > 1:
        objects = _distinct(objects)
    if not read_as_files(options):
        inside = [p.path.rpartition("/")[0] if _is_file(p) else p.path for p in places]
        table = root_above(store, inside) or root_below(
            store, root, listed, objects, has_log=folders.has_log
        )
        refuse_inside(table, store, places[0].store, named[0])
    return LocatedObjects(store, objects.sort_by("path").combine_chunks())


def folder_of(named: str, options: Mapping[str, Any]) -> Store | None:
    """The store of one folder, None where the name is a glob, a file, or nothing on disk."""
    place = parse(named)
    if place.pattern is not None or _is_file(place):
        return None
    if not place.store and not is_folder(place.path):
        return None
    return _open(place.store, place.path, options)


class MetadataFile(Struct, frozen=True):
    """An Iceberg metadata file that was named, and the folder of its table."""

    table: str
    file: str


def metadata_file(named: str) -> MetadataFile | None:
    """`TABLE/metadata/x.metadata.json` taken apart; None for any other name."""
    if not named.removesuffix(".gz").endswith(".metadata.json"):
        return None
    return taken_apart(named)


def taken_apart(metadata: str) -> MetadataFile:
    """`TABLE/metadata/name`: the table's folder, and the file below it."""
    folder, _, name = metadata.rpartition("/")
    table, _, middle = folder.rpartition("/")
    return MetadataFile(table or ("/" if folder.startswith("/") else "."), f"{middle}/{name}")


def recorded_folder(location: str, options: Mapping[str, Any]) -> Store:
    """The store of a folder by a name that a machine wrote: nothing in it is a wildcard."""
    local = _FILE.sub("/", location)
    place = Location("", local) if local.startswith("/") else parse(location)
    path = place.path if place.pattern is None else f"{place.path}/{place.pattern}".lstrip("/")
    return _open(place.store, path, options)


def parse(text: str) -> Location:
    """Read a path or an address."""
    if not text.strip():
        raise UsageError("an empty path names no table")
    if text.startswith("file:/"):
        # Java writes `file:/lake/t`, and so does whatever Spark says of a place.
        return _local(unquote(text.removeprefix("file:").removeprefix("//")))
    if _SCHEME.match(text) is None:
        _refuse_miswritten(text)
        return _local(str(Path(text).expanduser()))
    scheme, _, rest = text.partition("://")
    host, _, path = rest.partition("/")
    if _names_secrets(scheme.lower(), host, path):
        raise UsageError(
            f"a {scheme.lower()}:// address was named together with credentials",
            hint="use the cloud's own environment variables, a profile or --option",
        )
    return _remote(scheme.lower(), host, path.strip("/"))


def _refuse_miswritten(text: str) -> None:
    """`s3:/bucket/t`, `hdfs:/t`: no file of that name is there, and a store was meant."""
    scheme, colon, rest = text.partition(":")
    problem = miswritten(scheme.lower(), rest) if colon else None
    if problem is not None and not os.path.lexists(text):
        raise problem


def _names_secrets(scheme: str, host: str, path: str) -> bool:
    """A user, a password or a signed query. Azure's `container@account` is neither.

    A password may hold a slash: then what looks like the host is half of it.
    """
    if not (_HOST_IN_CONTAINER if scheme in _WITH_CONTAINER else _HOST).fullmatch(host):
        return True
    return "?" in path if scheme in _WEB else _QUERY.search(path) is not None


def _remote(scheme: str, host: str, path: str) -> Location:
    """On the web a path is written in percent codes; in a store it is as it is."""
    if scheme not in _WEB:
        return _split(f"{scheme}://{host}", path)
    decoded = unquote(path)
    if host.lower().endswith(azure_variables.HOSTS):
        container, _, decoded = decoded.partition("/")
        host = f"{host}/{container}"
    return _split(f"{scheme}://{host}", decoded)


def _local(text: str) -> Location:
    # Not Path.resolve: the table is shown by the name that it was given, links and all.
    path = os.path.abspath(text)  # noqa: PTH100
    return Location("", path) if is_there(path) else _split("", path)


def _split(store: str, path: str) -> Location:
    """Everything up to the first part with a wildcard is fixed."""
    parts = path.split("/")
    for at, part in enumerate(parts):
        if _WILD.search(part):
            return Location(store, "/".join(parts[:at]) or "/" * (not store), "/".join(parts[at:]))
    return Location(store, path)


def _root(places: Sequence[Location]) -> str:
    if len(places) == 1 and places[0].pattern is None and not _is_file(places[0]):
        return places[0].path
    parts = [p.path.split("/")[: -1 if _is_file(p) else None] for p in places]
    common = [part for part, *_ in takewhile(_is_shared, zip(*parts, strict=False))]
    while common and "=" in common[-1]:
        common.pop()
    return "/".join(common) or "/" * (not places[0].store)


def _is_shared(parts: tuple[str, ...]) -> bool:
    return len(set(parts)) == 1


def _is_file(place: Location) -> bool:
    """On disk a look tells; in a store only the name does, as there are no folders."""
    if place.pattern is not None:
        return False
    if place.store:
        return place.path.endswith((".parquet", ".parq", ".pq"))
    return is_there(place.path) and not is_folder(place.path)


def _below(path: str, root: str) -> str:
    return path[len(root) :].strip("/")


def _open(address: str, root: str, options: Mapping[str, Any]) -> Store:
    if not address:
        _require_folder(root)
        return local_store(root)
    from whyscan.tables.storage.connections import connect

    found = connect(address, options)
    return Store(
        uri=f"{address}/{root}".rstrip("/"),
        backend=found.backend,
        prefix=root,
        identity=found.identity,
        at_once=found.at_once,
        cache=found.cache,
    )


def _require_folder(path: str) -> None:
    place = Path(path)
    if is_folder(place):
        return
    siblings: list[str] = []
    with suppress(OSError, ValueError):
        siblings = [p.name for p in place.parent.iterdir()]
    near = difflib.get_close_matches(place.name, siblings, n=1)
    raise TableError(
        f"there is no {path}",
        hint=f"did you mean {place.parent / near[0]}?" if near else None,
    )


def _list(store: Store, place: Location, under: str, enter: Callable[[str], bool]) -> pa.Table:
    if _is_file(place):
        found = store.find(under)
        if not found.num_rows:
            raise TableError(f"there is no {store.shown(under)}")
        return found
    if store.folder is not None:
        _require_folder(place.path)
    return store.list(under, enter)


def _matching(found: pa.Table, place: Location, root: str) -> pa.Table:
    """The objects that a glob names."""
    if place.pattern is None:
        return found
    under = _below(place.path, root)
    matcher = f"^{re.escape(under + '/' if under else '')}{glob_regex(place.pattern)}(/.*)?$"
    try:
        return found.filter(pc.match_substring_regex(found["path"], matcher))
    except pa.ArrowInvalid:
        raise UsageError(f"not a glob: {place.pattern}") from None


def glob_regex(pattern: str) -> str:
    """A glob as a regular expression: `*` and `?` stay in one folder, `**` does not."""
    pieces: Iterable[str] = re.findall(r"\*\*/|\*\*|\[[^\]]+\]|.", pattern, re.DOTALL)
    return "".join(_GLOB.get(piece) or _glob_piece(piece) for piece in pieces)


_GLOB = {
    "**/": "(?:[^/]*/)*",
    "**": ".*",
    "*": "[^/]*",
    "?": "[^/]",
    "{": "(?:",
    ",": "|",
    "}": ")",
}


def _glob_piece(piece: str) -> str:
    if len(piece) > 1:
        return re.sub(r"^\[!", "[^", piece)
    return re.escape(piece)


def refuse_folder_of_tables(named: str, found: LocatedObjects) -> None:
    """A folder that holds Delta or Iceberg tables and no files of its own is no table.

    Read as one, its files would show deleted rows, and rows of one table as another's.
    """
    paths = found.objects["path"]
    parts = pc.replace_substring_regex(paths, "/.*", "").unique().to_pylist()
    own = set(pc.filter(paths, pc.invert(pc.match_substring(paths, "/"))).to_pylist())
    folders = sorted(part for part in parts if part not in own and not part.startswith(("_", ".")))
    if parse(named).pattern is not None or any("=" in name for name in folders):
        return
    if any(name.endswith((".parquet", ".parq", ".pq")) for name in own):
        return
    tables = _tables_among(found, folders)
    if not tables:
        return
    above = tables[0].rpartition("/")[0]
    names = tables if above else folders
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    every = "/".join(part for part in (named.rstrip("/"), above, "*") if part)
    raise TableError(
        f"{found.store.uri} is a folder of tables: {', '.join(names[:_SHOWN])}{more}",
        hint=f"name one of them: {found.store.shown(tables[0])}; "
        f"audit takes all of them: --table '{every}'",
    )


def _tables_among(found: LocatedObjects, folders: Sequence[str]) -> list[str]:
    """Folders that are Delta or Iceberg tables, or hold some; only the first ones are looked at."""
    store = found.store
    if store.folder is None:
        paths = found.objects["path"]
        marked = pc.match_substring_regex(paths, r"/_delta_log/|/metadata/[^/]*\.metadata\.json")
        roots = pc.replace_substring_regex(
            paths.filter(marked), r"/(_delta_log|metadata)/.*", ""
        ).unique()
        return sorted(roots.to_pylist())
    pending, tables = deque(folders), []
    for _ in range(_LOOKED_AT):
        if not pending:
            break
        name = pending.popleft()
        folder = Path(store.folder, name)
        if (folder / "_delta_log").is_dir() or any(folder.glob("metadata/*.metadata.json*")):
            tables.append(name)
        elif name.count("/") < _DEEPEST:
            inner = (one for one in islice(folder.iterdir(), _LOOKED_AT) if one.is_dir())
            pending += (f"{name}/{one.name}" for one in inner if "=" not in one.name)
    return tables


def _distinct(objects: pa.Table) -> pa.Table:
    """Each object once, however often it was named."""
    encoded = objects["path"].combine_chunks().dictionary_encode()
    first = pa.table({"code": encoded.indices, "at": pa.array(range(len(encoded)))})
    return objects.take(first.group_by("code").aggregate([("at", "min")])["at_min"])
