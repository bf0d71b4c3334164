"""Selects models as dbt does: names, folders, tags and settings, with parents and children.

| words | models |
|---|---|
| `daily`, `marts.daily`, `stg_*` | by name, by the folders that lead to it, by a pattern |
| `models/marts`, `path:models/marts` | by path |
| `tag:nightly`, `package:shop`, `source:raw.orders` | by tag, by package, what reads a source |
| `config.materialized:incremental` | by a setting |
| `state:modified`, `state:new` | by what differs from the other manifest |
| `+daily`, `daily+`, `2+daily` | with what it depends on, with what depends on it, in two steps |

Words with commas must all be true; of several words one is enough.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from whyscan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from whyscan.statements.dbt.project import DbtNode, DbtProject

_WORD = re.compile(r"(?P<up>\d*\+)?(?P<criterion>[^+@]+)(?P<down>\+\d*)?")
HINT = "names, folders, path:, tag:, package:, source:, config.X:, state:modified and +name+ work"


def selected(
    project: DbtProject,
    words: Sequence[str],
    exclude: Sequence[str],
    states: Mapping[str, AbstractSet[str]] | None,
) -> frozenset[str]:
    """The unique ids that the words select; without words all of them.

    `states` has the ids that are new or modified; None without another manifest.
    """
    chosen = frozenset(project.nodes) if not words else _union(project, words, states)
    return chosen - _union(project, exclude, states)


def _union(
    project: DbtProject, words: Sequence[str], states: Mapping[str, AbstractSet[str]] | None
) -> frozenset[str]:
    of_words = [
        frozenset.intersection(
            *(_with_relatives(project, part, states) for part in word.split(","))
        )
        for word in " ".join(words).split()
    ]
    return frozenset().union(*of_words)


def _with_relatives(
    project: DbtProject, word: str, states: Mapping[str, AbstractSet[str]] | None
) -> frozenset[str]:
    match = _WORD.fullmatch(word)
    if match is None:
        raise UsageError(f"--select cannot read {word!r}", hint=HINT)
    start = frozenset(_matching(project, match["criterion"], states))
    if not start:
        raise UsageError(f"--select {word!r} names no model of {project.name}", hint=HINT)
    parents = {name: node.parents for name, node in project.nodes.items()}
    children: dict[str, list[str]] = {}
    for name, above in parents.items():
        for parent in above:
            children.setdefault(parent, []).append(name)
    chosen = start
    if match["up"] is not None:
        chosen |= _reached(start, parents, match["up"].strip("+"))
    if match["down"] is not None:
        chosen |= _reached(start, children, match["down"].strip("+"))
    return chosen


def _reached(
    start: Iterable[str], edges: Mapping[str, Sequence[str]], steps: str
) -> frozenset[str]:
    """What edges lead to, in at most so many steps; any number if there is none."""
    reached: set[str] = set()
    border, left = set(start), int(steps) if steps else None
    while border and left != 0:
        border = {other for name in border for other in edges.get(name, ())} - reached
        reached |= border
        left = None if left is None else left - 1
    return frozenset(reached)


def _matching(
    project: DbtProject, criterion: str, states: Mapping[str, AbstractSet[str]] | None
) -> Iterator[str]:
    method, colon, value = criterion.partition(":")
    if not colon:
        method, value = "path" if "/" in criterion else "fqn", criterion
    if method == "state":
        if states is None:
            raise UsageError(f"{criterion} needs another manifest", hint="--against PLACE names it")
        if value not in states:
            raise UsageError(f"--select cannot read {criterion!r}", hint=HINT)
        yield from states[value]
        return
    for name, node in project.nodes.items():
        if _matches(node, method, value, criterion):
            yield name


def _matches(node: DbtNode, method: str, value: str, criterion: str) -> bool:
    match method:
        case "fqn":
            return _by_name(node, value)
        case "path" | "file":
            folder = value.rstrip("/")
            names = (node.path, node.path.rpartition("/")[2])
            return fnmatchcase(node.path, f"{folder}/*") or any(
                fnmatchcase(name, folder) for name in names
            )
        case "tag":
            return any(fnmatchcase(tag, value) for tag in node.tags())
        case "package":
            return fnmatchcase(node.package, value)
        case "resource_type":
            return node.kind == value
        case "source":
            return node.kind == "source" and _by_name(node, value)
        case _ if method.startswith("config."):
            return _setting(node, method.removeprefix("config.")) == value.lower()
        case _:
            raise UsageError(f"--select cannot read {criterion!r}", hint=HINT)


def _by_name(node: DbtNode, value: str) -> bool:
    """By the name, or by folders: `marts.daily`, `marts` and `shop.marts` are one model."""
    parts, wanted = node.fqn(), value.split(".")
    if fnmatchcase(node.name, value):
        return True
    starts = (parts, parts[1:])
    return any(
        len(start) >= len(wanted)
        and all(fnmatchcase(part, want) for part, want in zip(start, wanted, strict=False))
        for start in starts
    )


def _setting(node: DbtNode, name: str) -> str:
    """A setting as text; one of a setting by its parts: `meta.owner`."""
    value: object = node.config
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return str(value).lower()
