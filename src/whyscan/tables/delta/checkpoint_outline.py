"""Outlines of large remote checkpoints: the footers, and the columns that describe the table.

Opening a table and dividing it into parts need no more. The columns of added and removed files are
fetched when the log is replayed.
"""

# ruff: noqa: S608 - every name and value in SQL went through query.name or query.text
from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.tables.delta import query
from whyscan.tables.storage.store import joined_ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from whyscan.tables.delta.local_log_files import Bytes, LocalCopies
    from whyscan.tables.delta.log import LogFile

CHUNK_START = (
    "CASE WHEN dictionary_page_offset BETWEEN 4 AND data_page_offset "
    "THEN dictionary_page_offset ELSE data_page_offset END"
)
CHUNK_STOP = f"{CHUNK_START} + total_compressed_size"
"""SQL of a column chunk's start and end, with the columns of `parquet_metadata`."""

_DESCRIBING = ("protocol", "metaData", "domainMetadata", "sidecar")


def outline(
    connection: duckdb.DuckDBPyConnection, copies: LocalCopies, files: Sequence[LogFile]
) -> None:
    """Fetch the describing columns of large files; other files are fetched when they are read."""
    large = copies.outline(files)
    if not large:
        return
    try:
        chunks = _chunks(connection, copies.places(large))
    except query.failures():
        # The reader of the complete files reports which file is broken.
        copies.complete(large)
        return
    copies.fill(
        [
            (f, piece)
            for f, ranges in zip(large, chunks, strict=True)
            for piece in joined_ranges(ranges)
        ]
    )


def _chunks(connection: duckdb.DuckDBPyConnection, places: Sequence[str]) -> list[list[Bytes]]:
    """For each file the byte ranges of the columns that describe the table."""
    sql = (
        f"SELECT file_name, {CHUNK_START} AS start, {CHUNK_STOP} AS stop "
        f"FROM parquet_metadata({query.texts(places)}) "
        f"WHERE split_part(path_in_schema, ', ', 1) IN {query.texts(_DESCRIBING)} "
        "AND start < stop"
    )
    ranges: dict[str, list[Bytes]] = {place: [] for place in places}
    for name, start, stop in connection.execute(sql).fetchall():
        ranges[name].append((start, stop))
    return list(ranges.values())
