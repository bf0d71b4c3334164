"""Files with indexes of pages, and what the rows of each container of the level `pages` are."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec.structs import replace

import whyscan
from whyscan.tables import open_snapshot
from whyscan.tables.parquet.pages import pages_below
from whyscan.tree.arrow import arrow_type
from whyscan.tree.nodes import Column

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from whyscan.pruning.containers import Containers
    from whyscan.tables.snapshot import ContainersBelow, RowGroups

ROWS_A_PAGE = 5
ROWS_A_GROUP = 40


def write(path: Path, table: pa.Table, **options) -> None:
    """Write a file with small pages and their indexes."""
    settings = {
        "write_page_index": True,
        "max_rows_per_page": ROWS_A_PAGE,
        "write_batch_size": 1,
        "row_group_size": ROWS_A_GROUP,
        "use_dictionary": False,
    }
    pq.write_table(table, path, **(settings | options))


def opened(folder: Path, *names: str) -> tuple[RowGroups, ContainersBelow, list[Column]]:
    """The row groups of a folder's files and the pages of some columns, or of all."""
    snapshot = open_snapshot([str(folder)], {}, {})
    fields = snapshot.schema().fields
    columns = [Column((f.name,), f.type) for f in fields if not names or f.name in names]
    files = snapshot.files([])
    at = pa.array(range(files.count))
    groups = snapshot.row_groups(files, at, columns, None, keep_footers=True)
    pages = pages_below(snapshot.store, groups, pa.array(range(groups.count)), columns)
    assert pages is not None
    return groups, pages, columns


def values_inside(table: pa.Table, column: Column, pages: ContainersBelow) -> list[pa.Array]:
    """The values of a column in each container of one file; every row group has pages."""
    values = table[column.path[0]].cast(arrow_type(column.type)).combine_chunks()
    return [values.slice(start, count) for start, count in spans(pages)]


def spans(pages: ContainersBelow) -> Iterator[tuple[int, int]]:
    """The first row of each container in the file, and how many it has."""
    start = 0
    for count in pages.rows.to_pylist():
        yield start, count
        start += count


def rows_that_are_read(folder: Path, sql: str, rows: int, depth: str = "pages") -> list[bool]:
    """For each row of a folder's only file: a container that is kept at the lowest level has it."""
    evidence = whyscan.open(str(folder)).plan(sql, depth=depth).evidence
    groups = evidence.row_group_level
    read = [False] * rows
    lowest = evidence.levels[-1]
    if not evidence.judgement.kept[0]:
        return read
    starts, at = [], 0
    for count in groups.listed.rows.to_pylist():
        starts.append(at)
        at += count
        if groups.verdicts.kept[len(starts) - 1] and not groups.opened[len(starts) - 1]:
            read[starts[-1] : at] = [True] * count
    if lowest is groups:
        return read
    inside: dict[int, int] = {}
    for owner, count, kept in zip(
        lowest.listed.owners.to_pylist(),
        lowest.listed.rows.to_pylist(),
        lowest.verdicts.kept.tolist(),
        strict=True,
    ):
        first = starts[owner] + inside.get(owner, 0)
        inside[owner] = inside.get(owner, 0) + count
        if kept and groups.verdicts.kept[owner]:
            read[first : first + count] = [True] * count
    return read


def values_of_groups(table: pa.Table, folder: Path, name: str = "x") -> list[pa.Array]:
    """The values of a column in each row group of a folder's only file."""
    [path] = folder.glob("*.parquet")
    footer = pq.read_metadata(path)
    counts = [footer.row_group(at).num_rows for at in range(footer.num_row_groups)]
    [kind] = (
        f.type for f in open_snapshot([str(folder)], {}, {}).schema().fields if f.name == name
    )
    values = table[name].cast(arrow_type(kind)).combine_chunks()
    starts = accumulate(counts, initial=0)
    return [values.slice(start, count) for start, count in zip(starts, counts, strict=False)]


def probed(
    folder: Path, name: str, values: list[pa.Array], method: str = "bloom_filters"
) -> tuple[Containers, Column]:
    """The row groups with the bloom filters of a column, probed for these values."""
    snapshot = open_snapshot([str(folder)], {}, {})
    [column] = [Column((f.name,), f.type) for f in snapshot.schema().fields if f.name == name]
    files = snapshot.files([])
    at = pa.array(range(files.count))
    groups = snapshot.row_groups(files, at, [column], None, keep_footers=True)
    kind = arrow_type(column.type)
    literals = pc.unique(pa.concat_arrays([v.cast(kind) for v in values])).drop_null()
    every = pa.array(range(groups.count))
    read = getattr(snapshot.below, method)(groups, every, {column: literals})
    is_there = any(count.present for count in read.counts)
    return replace(groups.containers, filters=read.filters if is_there else {}), column
