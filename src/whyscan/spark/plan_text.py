"""A physical plan as Spark prints it for people (`formatted`), read back: its scans.

    == Physical Plan ==
    * Filter (2)                            a tree of numbered nodes
    +- Scan parquet  (1)

    (1) Scan parquet                        then a block for each of them
    Output [2]: [id#1L, day#2]
    Location: InMemoryFileIndex [file:/lake/t]
    PartitionFilters: [isnotnull(day#2), (day#2 = 2024-01-03)]

    ===== Subqueries =====                  then the same for each subquery

Values stand there without quotes, line breaks and all. A block counts only with lines that it is
known to have, each once; a text whose blocks are not those of its trees, one after another, is not
read at all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_TITLE = "== Physical Plan =="
_TREE = re.compile(r"(?P<lead>(?:\+- |:- |[ :])*)(?:\* )?(?P<name>\S.*?) ?\((?P<number>\d+)\)")
_HEADER = re.compile(r"\((?P<number>\d+)\) (?P<name>.*)")
_SUBQUERY = re.compile(
    r"Subquery:(?P<number>\d+) Hosting operator id = \d+ Hosting Expression = (?P<host>.*)"
)
_SUBQUERIES = "===== Subqueries ====="
_FIELD = re.compile(r"(?P<label>[A-Z][A-Za-z]*)(?: \[\d+\])? ?: (?P<value>.*)")
# Whatever rows come out of these went in, with the columns that a condition names by number.
_TRANSPARENT = frozenset({"ColumnarToRow", "InputAdapter", "Project"})
_LOCATION = re.compile(r"(?P<index>\w+) \[(?P<paths>.*)\]")
_SEVERAL = re.compile(r", \.\.\. \d+ entries$")
_ICEBERG = re.compile(r"IcebergScan\(table=(?P<table>[^,]+), .*?\bsnapshotId=(?P<snapshot>\d+), ")
_NO_TABLES = ("LocalTableScan", "Range", "Scan OneRowRelation", "ReusedExchange", "EmptyRelation")
_CACHE = "InMemoryRelation"


class UnreadableError(ValueError):
    """A text that has no plan in it, or more than one."""


class PrintedScan(Struct, frozen=True):
    """A scan of a table's files, as it is printed.

    `title` is the node's name, `index` how Spark found the files, `place` where they are: None
    where that is not one place. `snapshot` and `pushed` are an Iceberg scan's. `conditions` are
    texts of Catalyst, in a list or not; `unsure` those that a line break tore apart. `nested` is a
    scan of a subquery.
    """

    title: str
    output: str
    index: str = ""
    place: str | None = None
    schema: str = ""
    table: str | None = None
    snapshot: int | None = None
    pushed: str = ""
    conditions: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()
    nested: bool = False


class Printed(Struct, frozen=True):
    """The scans of a plan in its order, and a line for each leaf that is no table of files."""

    scans: tuple[PrintedScan, ...]
    others: tuple[str, ...]


class _Block(Struct, frozen=True):
    """What is said of a node: by labels, and in other lines.

    `torn`: a value has gone on in the next line, as far as that shows. Of the `last` one of a plan
    it does not show where its last value ends.
    """

    fields: Mapping[str, str]
    lines: tuple[str, ...]
    torn: bool
    last: bool


class _Tree(Struct):
    """The nodes by their numbers, each with the one above it.

    `nested` are those of subqueries, `repeated` those of dynamic pruning: they stand elsewhere too.
    """

    names: dict[int, str]
    above: dict[int, int]
    nested: set[int]
    repeated: set[int]

    @property
    def leaves(self) -> list[int]:
        inner = {*self.above.values(), *self.repeated}
        return [node for node in self.names if node not in inner]


def read_plan(text: str) -> Printed:
    """Raises UnreadableError."""
    lines = text.split("\n")
    if lines[0] != _TITLE:
        raise UnreadableError("it has no physical plan")
    tree = _tree(lines)
    blocks = _blocks(lines, tree)
    scans: list[PrintedScan] = []
    others: list[str] = []
    for leaf in tree.leaves:
        name, around = tree.names[leaf], list(_around(tree, leaf))
        if name.startswith(_NO_TABLES):
            continue
        if any(tree.names[one] == _CACHE for one in around):
            _, place = _placed(blocks[leaf].fields.get("Location", ""))
            others.append(f"{place or name.strip()}: it is in the cache")
        elif name.startswith(("Scan ", "BatchScan ")):
            found = _scan(name, blocks[leaf], [blocks[one] for one in _filters(tree, around)])
            scans.append(replace(found, nested=leaf in tree.nested))
        else:
            others.append(f"{name.strip()}: it is no table of files")
    return Printed(tuple(scans), tuple(dict.fromkeys(others)))


def _tree(lines: list[str]) -> _Tree:
    """The nodes of the plan and of its subqueries."""
    tree, number = _Tree({}, {}, set(), set()), 0
    _grow(tree, lines, 1)
    for at, line in enumerate(lines):
        found = _SUBQUERY.fullmatch(line)
        if found is not None:
            number += 1
            if int(found["number"]) != number:
                raise UnreadableError("its subqueries can be told apart in two ways")
            new = _grow(tree, lines, at + 1)
            tree.nested.update(new)
            if "dynamicpruning#" in found["host"]:
                tree.repeated.update(new)
    return tree


def _grow(tree: _Tree, lines: list[str], start: int) -> list[int]:
    """Take in a tree, and say what is new in it."""
    path: list[tuple[int, int]] = []
    new = []
    for line in lines[start:]:
        found = _TREE.fullmatch(line)
        if found is None:
            break
        node, depth = int(found["number"]), len(found["lead"])
        while path and path[-1][0] >= depth:
            path.pop()
        if node in tree.names:
            # A subquery that is used again is shown again.
            continue
        tree.names[node] = found["name"]
        new.append(node)
        if path:
            tree.above[node] = path[-1][1]
        path.append((depth, node))
    return new


def _blocks(lines: list[str], tree: _Tree) -> dict[int, _Block]:
    headers = [(at, found) for at, line in enumerate(lines) if (found := _HEADER.fullmatch(line))]
    ends = [at for at, line in enumerate(lines) if line == _SUBQUERIES or _SUBQUERY.match(line)]
    stops = sorted([*(at for at, _ in headers), *ends, len(lines)])
    followed = {at for at, _ in headers}
    found_numbers = [int(found["number"]) for _, found in headers]
    main = len(tree.names) - len(tree.nested)
    early = [at for at, found in headers if int(found["number"]) <= main]
    if found_numbers != sorted(tree.names) or (ends and early and ends[0] < early[-1]):
        raise UnreadableError("its nodes can be told apart in two ways")
    blocks: dict[int, _Block] = {}
    for number, (at, _) in zip(found_numbers, headers, strict=True):
        stop = next(stop for stop in stops if stop > at)
        blocks[number] = _block(lines[at + 1 : stop], last=stop not in followed)
    return blocks


def _block(lines: list[str], *, last: bool) -> _Block:
    said = list(lines)
    while said and not said[-1]:
        said.pop()
    # One empty line ends a block, and more a plan.
    torn = "" in said or (not last and len(lines) - len(said) != 1)
    fields: dict[str, str] = {}
    others = []
    for line in said:
        found = _FIELD.fullmatch(line)
        if found is None:
            others.append(line)
            continue
        torn = torn or found["label"] in fields
        fields.setdefault(found["label"], found["value"])
    return _Block(fields, tuple(others), torn, last)


def _around(tree: _Tree, node: int) -> Iterator[int]:
    """The nodes above one, nearest first."""
    while node in tree.above:
        node = tree.above[node]
        yield node


def _filters(tree: _Tree, around: list[int]) -> Iterator[int]:
    """The filters above a scan, with nothing between that makes other rows."""
    for node in around:
        if tree.names[node] == "Filter":
            yield node
        elif tree.names[node] not in _TRANSPARENT:
            return


def _scan(name: str, block: _Block, filters: list[_Block]) -> PrintedScan:
    conditions: list[str] = []
    unsure: list[str] = []
    for above in filters:
        text = above.fields.get("Condition", "")
        whole = not above.lines and not above.torn and (not above.last or text.endswith(")"))
        (conditions if whole else unsure).append(text)
    output = block.fields.get("Output", "")
    if name.startswith("BatchScan "):
        return _of_iceberg(PrintedScan(name, output), block, conditions, unsure)
    own = block.fields.get("PartitionFilters")
    if own is not None:
        sure = not block.torn and not block.lines and own.endswith("]")
        (conditions if sure else unsure).append(own)
    index, place = _placed(block.fields.get("Location", ""))
    return PrintedScan(
        name,
        output,
        index,
        place,
        block.fields.get("ReadSchema", ""),
        conditions=tuple(conditions),
        unsure=tuple(unsure),
    )


def _of_iceberg(
    scan: PrintedScan, block: _Block, conditions: list[str], unsure: list[str]
) -> PrintedScan:
    said = block.lines[0] if block.lines else ""
    found = _ICEBERG.match(said)
    whole = len(block.lines) == 1 and not block.torn
    at_run_time = block.fields.get("RuntimeFilters", "[]")
    torn = [*([] if at_run_time == "[]" else [at_run_time]), *([] if whole else [said])]
    return replace(
        scan,
        table=None if found is None else found["table"],
        snapshot=None if found is None else int(found["snapshot"]),
        pushed=said if whole else "",
        conditions=tuple(conditions),
        unsure=(*unsure, *torn),
    )


def _placed(location: str) -> tuple[str, str | None]:
    """How the files were found, and the one place that they are at."""
    found = _LOCATION.fullmatch(location)
    if found is None:
        return "", None
    one = found["paths"] and not _SEVERAL.search(found["paths"])
    return found["index"], found["paths"] if one else None
