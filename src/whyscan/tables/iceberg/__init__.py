"""Apache Iceberg: metadata files, manifest lists and manifests, read into batches of containers."""

from whyscan.tables.iceberg.opening import open_iceberg

__all__ = ["metadata", "metadata_location", "open_iceberg", "opening", "snapshot"]
