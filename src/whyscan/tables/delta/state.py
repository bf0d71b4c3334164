"""The state of a table at one version: protocol, schema, properties, clustering, writers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from whyscan.errors import TableError
from whyscan.tables.column_finder import Naming
from whyscan.tables.delta.log import LOG
from whyscan.tables.delta.protocol import Protocol, read_protocol
from whyscan.tables.delta.schema import MALFORMED, DeltaColumn, DeltaSchema, read_schema
from whyscan.tables.json_text import read_json
from whyscan.tree.names import AmbiguousName

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.tables.delta.actions import ActionReader, ActionSource
    from whyscan.tree.nodes import Path

_NEVER_NULL = {
    "protocol": "minReaderVersion",
    "metaData": "id",
    "domainMetadata": "domain",
}
"""The actions that a checkpoint keeps, each with a member that is never NULL."""

_CLUSTERING = "delta.clustering"
_MAPPING_MODE = "delta.columnMapping.mode"
_MOST_PARTITION_COLUMNS = 1000
_WRITES_ITS_FILES = frozenset(
    {
        "CREATE OR REPLACE TABLE AS SELECT",
        "CREATE TABLE AS SELECT",
        "DELETE",
        "MERGE",
        "OPTIMIZE",
        "REPLACE TABLE AS SELECT",
        "STREAMING UPDATE",
        "UPDATE",
        "WRITE",
    }
)
"""Operations that add only files which their own writer wrote; RESTORE and CLONE do not."""


class TableState(Struct, frozen=True):
    """The protocol and metadata of one version.

    `partitioned_by` pairs each partition column with its name in `partitionColumns`.
    `spark_versions` are the commits whose files and statistics Apache Spark wrote.
    """

    protocol: Protocol
    schema: DeltaSchema
    partitioned_by: tuple[tuple[DeltaColumn, str], ...]
    properties: Mapping[str, str]
    clustered_by: tuple[Path, ...]
    spark_versions: frozenset[int]

    @property
    def naming(self) -> Naming:
        """How columns are found in data files."""
        return Naming(by_id=self.schema.mapped and self.properties.get(_MAPPING_MODE) == "id")

    def notes(self) -> tuple[str, ...]:
        """Remarks about the table for the report. They do not change a plan."""
        unknown = self.protocol.unknown_writer_features()
        notes = [f"unknown writer features: {', '.join(unknown)}"] if unknown else []
        clustering = self.clustering()
        return tuple(notes if clustering is None else [*notes, clustering])

    def clustering(self) -> str | None:
        """`clustered by` the columns of liquid clustering; None without it."""
        columns = ", ".join(".".join(path) for path in self.clustered_by)
        return f"clustered by {columns}" if columns else None


class _Actions(Struct, frozen=True):
    """The actions of one kind, each with its version, oldest first."""

    kind: str
    actions: list[tuple[int, Mapping[str, Any]]]

    def newest(self) -> Mapping[str, Any]:
        if not self.actions:
            raise TableError(
                f"the log has no {self.kind} action",
                hint="its first commit or its checkpoint must hold one",
            )
        return self.actions[-1][1]


def read_state(reader: ActionReader, sources: Sequence[ActionSource]) -> TableState:
    """The table's state, from the newest action of each kind."""
    rows = [row for source in reversed(sources) for row in _rows(reader, source)]
    try:
        return _state(rows)
    except MALFORMED as error:
        raise TableError(
            f"the log's description of the table is malformed: {type(error).__name__}",
            hint="look at the protocol and metaData actions of its newest version",
        ) from None


def _state(rows: Sequence[Mapping[str, Any]]) -> TableState:
    kinds = {kind: _Actions(kind, _of_kind(rows, kind)) for kind in (*_NEVER_NULL, "commitInfo")}
    protocol = read_protocol(kinds["protocol"].newest())
    metadata = kinds["metaData"].newest()
    properties = {str(k): str(v) for k, v in (metadata.get("configuration") or {}).items()}
    schema = read_schema(metadata.get("schemaString"), mapped=_is_mapped(protocol, properties))
    return TableState(
        protocol,
        schema,
        tuple(_partition_columns(schema, metadata.get("partitionColumns") or ())),
        properties,
        _clustering(schema, kinds["domainMetadata"].actions),
        frozenset(v for v, commit in kinds["commitInfo"].actions if _is_by_spark(commit)),
    )


def _rows(reader: ActionReader, source: ActionSource) -> Iterator[dict[str, Any]]:
    """Versions with their actions as JSON text.

    Parquet gets one query per kind of action, so that DuckDB can skip row groups.
    """
    if source.is_json:
        groups = [[*_NEVER_NULL, "commitInfo"]]
    else:
        groups = [[kind] for kind in _NEVER_NULL if kind in source.columns]
    for kinds in groups:
        select = ", ".join(f"CAST(to_json({kind}) AS VARCHAR) AS {kind}" for kind in kinds)
        present = " OR ".join(_is_present(source, kind) for kind in kinds)
        yield from reader.rows(source, f"{source.version} AS version, {select}", present)


def _is_present(source: ActionSource, kind: str) -> str:
    return f"{kind} IS NOT NULL" if source.is_json else f"{kind}.{_NEVER_NULL[kind]} IS NOT NULL"


def _of_kind(rows: Sequence[Mapping[str, Any]], kind: str) -> list[tuple[int, Mapping[str, Any]]]:
    parsed = [
        (row["version"], read_json(row[kind], LOG)) for row in rows if row.get(kind) is not None
    ]
    actions = [(version, action) for version, action in parsed if action is not None]
    if not all(isinstance(action, dict) for _, action in actions):
        raise TypeError(f"{kind} is no object")
    return sorted(actions, key=lambda pair: pair[0])


def _is_mapped(protocol: Protocol, properties: Mapping[str, str]) -> bool:
    return protocol.maps_columns and properties.get(_MAPPING_MODE) in {"id", "name"}


def _partition_columns(
    schema: DeltaSchema, names: Sequence[str]
) -> Iterator[tuple[DeltaColumn, str]]:
    if len(names) > _MOST_PARTITION_COLUMNS:
        raise TableError(f"{LOG}: the table is partitioned by {len(names)} columns")
    for name in names:
        try:
            column = schema.find((name,))
        except AmbiguousName:
            raise TableError(
                f"the table is partitioned by {name!r}, which its schema has in several spellings",
                hint="names are compared without regard to case; rename one of the columns",
            ) from None
        if column is None:
            raise TableError(
                f"the table is partitioned by {name!r}, which its schema does not have"
            )
        yield column, name


def _clustering(
    schema: DeltaSchema, domains: Sequence[tuple[int, Mapping[str, Any]]]
) -> tuple[Path, ...]:
    """The columns of liquid clustering. The action has the physical names of the columns."""
    actions = [action for _, action in domains if action.get("domain") == _CLUSTERING]
    if not actions or actions[-1].get("removed"):
        return ()
    try:
        configuration = read_json(actions[-1].get("configuration") or "{}", LOG)
        columns = configuration.get("clusteringColumns") or []
        paths = [tuple(str(part) for part in column) for column in columns]
    except MALFORMED:
        return ()
    logical = {column.physical: path for path, column in schema.columns.items()}
    return tuple(logical.get(column, column) for column in paths)


def _is_by_spark(commit: Mapping[str, Any]) -> bool:
    engine = str(commit.get("engineInfo") or "")
    return engine.startswith("Apache-Spark/") and commit.get("operation") in _WRITES_ITS_FILES
