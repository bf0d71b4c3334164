"""Large checkpoints in a store in outline: their footers, and the columns that describe the table.

Whoever opens or divides a table reads no more. What lies between, the files that were added and
removed, is fetched by whoever asks for it.
"""

# ruff: noqa: S608 - every name and value in SQL went through query.name or query.text
from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.tables.delta import query

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb

    from whyscan.tables.delta.local_log_files import Bytes, LocalCopies
    from whyscan.tables.delta.log import LogFile

CHUNK_START = (
    "CASE WHEN dictionary_page_offset BETWEEN 4 AND data_page_offset "
    "THEN dictionary_page_offset ELSE data_page_offset END"
)
CHUNK_STOP = f"{CHUNK_START} + total_compressed_size"
"""Where a column chunk begins and ends, in terms of DuckDB's `parquet_metadata`."""

_DESCRIBING = ("protocol", "metaData", "domainMetadata", "sidecar")
_GAP = 1 << 16
"""So few bytes between two chunks are read rather than left out by another request."""


def outline(
    connection: duckdb.DuckDBPyConnection, copies: LocalCopies, files: Sequence[LogFile]
) -> None:
    """Fetch of large files what describes the table; the others are fetched whole as ever."""
    large = copies.outline(files)
    if not large:
        return
    try:
        chunks = _chunks(connection, copies.places(large))
    except query.failures():
        # Their reader says which of them is broken.
        copies.complete(large)
        return
    copies.fill(
        [(f, piece) for f, found in zip(large, chunks, strict=True) for piece in _joined(found)]
    )


def _chunks(connection: duckdb.DuckDBPyConnection, places: Sequence[str]) -> list[list[Bytes]]:
    """Where the columns that describe the table are in each file, in order."""
    sql = (
        f"SELECT file_name, {CHUNK_START} AS start, {CHUNK_STOP} AS stop "
        f"FROM parquet_metadata({query.texts(places)}) "
        f"WHERE split_part(path_in_schema, ', ', 1) IN {query.texts(_DESCRIBING)} "
        "AND start < stop ORDER BY start"
    )
    found: dict[str, list[Bytes]] = {place: [] for place in places}
    for name, start, stop in connection.execute(sql).fetchall():
        found[name].append((start, stop))
    return list(found.values())


def _joined(chunks: Sequence[Bytes]) -> Iterator[Bytes]:
    """The same bytes in few pieces."""
    held: Bytes | None = None
    for start, stop in chunks:
        if held is not None and start <= held[1] + _GAP:
            held = held[0], max(held[1], stop)
            continue
        if held is not None:
            yield held
        held = start, stop
    if held is not None:
        yield held
