"""The versions of objects: which objects may be cached, and which tag shows that one has changed.

| object | its key in the cache has its path, the byte range and |
|---|---|
| Delta commits, checkpoints, sidecars; Iceberg metadata, lists, manifests | its tag |
| the footer of a data file, at the end by its recorded size | its tag |
| either of them if it was not listed | the uuid in its name, which is written once |
| `_last_checkpoint`, `version-hint.text`, data, anything else | (never cached) |

A tag is the store's entity tag, or the time of writing if the store has no entity tags. A table
that was dropped and written again at the same path has the same names but other tags.
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
    """Whether an object is metadata that no writer overwrites."""
    return _METADATA.fullmatch(path) is not None


def tag_of(facts: Mapping[str, Any]) -> str:
    """The tag of an object from a store's answer. Azure's listings leave out the quotes."""
    tag: str | None = facts["e_tag"]
    return f"written {facts['last_modified'].isoformat()}" if tag is None else tag.strip('"')


def written_once(path: str) -> str | None:
    """The uuid in an object's name, which no writer uses twice; None if it has none."""
    match = _UUID.search(path.rpartition("/")[2])
    return None if match is None else match[0]


class ObjectVersions(Struct):
    """The tags of objects: `listings` from listings, `tags` from look-ups, `read` from reads.

    Listings stay Arrow columns: a table of a million files must not become a million strings.
    """

    tags: dict[str, str | None] = field(default_factory=dict)
    listings: list[pa.Table] = field(default_factory=list)
    read: dict[str, str] = field(default_factory=dict)

    def has_changed(self, path: str, tag: str) -> bool:
        """Whether an object was read before with another tag: its pieces do not fit together.

        Of data files only those count of which the footer was read.
        """
        if is_metadata(path):
            return self.read.setdefault(path, tag) != tag
        return self.read.get(path, tag) != tag

    def note(self, path: str, tag: str) -> None:
        self.tags[path] = tag

    def note_listing(self, paths: pa.Array, tags: pa.Array) -> None:
        self.listings.append(pa.table({"path": paths, "tag": tags}))

    def learn(self, paths: Sequence[str]) -> None:
        """Look up many paths at once, so that `tag` is quick for them."""
        missing = [path for path in dict.fromkeys(paths) if path not in self.tags]
        if not missing:
            return
        self.tags.update(dict.fromkeys(missing))
        wanted = pa.array(missing, pa.string())
        for listing in self.listings:
            at = pc.index_in(wanted, value_set=listing["path"])
            listed_tags = listing["tag"].take(at).to_pylist()
            self.tags.update(
                {p: t for p, t in zip(missing, listed_tags, strict=True) if t is not None}
            )

    def tag(self, path: str) -> str | None:
        """The tag of an object, None if no listing has it."""
        if path not in self.tags:
            self.learn([path])
        return self.tags[path]
