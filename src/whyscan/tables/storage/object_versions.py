"""Which content stands behind a path: what may be kept, and under which key.

| object | kept under its path, where the bytes lie in it and |
|---|---|
| Delta commits, checkpoints, sidecars; Iceberg metadata, lists, manifests | its tag |
| the footer of a data file, which lies where its recorded size says | its tag |
| either of them where nobody listed it | the uuid in its name, which is written once |
| `_last_checkpoint`, `version-hint.text`, data, anything else | never |

A tag is the store's entity tag, or when the object was written where a store has no such thing: a
table that was dropped and written again at the same place has the same names, and other tags.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_METADATA = re.compile(
    r"(?:^|.*/)_delta_log/(?:\d{20}\.[^/]*(?:json|parquet)|_sidecars/[^/]+\.parquet)"
    r"|.*\.metadata\.json(?:\.gz)?|.*\.avro"
)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)


def is_metadata(path: str) -> bool:
    """Whether an object is metadata that is never written again under its name."""
    return _METADATA.fullmatch(path) is not None


def tag_of(facts: Mapping[str, Any]) -> str:
    """The tag by what a store says of an object. Azure's listings leave its quotes out."""
    tag: str | None = facts["e_tag"]
    return f"written {facts['last_modified'].isoformat()}" if tag is None else tag.strip('"')


def written_once(path: str) -> str | None:
    """The uuid in an object's name, which no writer uses again; None where there is none."""
    found = _UUID.search(path.rpartition("/")[2])
    return None if found is None else found[0]


class ObjectVersions(Struct):
    """The tags of the objects that a store was seen to hold, and of the metadata that was read.

    Listings stay columns: a table of a million files must not become a million strings.
    """

    known: dict[str, str | None] = field(default_factory=dict)
    listings: list[pa.Table] = field(default_factory=list)
    read: dict[str, str] = field(default_factory=dict)

    def is_another(self, path: str, tag: str) -> bool:
        """Whether metadata was read before under another tag: its pieces do not fit together."""
        return is_metadata(path) and self.read.setdefault(path, tag) != tag

    def note(self, path: str, tag: str) -> None:
        self.known[path] = tag

    def note_listing(self, paths: pa.Array, tags: pa.Array) -> None:
        self.listings.append(pa.table({"path": paths, "tag": tags}))

    def learn(self, paths: Sequence[str]) -> None:
        """Look up many paths at once; `of` is quick for them from here on."""
        missing = [path for path in dict.fromkeys(paths) if path not in self.known]
        if not missing:
            return
        self.known.update(dict.fromkeys(missing))
        asked = pa.array(missing, pa.string())
        for listing in self.listings:
            at = pc.index_in(asked, value_set=listing["path"])
            tags = listing["tag"].take(at).to_pylist()
            self.known.update({p: t for p, t in zip(missing, tags, strict=True) if t is not None})

    def of(self, path: str) -> str | None:
        """The tag of an object, None where it was not seen."""
        if path not in self.known:
            self.learn([path])
        return self.known[path]
