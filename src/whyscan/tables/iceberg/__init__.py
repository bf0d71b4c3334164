"""Apache Iceberg: metadata files, manifest lists and manifests, read into batches of containers."""

from whyscan.tables.iceberg.locate import is_iceberg
from whyscan.tables.iceberg.opening import open_iceberg

__all__ = ["is_iceberg", "open_iceberg"]
