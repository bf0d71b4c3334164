"""Reads the locations that a user names (folders, files, globs) and lists them as one table.

| location | the table's root |
|---|---|
| a folder | the folder |
| a file, a glob, a list | the deepest common folder that is no `key=value` folder |
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
    FolderFilter,
    read_as_files,
    refuse_inside,
    root_above,
    root_below,
)
from whyscan.tables.storage.schemes import miswritten, require_supported
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


KINDS_OF_TABLE = (
    "a table is a folder, a metadata.json, a Parquet file, a quoted glob or catalog.namespace.table"
)
_SHOWN = 5
_LOOKED_AT = 200
_DEEPEST = 2


class Location(Struct, frozen=True):
    """One location of a user: the address of the store ('' on disk) and a path in the store.

    `pattern` is the rest of a glob after its fixed folders, None if it is no glob.
    """

    store: str
    path: str
    pattern: str | None = None


class LocatedObjects(Struct, frozen=True):
    """The objects of one table, and the store of the table's root folder."""

    store: Store
    objects: pa.Table


def find(
    named: Sequence[str], options: Mapping[str, Any], enter: Callable[[str], bool]
) -> LocatedObjects:
    """List the objects of the named locations. `enter` says by name which folders are entered."""
    if not named:
        raise UsageError("no table was named")
    locations = [parse(text) for text in named]
    if len({location.store for location in locations}) > 1:
        raise UsageError("the paths lie in different stores", hint="open one table at a time")
    root = _root(locations)
    store = _open(locations[0].store, root, options)
    folders = FolderFilter(enter)
    listed = [
        _list(store, location, _below(location.path, root), folders) for location in locations
    ]
    matching = [
        _matching(listing, location, root)
        for listing, location in zip(listed, locations, strict=True)
    ]
    objects = pa.concat_tables(matching)
    if not objects.num_rows and any(location.pattern is not None for location in locations):
        raise TableError(
            f"no file matches {' '.join(named)}",
            hint="* matches a part of one name, ** matches folders of any depth",
        )
    if len(matching) > 1:
        objects = _distinct(objects)
    located = LocatedObjects(store, objects.sort_by("path").combine_chunks())
    if not read_as_files(options):
        address = locations[0].store
        inside = [p.path.rpartition("/")[0] if _is_file(p) else p.path for p in locations]
        refuse_inside(root_above(store, inside), store, address, named[0])
        if len(named) == 1:
            _refuse_folder_of_tables(named[0], located)
        below = root_below(store, root, listed, objects, has_log=folders.has_log)
        refuse_inside(below, store, address, named[0])
    return located


def folder_of(named: str, options: Mapping[str, Any]) -> Store | None:
    """The store of one folder; None for a glob, a file, or a path that is not on disk."""
    location = parse(named)
    if location.pattern is not None or _is_file(location):
        return None
    if not location.store and not is_folder(location.path):
        return None
    return _open(location.store, location.path, options)


class MetadataFile(Struct, frozen=True):
    """The folder of an Iceberg table, and the path of a metadata file below it."""

    table: str
    file: str


def metadata_file(named: str) -> MetadataFile | None:
    """Split `TABLE/metadata/x.metadata.json` into folder and file; None for any other name."""
    if not named.removesuffix(".gz").endswith(".metadata.json"):
        return None
    return split_metadata_path(named)


def split_metadata_path(metadata: str) -> MetadataFile:
    """Split `TABLE/metadata/name` into the table's folder and the file below it."""
    folder, _, name = metadata.rpartition("/")
    table, _, middle = folder.rpartition("/")
    return MetadataFile(table or ("/" if folder.startswith("/") else "."), f"{middle}/{name}")


def recorded_folder(location: str, options: Mapping[str, Any]) -> Store:
    """The store of a folder from a recorded address, in which nothing is a wildcard."""
    recorded = recorded_location(location)
    return _open(recorded.store, recorded.path, options)


def recorded_location(location: str) -> Location:
    """Parse a recorded address, in which nothing is a wildcard or a percent code."""
    local = _FILE.sub("/", location)
    parsed = Location("", local) if local.startswith("/") else parse(location)
    path = parsed.path if parsed.pattern is None else f"{parsed.path}/{parsed.pattern}".lstrip("/")
    return Location(parsed.store, path)


def parse(text: str) -> Location:
    """Parse a path or an address."""
    if not text.strip():
        raise UsageError("an empty path names no table", hint=KINDS_OF_TABLE)
    if text.startswith("file:/"):
        # Java and Spark write `file:/lake/t`.
        return _local(unquote(text.removeprefix("file:").removeprefix("//")))
    if _SCHEME.match(text) is None:
        _refuse_miswritten(text)
        return _local(str(Path(text).expanduser()))
    scheme, _, rest = text.partition("://")
    host, _, path = rest.partition("/")
    if not host:
        require_supported(scheme)
        raise UsageError(f"{text} names no bucket or host", hint=f"write {scheme}://NAME/PATH")
    if _names_secrets(scheme.lower(), host, path):
        raise UsageError(
            f"a {scheme.lower()}:// address was named together with credentials",
            hint="use the cloud's own environment variables, a profile or --option",
        )
    return _remote(scheme.lower(), host, path.strip("/"))


def _refuse_miswritten(text: str) -> None:
    """Refuse `s3:/bucket/t` and `hdfs:/t`: no such file exists, and a store was meant."""
    scheme, colon, rest = text.partition(":")
    problem = miswritten(scheme.lower(), rest) if colon else None
    if problem is not None and not os.path.lexists(text):
        raise problem


def _names_secrets(scheme: str, host: str, path: str) -> bool:
    """Whether an address has a user, a password or a signed query.

    Azure's `container@account` is no user. A password may contain a slash: then the text that
    looks like the host is a part of the password.
    """
    if not (_HOST_IN_CONTAINER if scheme in _WITH_CONTAINER else _HOST).fullmatch(host):
        return True
    return "?" in path if scheme in _WEB else _QUERY.search(path) is not None


def _remote(scheme: str, host: str, path: str) -> Location:
    """A location in a store. Paths of web addresses have percent codes, paths of stores do not."""
    if scheme not in _WEB:
        return _split(f"{scheme}://{host}", path)
    decoded = unquote(path)
    if host.lower().endswith(azure_variables.HOSTS):
        container, _, decoded = decoded.partition("/")
        host = f"{host}/{container}"
    return _split(f"{scheme}://{host}", decoded)


def _local(text: str) -> Location:
    # Not Path.resolve: the table is shown by the user's name for it, with links.
    path = os.path.abspath(text)  # noqa: PTH100
    return Location("", path) if is_there(path) else _split("", path)


def _split(store: str, path: str) -> Location:
    """Split a path before its first part with a wildcard."""
    parts = path.split("/")
    for at, part in enumerate(parts):
        if _WILD.search(part):
            return Location(store, "/".join(parts[:at]) or "/" * (not store), "/".join(parts[at:]))
    return Location(store, path)


def _root(locations: Sequence[Location]) -> str:
    if len(locations) == 1 and locations[0].pattern is None and not _is_file(locations[0]):
        return locations[0].path
    parts = [p.path.split("/")[: -1 if _is_file(p) else None] for p in locations]
    common = [part for part, *_ in takewhile(_is_shared, zip(*parts, strict=False))]
    while common and "=" in common[-1]:
        common.pop()
    return "/".join(common) or "/" * (not locations[0].store)


def _is_shared(parts: tuple[str, ...]) -> bool:
    return len(set(parts)) == 1


def _is_file(location: Location) -> bool:
    """Whether a location is one file: on disk by looking, in a store by the name's ending."""
    if location.pattern is not None:
        return False
    if location.store:
        return location.path.endswith((".parquet", ".parq", ".pq"))
    return is_there(location.path) and not is_folder(location.path)


def _below(path: str, root: str) -> str:
    return path[len(root) :].strip("/")


def _open(address: str, root: str, options: Mapping[str, Any]) -> Store:
    if not address:
        _require_folder(root)
        return local_store(root)
    from whyscan.tables.storage.connections import connect

    connection = connect(address, options)
    return Store(
        uri=f"{address}/{root}".rstrip("/"),
        backend=connection.backend,
        prefix=root,
        identity=connection.identity,
        at_once=connection.at_once,
        cache=connection.cache,
    )


def _require_folder(path: str) -> None:
    folder = Path(path)
    if is_folder(folder):
        return
    siblings: list[str] = []
    with suppress(OSError, ValueError):
        siblings = [p.name for p in folder.parent.iterdir()]
    similar = difflib.get_close_matches(folder.name, siblings, n=1)
    raise TableError(
        f"there is no {path}",
        hint=f"did you mean {folder.parent / similar[0]}?" if similar else KINDS_OF_TABLE,
    )


def _list(store: Store, location: Location, under: str, enter: Callable[[str], bool]) -> pa.Table:
    if _is_file(location):
        listing = store.find(under)
        if not listing.num_rows:
            raise TableError(f"there is no {store.shown(under)}", hint=KINDS_OF_TABLE)
        return listing
    if store.folder is not None:
        _require_folder(location.path)
    return store.list(under, enter)


def _matching(listing: pa.Table, location: Location, root: str) -> pa.Table:
    """The objects of a listing that match the location's glob."""
    if location.pattern is None:
        return listing
    under = _below(location.path, root)
    matcher = f"^{re.escape(under + '/' if under else '')}{glob_regex(location.pattern)}(/.*)?$"
    try:
        return listing.filter(pc.match_substring_regex(listing["path"], matcher))
    except pa.ArrowInvalid:
        raise UsageError(f"not a glob: {location.pattern}") from None


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


def _refuse_folder_of_tables(named: str, located: LocatedObjects) -> None:
    """Refuse a folder that contains Delta or Iceberg tables and no Parquet files itself.

    Read as one table, its files would show deleted rows and mix the rows of several tables.
    """
    paths = located.objects["path"]
    parts = pc.replace_substring_regex(paths, "/.*", "").unique().to_pylist()
    files = set(pc.filter(paths, pc.invert(pc.match_substring(paths, "/"))).to_pylist())
    folders = sorted(
        part for part in parts if part not in files and not part.startswith(("_", "."))
    )
    if parse(named).pattern is not None or any("=" in name for name in folders):
        return
    if any(name.endswith((".parquet", ".parq", ".pq")) for name in files):
        return
    tables = _tables_among(located, folders)
    if not tables:
        return
    above = tables[0].rpartition("/")[0]
    names = tables if above else folders
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    all_tables = "/".join(part for part in (named.rstrip("/"), above, "*") if part)
    raise TableError(
        f"{located.store.uri} is a folder of tables: {', '.join(names[:_SHOWN])}{more}",
        hint=f"name one of them: {located.store.shown(tables[0])}; "
        f"audit takes all of them: --table '{all_tables}'",
    )


def _tables_among(located: LocatedObjects, folders: Sequence[str]) -> list[str]:
    """Delta and Iceberg tables in these folders; a bounded number of folders is looked at."""
    store = located.store
    if store.folder is None:
        paths = located.objects["path"]
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
            inner = (entry for entry in islice(folder.iterdir(), _LOOKED_AT) if entry.is_dir())
            pending += (f"{name}/{entry.name}" for entry in inner if "=" not in entry.name)
    return tables


def _distinct(objects: pa.Table) -> pa.Table:
    """Each object once, even if several locations name it."""
    encoded = objects["path"].combine_chunks().dictionary_encode()
    first = pa.table({"code": encoded.indices, "at": pa.array(range(len(encoded)))})
    return objects.take(first.group_by("code").aggregate([("at", "min")])["at_min"])
