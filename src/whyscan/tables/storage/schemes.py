"""The schemes of addresses that whyscan reads, and hints for those that it does not read."""

from __future__ import annotations

from whyscan.errors import StorageError

SUPPORTED = frozenset(
    {
        "abfs",
        "abfss",
        "adl",
        "az",
        "azure",
        "file",
        "gcs",
        "gs",
        "http",
        "https",
        "s3",
        "s3a",
        "s3n",
        "wasb",
        "wasbs",
    }
)
_HADOOP = (
    "a mount of it is read as a folder, and so is a copy; "
    "a gateway that speaks S3 is read with s3:// and --option endpoint=URL"
)
_SPEAKS_S3 = "it speaks S3: s3://BUCKET/PATH with --option endpoint=URL"
_HINTS = {
    **dict.fromkeys(("hdfs", "webhdfs", "swebhdfs", "viewfs", "har", "maprfs"), _HADOOP),
    **dict.fromkeys(("o3fs", "ofs", "alluxio", "jfs", "ceph", "gfs", "nfs", "smb"), _HADOOP),
    **dict.fromkeys(("oss", "cos", "cosn", "obs", "bos", "tos", "ks3", "r2", "b2"), _SPEAKS_S3),
    **dict.fromkeys(("minio", "wasabi", "swift"), _SPEAKS_S3),
    "dbfs": "on Databricks the same folder is at /dbfs/; elsewhere name the cloud's own address",
    **dict.fromkeys(("ftp", "ftps", "sftp", "scp", "ssh"), "copy the table, or serve it by HTTP"),
    "jdbc": "a database is no lake: name the folder of a table",
}
_KINDS = "local folders, s3://, gs://, az://, abfss:// and https:// are read"


def require_supported(scheme: str) -> None:
    """Refuse a scheme that has no client."""
    if scheme.lower() not in SUPPORTED:
        raise unsupported(scheme.lower())


def unsupported(scheme: str) -> StorageError:
    """The error about a scheme that has no client, with a hint what to do."""
    mark = "/" if scheme == "dbfs" else "" if scheme == "jdbc" else "//"
    return StorageError(
        f"whyscan has no client for {scheme}:{mark} storage", hint=_HINTS.get(scheme, _KINDS)
    )


def miswritten(scheme: str, rest: str) -> StorageError | None:
    """The error about `scheme:rest` with fewer than two slashes; None for an unknown scheme.

    Hadoop writes `hdfs:/folder`, and Databricks `dbfs:/folder`.
    """
    if scheme in _HINTS:
        return unsupported(scheme)
    if scheme not in SUPPORTED:
        return None
    return StorageError(
        f"there is no {scheme}:{rest}", hint=f"did you mean {scheme}://{rest.lstrip('/')}?"
    )
