"""The log of one version in parts: each live file is in exactly one part.

A part is a group of consecutive commits, or a slice of the checkpoint. It also has all later
commits, because they may remove its files; so a part is replayed in the same way as the complete
log. Commits are divided by their bytes, a checkpoint by its footers: dividing reads no rows.
"""

# ruff: noqa: S608 - every name and value in SQL went through query.name or query.text
from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import CorruptFile
from whyscan.tables import duckdb_engine
from whyscan.tables.delta import query, replay
from whyscan.tables.delta.actions import ActionReader, RowSpan, Slice
from whyscan.tables.delta.checkpoint_outline import CHUNK_START, CHUNK_STOP
from whyscan.tables.delta.local_log_files import LocalCopies
from whyscan.tree.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from whyscan.tables.delta.actions import ActionSource
    from whyscan.tables.delta.log import LogFile
    from whyscan.tables.storage.store import Store


BYTES_A_FILE = 500
"""Estimated bytes per file in a commit. Statistics of many columns take more."""


class WholeLog(Struct, frozen=True, eq=False):
    """The complete log of a version; `sources` are newest first."""

    copies: LocalCopies
    sources: tuple[ActionSource, ...]

    @property
    def files(self) -> tuple[LogFile, ...]:
        return tuple(file for source in self.sources for file in source.files)

    def live_files(self, request: replay.Request) -> pa.Table:
        """One row per live file with the requested columns."""
        self.copies.complete(self.files)
        with duckdb_engine.connection() as connection:
            return replay.live_files(ActionReader(connection, self.copies), self.sources, request)

    def parts(self, store: Store, files_each: int) -> Iterator[LogPart]:
        """The parts in the order of the live files, with about `files_each` files each."""
        commits = tuple(file for s in self.sources if not s.is_checkpoint for file in s.files)
        with duckdb_engine.connection() as connection:
            reader = ActionReader(connection, self.copies)
            checkpoints = [s for s in self.sources if s.is_checkpoint and s.members("add")]
            slices = [piece for s in checkpoints for piece in _slices(reader, s, files_each)]
        end = 0
        for group in _groups(commits, files_each):
            end += len(group)
            yield LogPart(store.unread_copy(), commits[end:], group)
        for piece in slices:
            # The row numbers of a slice hold only for the file that this process has read.
            unchanged = store.unread_copy([file.path for file in piece.files])
            yield LogPart(unchanged, commits, (), piece)
        if not commits and not slices:
            yield LogPart(store.unread_copy())


class LogPart(Struct, frozen=True, eq=False, dict=True):
    """Some commits, or a slice of a checkpoint; the `later` commits remove files of it.

    A pickled part has only the names of its files. The process that unpickles it reads them.
    """

    store: Store
    later: tuple[LogFile, ...] = ()
    commits: tuple[LogFile, ...] = ()
    slice: Slice | None = None

    @property
    def files(self) -> tuple[LogFile, ...]:
        return (*self.later, *self.commits, *(() if self.slice is None else self.slice.files))

    def live_files(self, request: replay.Request) -> pa.Table:
        """One row per live file of this part with the requested columns."""
        with duckdb_engine.connection() as connection:
            reader = ActionReader(connection, self._copies)
            return replay.live_files(reader, self._sources(reader), request)

    def parts(self, store: Store, files_each: int) -> Iterator[LogPart]:  # noqa: ARG002 - one
        """This part alone: a part is not divided further."""
        yield replace(self, store=store.unread_copy([file.path for file in self.files]))

    @lazy
    def _copies(self) -> LocalCopies:
        if self.slice is None or self.slice.span is None:
            return LocalCopies(self.store)
        return LocalCopies(self.store, {self.slice.files[0].path: self.slice.span})

    def _sources(self, reader: ActionReader) -> tuple[ActionSource, ...]:
        sources = []
        if self.later:
            sources.append(replace(reader.commits(self.later), listed=False))
        if self.commits:
            sources.append(reader.commits(self.commits))
        if self.slice is not None:
            sources.append(reader.slice(self.slice))
        return tuple(sources)

    def __reduce__(self) -> tuple[type[LogPart], tuple[object, ...]]:
        return LogPart, (self.store, self.later, self.commits, self.slice)


def _groups(commits: Sequence[LogFile], files_each: int) -> Iterator[tuple[LogFile, ...]]:
    """Consecutive commits in groups of about `files_each` files."""
    group: list[LogFile] = []
    size = 0
    for commit in commits:
        if group and size + commit.size > files_each * BYTES_A_FILE:
            yield tuple(group)
            group, size = [], 0
        group.append(commit)
        size += commit.size
    if group:
        yield tuple(group)


def _slices(reader: ActionReader, source: ActionSource, rows_each: int) -> Iterator[Slice]:
    """The files of a checkpoint in groups; a file with more than `rows_each` rows in row spans."""
    if source.is_json:
        yield Slice(source.files)
        return
    group: list[LogFile] = []
    rows = 0
    for file, footer in zip(source.files, _footers(reader, source.files), strict=True):
        if group and rows + footer.rows > rows_each:
            yield Slice(tuple(group))
            group, rows = [], 0
        if footer.rows > rows_each:
            yield from (Slice((file,), span) for span in footer.spans(rows_each))
        elif footer.rows:
            group.append(file)
            rows += footer.rows
    if group:
        yield Slice(tuple(group))


class _Footer(Struct, frozen=True):
    """The footer of a checkpoint file; `groups`: rows, start and stop of each row group's adds."""

    size: int = 0
    groups: tuple[tuple[int, int, int], ...] = ()

    @property
    def rows(self) -> int:
        return sum(rows for rows, _, _ in self.groups)

    def spans(self, rows_each: int) -> Iterator[RowSpan]:
        """Spans of complete row groups; a row group that is too large gives several equal spans."""
        for first, end in _cut([rows for rows, _, _ in self.groups], rows_each):
            yield RowSpan(first, end, self._bytes(first, end), self.size)

    def _bytes(self, first: int, end: int) -> tuple[int, int]:
        """The byte range of the row groups that have some of the rows."""
        places = []
        begin = 0
        for rows, *place in self.groups:
            if begin < end and first < begin + rows:
                places.append(place)
            begin += rows
        return min(start for start, _ in places), max(stop for _, stop in places)


def _cut(groups: Sequence[int], rows_each: int) -> Iterator[tuple[int, int]]:
    """The first row and the end of each span of about `rows_each` rows."""
    # A span may be a little larger, so that a small rest of a file is no extra span.
    row_limit = rows_each + rows_each // 8
    first = end = 0
    for rows in groups:
        if first < end and end + rows - first > row_limit:
            yield first, end
            first = end
        end += rows
        if end - first > row_limit:
            pieces = -(-rows // rows_each)
            yield from pairwise(first + rows * at // pieces for at in range(pieces + 1))
            first = end
    if first < end:
        yield first, end


_MAGIC_AND_LENGTH = 8


def _footers(reader: ActionReader, files: Sequence[LogFile]) -> list[_Footer]:
    """One footer per file; without row groups for a file that has no column `add`."""
    places = reader.copies.places(files)
    names = query.texts(places)
    groups = (
        f"SELECT file_name, any_value(row_group_num_rows) AS n, min({CHUNK_START}) AS start, "
        f"max({CHUNK_STOP}) AS stop FROM parquet_metadata({names}) "
        "WHERE starts_with(path_in_schema, 'add, ') "
        "GROUP BY file_name, row_group_id ORDER BY file_name, row_group_id"
    )
    sizes = f"SELECT file_name, footer_size FROM parquet_file_metadata({names})"
    try:
        group_rows = reader.connection.execute(groups).fetchall()
        footer_sizes = dict(reader.connection.execute(sizes).fetchall())
    except query.failures() as error:
        raise reader.unreadable(files, error) from error
    row_groups: dict[str, list[tuple[int, int, int]]] = {}
    for name, *group in group_rows:
        row_groups.setdefault(name, []).append(tuple(group))
    for file, place in zip(files, places, strict=True):
        claimed = sum(rows for rows, _, _ in row_groups.get(place, ()))
        # Each row names a file and so takes more than one byte.
        if not 0 <= claimed <= file.size:
            raise CorruptFile(file.path, f"it claims {claimed} rows in {file.size} bytes")
    return [
        _Footer(footer_sizes[place] + _MAGIC_AND_LENGTH, tuple(row_groups.get(place, ())))
        for place in places
    ]
