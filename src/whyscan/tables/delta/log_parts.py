"""A version's log in parts: each gives some of the live files, and all of them give each file once.

A part is some commits in a row, or a slice of the checkpoint; all later commits hide files of it,
so that it is replayed as the whole is. Commits are cut by their bytes, a checkpoint by its footers:
whoever cuts reads no rows.
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
"""About what a commit says of a file, in bytes. Statistics of many columns take more of them."""


class WholeLog(Struct, frozen=True, eq=False):
    """All of a version's log, opened: its sources, newest first."""

    copies: LocalCopies
    sources: tuple[ActionSource, ...]

    @property
    def files(self) -> tuple[LogFile, ...]:
        return tuple(file for source in self.sources for file in source.files)

    def live_files(self, request: replay.Request) -> pa.Table:
        """The live files with what was requested of each."""
        self.copies.complete(self.files)
        with duckdb_engine.connection() as connection:
            return replay.live_files(ActionReader(connection, self.copies), self.sources, request)

    def parts(self, store: Store, files_each: int) -> Iterator[LogPart]:
        """The same files in the same order; about `files_each` of them in a part."""
        commits = tuple(file for s in self.sources if not s.is_checkpoint for file in s.files)
        with duckdb_engine.connection() as connection:
            reader = ActionReader(connection, self.copies)
            checkpoints = [s for s in self.sources if s.is_checkpoint and s.members("add")]
            slices = [one for s in checkpoints for one in _slices(reader, s, files_each)]
        end = 0
        for some in _groups(commits, files_each):
            end += len(some)
            yield LogPart(store.afresh(), commits[end:], some)
        for one in slices:
            # Its rows are where this process has read that they are.
            unchanged = store.afresh([file.path for file in one.files])
            yield LogPart(unchanged, commits, (), one)
        if not commits and not slices:
            yield LogPart(store.afresh())


class LogPart(Struct, frozen=True, eq=False, dict=True):
    """Some commits, or a slice of a checkpoint, less what the `later` commits hide.

    It is pickled as the names of its files, and reads them where it is asked.
    """

    store: Store
    later: tuple[LogFile, ...] = ()
    commits: tuple[LogFile, ...] = ()
    slice: Slice | None = None

    @property
    def files(self) -> tuple[LogFile, ...]:
        return (*self.later, *self.commits, *(() if self.slice is None else self.slice.files))

    def live_files(self, request: replay.Request) -> pa.Table:
        """The live files of this part with what was requested of each."""
        with duckdb_engine.connection() as connection:
            reader = ActionReader(connection, self._copies)
            return replay.live_files(reader, self._sources(reader), request)

    def parts(self, store: Store, files_each: int) -> Iterator[LogPart]:  # noqa: ARG002 - one
        """A part is cut no further."""
        yield replace(self, store=store.afresh([file.path for file in self.files]))

    @lazy
    def _copies(self) -> LocalCopies:
        if self.slice is None or self.slice.span is None:
            return LocalCopies(self.store)
        return LocalCopies(self.store, {self.slice.files[0].path: self.slice.span})

    def _sources(self, reader: ActionReader) -> tuple[ActionSource, ...]:
        found = []
        if self.later:
            found.append(replace(reader.commits(self.later), listed=False))
        if self.commits:
            found.append(reader.commits(self.commits))
        if self.slice is not None:
            found.append(reader.slice(self.slice))
        return tuple(found)

    def __reduce__(self) -> tuple[type[LogPart], tuple[object, ...]]:
        return LogPart, (self.store, self.later, self.commits, self.slice)


def _groups(commits: Sequence[LogFile], files_each: int) -> Iterator[tuple[LogFile, ...]]:
    """Commits in a row, of about so many files together."""
    held: list[LogFile] = []
    size = 0
    for commit in commits:
        if held and size + commit.size > files_each * BYTES_A_FILE:
            yield tuple(held)
            held, size = [], 0
        held.append(commit)
        size += commit.size
    if held:
        yield tuple(held)


def _slices(reader: ActionReader, source: ActionSource, rows_each: int) -> Iterator[Slice]:
    """The source's files in groups; one with more rows than a group holds in spans of rows."""
    if source.is_json:
        yield Slice(source.files)
        return
    held: list[LogFile] = []
    count = 0
    for file, footer in zip(source.files, _footers(reader, source.files), strict=True):
        if held and count + footer.rows > rows_each:
            yield Slice(tuple(held))
            held, count = [], 0
        if footer.rows > rows_each:
            yield from (Slice((file,), span) for span in footer.spans(rows_each))
        elif footer.rows:
            held.append(file)
            count += footer.rows
    if held:
        yield Slice(tuple(held))


class _Footer(Struct, frozen=True):
    """Where a checkpoint's rows are: of each row group their number, and the bytes of its adds."""

    size: int = 0
    groups: tuple[tuple[int, int, int], ...] = ()

    @property
    def rows(self) -> int:
        return sum(rows for rows, _, _ in self.groups)

    def spans(self, rows_each: int) -> Iterator[RowSpan]:
        """Whole row groups together, which nobody decodes twice; a large one in equal pieces."""
        for first, end in _cut([rows for rows, _, _ in self.groups], rows_each):
            yield RowSpan(first, end, self._bytes(first, end), self.size)

    def _bytes(self, first: int, end: int) -> tuple[int, int]:
        """The bytes of the row groups that hold some of the rows."""
        held = []
        begin = 0
        for rows, *place in self.groups:
            if begin < end and first < begin + rows:
                held.append(place)
            begin += rows
        return min(start for start, _ in held), max(stop for _, stop in held)


def _cut(groups: Sequence[int], rows_each: int) -> Iterator[tuple[int, int]]:
    """Where spans of about so many rows begin and end."""
    # A little more, so that the rest of a file need not be a span of its own.
    most = rows_each + rows_each // 8
    first = end = 0
    for rows in groups:
        if first < end and end + rows - first > most:
            yield first, end
            first = end
        end += rows
        if end - first > most:
            pieces = -(-rows // rows_each)
            yield from pairwise(first + rows * at // pieces for at in range(pieces + 1))
            first = end
    if first < end:
        yield first, end


_MAGIC_AND_LENGTH = 8


def _footers(reader: ActionReader, files: Sequence[LogFile]) -> list[_Footer]:
    """What the footers say; nothing of a file that has no column of adds."""
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
        told = reader.connection.execute(groups).fetchall()
        size = dict(reader.connection.execute(sizes).fetchall())
    except query.failures() as error:
        raise reader.unreadable(files, error) from error
    found: dict[str, list[tuple[int, int, int]]] = {}
    for name, *group in told:
        found.setdefault(name, []).append(tuple(group))
    for file, place in zip(files, places, strict=True):
        claimed = sum(rows for rows, _, _ in found.get(place, ()))
        # A row names a file, which takes more than a byte.
        if not 0 <= claimed <= file.size:
            raise CorruptFile(file.path, f"it claims {claimed} rows in {file.size} bytes")
    return [
        _Footer(size[place] + _MAGIC_AND_LENGTH, tuple(found.get(place, ()))) for place in places
    ]
