"""Replay of the log: the live files and their recorded values, as one Arrow table.

An `add` is live unless a later action names the same file with the same deletion vector. A
checkpoint counts as older than every commit that follows it, so that the same rule holds for
both. If one commit adds a file twice, the last line counts, as in Spark.
"""

# ruff: noqa: S608 - every name and value in SQL went through query.name or query.text
from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import CorruptFile
from whyscan.tables.delta import query
from whyscan.tables.delta.actions import LINES
from whyscan.tables.delta.statistics import BY_SPARK, ROWS, Recorded, RecordedNumber, recorded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from whyscan.tables.delta.actions import ActionReader, ActionSource
    from whyscan.tables.delta.partitions import PartitionColumn

PATH = "path"
SIZE = "size"
MODIFIED = "modified"
DELETED = "deleted"
VECTOR = "vector_at"

_KEYS = ("in_source", "in_file", "in_row", "in_text")
_ORDER = ", ".join(_KEYS)
"""The position of an action in the log."""
_PARQUET_POSITION = ("file_index", "file_row_number", "''")


class Request(Struct, frozen=True):
    """The columns that a replay returns for each live file.

    `spark_versions` are the commits whose statistics Spark wrote. `paths`, `modified` and `vectors`
    add columns that few callers need; the order of the rows does not depend on them.
    """

    leaves: tuple[RecordedNumber, ...]
    partitions: tuple[PartitionColumn, ...]
    spark_versions: frozenset[int]
    paths: bool = False
    modified: bool = False
    vectors: bool = False


def live_files(reader: ActionReader, sources: Sequence[ActionSource], request: Request) -> pa.Table:
    """One row per live file: size, partition values, statistics, and the requested columns."""
    try:
        sources = _with_touched(reader, sources)
        commits = [source for source in sources if not source.is_checkpoint]
        adding = [source for source in sources if source.members("add")]
        listed = [source for source in adding if source.listed]
        deletions = any("deletionVector" in source.members("add") for source in adding)
        selects = [
            _Select(source, request, _recorded(reader, source, request), deletions, number)
            for number, source in enumerate(listed)
        ]
        every = " UNION ALL ".join(select.sql(hidden=bool(commits)) for select in selects)
        sql = f"SELECT * EXCLUDE ({_ORDER}) FROM ({every})"
        # DuckDB keeps the order of Parquet rows; JSON rows and the rows of a join have no order.
        if commits or any(source.is_json for source in listed):
            sql += f" ORDER BY {_ORDER}"
        log_bytes = sum(file.size for source in sources for file in source.files)
        return _checked(query.to_arrow(reader.connection, sql, log_bytes))
    except query.failures() as error:
        raise reader.failure(sources, error) from error


def _with_touched(reader: ActionReader, sources: Sequence[ActionSource]) -> Sequence[ActionSource]:
    """Create the table `touched` of the files that commits name, and return the sources.

    If a commit adds a file twice, the sources that are returned number their lines.
    """
    commits = [source for source in sources if not source.is_checkpoint]
    if not commits:
        return sources
    _keep_order(reader, commits)
    reader.connection.execute(_touch(commits))
    _check_named(reader)
    if not _are_repeated(reader, commits):
        return sources
    numbered = [s if s.is_checkpoint else s.line_by_line() for s in sources]
    _keep_order(reader, numbered)
    return numbered


def _keep_order(reader: ActionReader, sources: Sequence[ActionSource]) -> None:
    if any(source.by_lines for source in sources):
        reader.connection.execute("SET threads = 1")


def _touch(commits: Sequence[ActionSource]) -> str:
    """The SQL that creates `touched`: the last moment at which a commit names each file."""
    path = f"coalesce({_decoded('add.path')}, {_decoded('remove.path')})"
    vector = f"coalesce({_vector('add')}, {_vector('remove')}, '')"
    # An `add` without a path is kept, so that `_check_named` reports it.
    named = "coalesce(add.path, remove.path) IS NOT NULL OR add IS NOT NULL"
    every = " UNION ALL ".join(
        f"SELECT {_key(path)} AS path, {vector} AS vector, {source.moment} AS moment, "
        f"add IS NOT NULL AS added FROM {source.relation} WHERE {named}"
        for source in commits
    )
    return (
        "CREATE OR REPLACE TEMP TABLE touched AS SELECT path, vector, max(moment) AS moment, "
        f"count_if(added) AS times FROM ({every}) GROUP BY 1, 2"
    )


def _check_named(reader: ActionReader) -> None:
    rows = reader.connection.execute("SELECT min(moment) FROM touched WHERE path IS NULL")
    ((moment,),) = rows.fetchall()
    if moment is not None:
        raise CorruptFile(f"_delta_log/{moment // LINES:020}.json", "it adds a file without a path")


def _are_repeated(reader: ActionReader, commits: Sequence[ActionSource]) -> bool:
    """Whether a commit adds a file more than once, which PROTOCOL.md forbids."""
    if not _is_any(reader, "SELECT 1 FROM touched WHERE times > 1"):
        return False
    added = " UNION ALL ".join(
        f"SELECT {_key(_decoded('add.path'))} AS path, coalesce({_vector('add')}, '') AS vector, "
        f"{source.moment} AS moment FROM {source.relation} WHERE add.path IS NOT NULL"
        for source in commits
    )
    return _is_any(
        reader, f"SELECT 1 FROM ({added}) GROUP BY path, vector, moment HAVING count(*) > 1"
    )


def _is_any(reader: ActionReader, sql: str) -> bool:
    return bool(reader.connection.execute(f"{sql} LIMIT 1").fetchall())


def _checked(files: pa.Table) -> pa.Table:
    """The same files, if no size is negative: such a size would make every sum wrong."""
    import pyarrow.compute as pc

    least = pc.min(files.column(SIZE)).as_py()
    if least is not None and least < 0:
        raise CorruptFile("_delta_log", f"it has a file of {least} bytes")
    return files


def _recorded(reader: ActionReader, source: ActionSource, request: Request) -> Recorded:
    """How the source records statistics. If every file has typed ones, JSON is not read."""
    source_statistics = recorded(source, request.leaves)
    if not source_statistics.json or not source_statistics.members:
        return source_statistics
    untyped = f"add.path IS NOT NULL AND {source_statistics.members[ROWS]} IS NULL"
    count = reader.rows(source, "count(*) AS files", untyped)[0]["files"]
    return source_statistics if count else replace(source_statistics, json=False)


class _Select(Struct, frozen=True):
    """The query for one source's live files. `deletions`: some source has deletion vectors."""

    source: ActionSource
    request: Request
    recorded: Recorded
    deletions: bool
    number: int

    def sql(self, *, hidden: bool) -> str:
        """The SQL. `hidden`: commits may remove files that an older action added."""
        actions = (
            f"SELECT {', '.join(self._inner())} FROM {self.source.relation} "
            "WHERE add.path IS NOT NULL"
        )
        select = f"SELECT {_ORDER}, {', '.join(self._outer())} FROM ({actions}) AS actions"
        if hidden:
            select += (
                f" LEFT JOIN touched ON touched.path = {_key('actions.path')} "
                "AND touched.vector = actions.vector "
                "WHERE touched.moment IS NULL OR touched.moment <= actions.moment"
            )
        if self.source.by_lines:
            window = "PARTITION BY touched.path, touched.vector ORDER BY line DESC"
            select += f" QUALIFY row_number() OVER ({window}) = 1"
        return f"({select})"

    def _inner(self) -> Iterator[str]:
        members = self.source.members("add")
        has_vector = "deletionVector" in members
        yield f"{self.source.version} AS version"
        yield f"{self.source.moment} AS moment"
        if self.source.by_lines:
            yield "line"
        yield f"{_decoded('add.path')} AS path"
        position = ("moment", "0", "path") if self.source.is_json else _PARQUET_POSITION
        keys = zip((self.number, *position), _KEYS, strict=True)
        yield from (f"{key} AS {name}" for key, name in keys)
        yield "add.size AS size"
        yield f"{'add.modificationTime' if 'modificationTime' in members else 'NULL'} AS modified"
        yield f"{_vector('add') if has_vector else 'NULL'} AS own_vector"
        yield "coalesce(own_vector, '') AS vector"
        yield f"{'add.deletionVector.cardinality' if has_vector else '0'} AS cardinality"
        if self.request.vectors:
            yield f"{_descriptor() if has_vector else 'NULL'} AS descriptor"
        yield from self.recorded.inner()
        for column in self.request.partitions:
            yield from column.inner(self.source)

    def _outer(self) -> Iterator[str]:
        yield f"CAST(size AS BIGINT) AS {SIZE}"
        if self.request.paths:
            yield f"actions.path AS {PATH}"
        if self.request.modified:
            yield f"CAST(modified AS BIGINT) AS {MODIFIED}"
        if self.request.vectors:
            yield f"CAST(descriptor AS {_DESCRIPTOR}) AS {VECTOR}"
        if self.deletions:
            yield f"CAST(coalesce(cardinality, 0) AS BIGINT) AS {DELETED}"
        yield f"{self._by_spark()} AS {BY_SPARK}"
        yield from self.recorded.outer()
        for column in self.request.partitions:
            yield from column.outer()

    def _by_spark(self) -> str:
        """SQL: whether Spark wrote the file. A file with a deletion vector may be older: false."""
        if self.source.is_checkpoint or not self.request.spark_versions:
            return "FALSE"
        versions = ", ".join(str(version) for version in sorted(self.request.spark_versions))
        return f"(actions.version IN ({versions}) AND own_vector IS NULL)"


def _decoded(path: str) -> str:
    """Return SQL that decodes the percent escapes of a path once; other text stays as it is."""
    undone = f"coalesce(TRY(url_decode({path})), {path})"
    return f"CASE WHEN contains({path}, '%') THEN {undone} ELSE {path} END"


def _key(path: str) -> str:
    """SQL of a path by which files are compared: `/a`, `file:/a` and `file:///a` are equal."""
    bare = f"regexp_replace({path}, '^file:/+', '/')"
    return f"CASE WHEN starts_with({path}, 'file:') THEN {bare} ELSE {path} END"


def _vector(action: str) -> str:
    """SQL of a deletion vector's unique id (PROTOCOL.md, Derived Fields); NULL without one."""
    vector = f"{action}.deletionVector"
    return (
        f"({vector}.storageType || {vector}.pathOrInlineDv "
        f"|| coalesce('@' || {vector}.\"offset\", ''))"
    )


_DESCRIPTOR = 'STRUCT(kind VARCHAR, "text" VARCHAR, "start" BIGINT, size BIGINT)'


def _descriptor() -> str:
    """SQL of the place where an added file's deletion vector is stored."""
    vector = "add.deletionVector"
    return (
        f'struct_pack(kind := {vector}.storageType, "text" := {vector}.pathOrInlineDv, '
        f'"start" := {vector}."offset", size := {vector}.sizeInBytes)'
    )
