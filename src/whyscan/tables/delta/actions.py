"""The files with actions, JSON commits and checkpoints, as relations of DuckDB.

Both kinds have the same columns, for example `version`, `add` and `remove`. The structs of a
checkpoint may lack members, so that every query looks at `members` first.
"""

# ruff: noqa: S608 - every name and value in SQL went through query.name or query.text
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import TableError
from whyscan.tables.delta import query
from whyscan.tables.delta.checkpoint_outline import outline
from whyscan.tables.delta.log import LOG, LogFile

if TYPE_CHECKING:
    import duckdb
    from duckdb.sqltypes import DuckDBPyType

    from whyscan.tables.delta.local_log_files import LocalCopies
    from whyscan.tables.delta.log import LogSegment

CHECKPOINT_VERSION = -1
"""The version of a checkpoint's rows: older than every commit after the checkpoint."""

LINES = 1 << 31
"""More lines than a commit has: version * LINES + line is the moment of a row."""

_DELETION_VECTOR = (
    'STRUCT(storageType VARCHAR, pathOrInlineDv VARCHAR, "offset" BIGINT, sizeInBytes BIGINT, '
    "cardinality BIGINT)"
)
_JSON_COLUMNS = {
    "protocol": "JSON",
    "metaData": "JSON",
    "domainMetadata": "JSON",
    "commitInfo": "JSON",
    "sidecar": "JSON",
    "add": (
        "STRUCT(path VARCHAR, partitionValues MAP(VARCHAR, VARCHAR), size BIGINT, "
        f"modificationTime BIGINT, stats VARCHAR, deletionVector {_DELETION_VECTOR})"
    ),
    "remove": f"STRUCT(path VARCHAR, deletionVector {_DELETION_VECTOR})",
}
# Without the second option a folder such as `day=1` above the table becomes a column.
_PARQUET_OPTIONS = "union_by_name = true, hive_partitioning = false"
_COMPACTED = ".compacted.json"
_VERSION_IN_NAME = r"(\d{20})(?:\.compacted)?\.json$"

Members = Mapping[str, "DuckDBPyType"]


class RowSpan(Struct, frozen=True):
    """Rows of one Parquet file: from `first` to `end` (exclusive), and the bytes of these rows.

    A reader needs these bytes and the last `footer` bytes of the file.
    """

    first: int
    end: int
    bytes: tuple[int, int]
    footer: int


class Slice(Struct, frozen=True):
    """Some files of a checkpoint, or some rows of one file."""

    files: tuple[LogFile, ...]
    span: RowSpan | None = None


class ActionSource(Struct, frozen=True):
    """Files with actions: `relation` is the SQL after FROM, `version` the SQL of a row's version.

    `moment` orders rows that name the same file. `columns` are the actions with their types.
    `by_lines`: the order of lines matters, so that one thread must read them. A source that is not
    `listed` removes older files, but the files that it adds are not in the result.
    """

    files: tuple[LogFile, ...]
    relation: str
    version: str
    moment: str
    columns: Mapping[str, DuckDBPyType]
    by_lines: bool = False
    listed: bool = True

    @property
    def is_json(self) -> bool:
        return self.files[0].is_json

    @property
    def is_checkpoint(self) -> bool:
        return self.version == str(CHECKPOINT_VERSION)

    def line_by_line(self) -> ActionSource:
        """The same rows, each with the number of its `line`."""
        if self.by_lines:
            return self
        numbered = f"(SELECT *, row_number() OVER () AS line FROM {self.relation})"
        return replace(self, relation=numbered, by_lines=True)

    def members(self, action: str) -> Members:
        """The members of an action by name; empty if the source has no such action."""
        return struct_members(self.columns.get(action))


def struct_members(kind: DuckDBPyType | None) -> Members:
    """The members of a struct by name; empty for other types."""
    if kind is None or kind.id != "struct":
        return {}
    try:
        return {name: member for name, member in kind.children if isinstance(member, type(kind))}
    except query.failures():
        raise TableError("a checkpoint holds a name that is not UTF-8") from None


class ActionReader(Struct, frozen=True, eq=False):
    """Opens the files of a log with one connection."""

    connection: duckdb.DuckDBPyConnection
    copies: LocalCopies

    def sources(self, segment: LogSegment) -> tuple[ActionSource, ...]:
        """The sources that a version is replayed from, newest first."""
        sources = []
        if segment.commits:
            sources.append(self.commits(tuple(commit.file for commit in segment.commits)))
        if segment.checkpoint is not None:
            sources.extend(self._checkpoint(segment.checkpoint.files))
        return tuple(sources)

    def commits(self, files: tuple[LogFile, ...]) -> ActionSource:
        """JSON commits. The version of a row is in its file's name: the last one if compacted."""
        version = f"CAST(regexp_extract(filename, {query.text(_VERSION_IN_NAME)}, 1) AS BIGINT)"
        source = self._described(files, version)
        moment = f"({version} * {LINES})"
        if not any(file.name.endswith(_COMPACTED) for file in files):
            return replace(source, moment=moment)
        # Some writers compact commits newest first, and do not drop files that were removed again.
        line = f"CASE WHEN ends_with(filename, '{_COMPACTED}') THEN {LINES - 1} - line ELSE 0 END"
        return replace(source.line_by_line(), moment=f"({moment} + {line})")

    def slice(self, part: Slice) -> ActionSource:
        """A slice of a checkpoint as a source."""
        source = self._described(part.files, str(CHECKPOINT_VERSION))
        if part.span is None:
            return source
        first, end = part.span.first, part.span.end
        [file] = part.files
        # DuckDB skips row groups, and the other rows of a row group, by row number.
        numbered = (
            f"(SELECT *, file_index FROM {self._numbered(file)} "
            f"WHERE file_row_number >= {first} AND file_row_number < {end})"
        )
        return replace(source, relation=numbered)

    def rows(self, source: ActionSource, select: str, where: str) -> list[dict[str, Any]]:
        """The rows of a small query over one source."""
        sql = f"SELECT {select} FROM {source.relation} WHERE {where}"
        try:
            log_bytes = sum(file.size for file in source.files)
            rows: list[dict[str, Any]] = query.to_arrow(self.connection, sql, log_bytes).to_pylist()
        except query.failures() as error:
            raise self.failure([source], error) from error
        return rows

    def failure(self, sources: Sequence[ActionSource], error: Exception) -> TableError:
        """The error that names the file which cannot be read."""
        return self.unreadable([file for source in sources for file in source.files], error)

    def unreadable(self, files: Sequence[LogFile], error: Exception) -> TableError:
        """The error that names the unreadable one of these files."""
        self.copies.complete(files)
        readers = [(file.path, self._relation([file])) for file in files]
        return query.failure(self.connection, readers, error)

    def _checkpoint(self, files: tuple[LogFile, ...]) -> Iterator[ActionSource]:
        top = self._outlined(files)
        yield top
        sidecars = self._sidecars(top)
        if sidecars:
            yield self._outlined(sidecars)

    def _outlined(self, files: tuple[LogFile, ...]) -> ActionSource:
        outline(self.connection, self.copies, files)
        return self._described(files, str(CHECKPOINT_VERSION))

    def _described(self, files: tuple[LogFile, ...], version: str) -> ActionSource:
        relation = self._relation(files)
        try:
            description = self.connection.execute(f"SELECT * FROM {relation} LIMIT 0").description
            columns = {name: kind for name, kind, *_ in description}
        except query.failures() as error:
            raise self.unreadable(files, error) from error
        return ActionSource(files, relation, version, version, columns)

    def _relation(self, files: Sequence[LogFile]) -> str:
        places = query.texts(self.copies.places(files))
        if not files[0].is_json:
            return f"read_parquet({places}, {_PARQUET_OPTIONS})"
        columns = ", ".join(f"{query.name(n)}: {query.text(t)}" for n, t in _JSON_COLUMNS.items())
        return (
            f"read_json({places}, format = 'newline_delimited', columns = {{{columns}}}, "
            "filename = true, hive_partitioning = false)"
        )

    def _numbered(self, file: LogFile) -> str:
        """SQL that reads one Parquet file with the number of each row."""
        places = query.texts(self.copies.places([file]))
        return f"read_parquet({places}, {_PARQUET_OPTIONS}, file_row_number = true)"

    def _sidecars(self, top: ActionSource) -> tuple[LogFile, ...]:
        """The sidecars that a checkpoint names. Only the name counts: all are in `_sidecars`."""
        if "sidecar" not in top.columns:
            return ()
        member = "sidecar.{}" if top.members("sidecar") else "sidecar ->> '{}'"
        path, size = member.format("path"), member.format("sizeInBytes")
        rows = self.rows(
            top, f"{path} AS path, CAST({size} AS BIGINT) AS size", f"{path} IS NOT NULL"
        )
        files = (_sidecar(row["path"], row["size"]) for row in rows)
        # A sidecar that is named twice is read once: it adds the same files.
        return tuple({file.path: file for file in files}.values())


def _sidecar(path: str, size: int | None) -> LogFile:
    name = unquote(path).rpartition("/")[2]
    if name in {"", ".", ".."} or size is None or size < 0:
        raise TableError(f"a checkpoint names a sidecar that cannot be: {path!r}")
    return LogFile(f"{LOG}/_sidecars/{name}", size, 0)
