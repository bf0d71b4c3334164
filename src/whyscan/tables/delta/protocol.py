"""The protocol of a Delta table: the features that a reader must support."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from whyscan.errors import TableError
from whyscan.tables.counts import is_number

if TYPE_CHECKING:
    from collections.abc import Mapping

NEWEST_READER_VERSION = 3
_COLUMN_MAPPING_VERSION = 2
_FEATURES_VERSION = 3

READER_FEATURES = frozenset(
    {
        "columnMapping",
        "deletionVectors",
        "geospatial",
        "geospatial-preview",
        "timestampNtz",
        "typeWidening",
        "typeWidening-preview",
        "v2Checkpoint",
        "vacuumProtocolCheck",
        "variantShredding",
        "variantShredding-preview",
        "variantType",
        "variantType-preview",
    }
)
"""Reader features that whyscan supports."""

CATALOG_FEATURES = frozenset({"catalogManaged", "catalogOwned", "catalogOwned-preview"})
"""The catalog of such a table decides which commits count; the log alone is not enough."""

WRITER_FEATURES = READER_FEATURES | {
    "allowColumnDefaults",
    "appendOnly",
    "changeDataFeed",
    "checkConstraints",
    "checkpointProtection",
    "checkpointProtection-preview",
    "clustering",
    "collations",
    "collations-preview",
    "domainMetadata",
    "generatedColumns",
    "icebergCompatV1",
    "icebergCompatV2",
    "icebergCompatV3",
    "icebergWriterCompatV1",
    "identityColumns",
    "inCommitTimestamp",
    "inCommitTimestamp-preview",
    "invariants",
    "materializePartitionColumns",
    "rowTracking",
}


class Protocol(Struct, frozen=True):
    """The reader version and the features of a table."""

    reader_version: int
    reader_features: frozenset[str]
    writer_features: frozenset[str]

    @property
    def maps_columns(self) -> bool:
        """Whether columns may have other names in data files than in the schema."""
        return (
            self.reader_version == _COLUMN_MAPPING_VERSION
            or "columnMapping" in self.reader_features
        )

    @property
    def times_commits(self) -> bool:
        """Whether commits record their time, which then counts instead of the file's time."""
        return any(feature.startswith("inCommitTimestamp") for feature in self.writer_features)

    def unknown_writer_features(self) -> tuple[str, ...]:
        """Unknown features that only writers must support."""
        return tuple(sorted(self.writer_features - self.reader_features - WRITER_FEATURES))


def read_protocol(action: Mapping[str, Any]) -> Protocol:
    """Read a protocol action; TableError if it needs a feature that is not supported."""
    version = action.get("minReaderVersion")
    if not is_number(version):
        raise TableError(f"the table's protocol has no reader version: {version!r}")
    if version > NEWEST_READER_VERSION:
        raise TableError(
            f"the table needs Delta reader version {version}",
            hint=f"versions up to {NEWEST_READER_VERSION} are understood",
        )
    named = _features(action, "readerFeatures")
    protocol = Protocol(
        version,
        named if version == _FEATURES_VERSION else frozenset(),
        _features(action, "writerFeatures"),
    )
    _refuse_unknown(protocol)
    return protocol


def _features(action: Mapping[str, Any], kind: str) -> frozenset[str]:
    named = action.get(kind) or []
    if not isinstance(named, list) or not all(isinstance(name, str) for name in named):
        raise TableError(f"the table's protocol has no list of {kind}")
    return frozenset(named)


def _refuse_unknown(protocol: Protocol) -> None:
    if protocol.reader_features & CATALOG_FEATURES:
        raise TableError(
            "the table is managed by a catalog: its log alone does not say what was committed",
            hint="open it by its catalog's name",
        )
    unknown = sorted(protocol.reader_features - READER_FEATURES)
    if unknown:
        raise TableError(
            f"the table needs a reader that knows {', '.join(unknown)}",
            hint="features known here: " + ", ".join(sorted(READER_FEATURES)),
        )
