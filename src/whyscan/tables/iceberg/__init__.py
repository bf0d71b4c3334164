"""Apache Iceberg: metadata files, manifest lists and manifests, read into batches of containers."""

__all__ = ["metadata", "metadata_location", "opening", "snapshot"]
