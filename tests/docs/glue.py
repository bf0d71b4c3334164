"""The Glue of the documentation: `aws.shop.visits`, whose folders are not what is registered."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import boto3
import pyarrow as pa
import pyarrow.parquet as pq
from moto.server import ThreadedMotoServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

REGION, KEY, SECRET = "eu-west-1", "me", "secret"
PARQUET = "org.apache.hadoop.hive.ql.io.parquet"
REGISTERED = ("2024-01-01", "2024-01-02", "2024-01-05")
WRITTEN = ("2024-01-01", "2024-01-02", "2024-01-03")


@contextmanager
def glue_of(lake: Path, environment: pytest.MonkeyPatch) -> Iterator[None]:
    """A Glue that moto serves, configured as the catalog `aws`, until the block ends."""
    for day in WRITTEN:
        folder = lake / "visits" / f"day={day}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"id": range(1000)}), folder / "part-0.parquet")
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    try:
        _register(lake / "visits", f"http://{host}:{port}")
        properties = {"TYPE": "glue", "GLUE__ENDPOINT": f"http://{host}:{port}"}
        keys = {"REGION": REGION, "ACCESS_KEY_ID": KEY, "SECRET_ACCESS_KEY": SECRET}
        properties |= {f"GLUE__{name}": value for name, value in keys.items()}
        for name, value in properties.items():
            environment.setenv(f"PYICEBERG_CATALOG__AWS__{name}", value)
        yield
    finally:
        server.stop()


def _register(folder: Path, endpoint: str) -> None:
    keys = {"aws_access_key_id": KEY, "aws_secret_access_key": SECRET}
    glue = boto3.client("glue", endpoint_url=endpoint, region_name=REGION, **keys)

    def storage_of(location: Path) -> dict:
        return {
            "Location": f"file://{location}",
            "InputFormat": f"{PARQUET}.MapredParquetInputFormat",
            "SerdeInfo": {"SerializationLibrary": f"{PARQUET}.serde.ParquetHiveSerDe"},
            "Columns": [{"Name": "id", "Type": "bigint"}],
        }

    glue.create_database(DatabaseInput={"Name": "shop"})
    table = {"Name": "visits", "StorageDescriptor": storage_of(folder), "Parameters": {}}
    table["PartitionKeys"] = [{"Name": "day", "Type": "date"}]
    glue.create_table(DatabaseName="shop", TableInput=table)
    for day in REGISTERED:
        partition = {"Values": [day], "StorageDescriptor": storage_of(folder / f"day={day}")}
        glue.create_partition(DatabaseName="shop", TableName="visits", PartitionInput=partition)
