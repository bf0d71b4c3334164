"""Apache Iceberg: metadata files, manifest lists and manifests, read into batches of containers."""
