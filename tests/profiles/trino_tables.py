"""The tables of the matrix in a running Trino, which reads them from a folder of this machine.

`WHYSCAN_PROFILES_TRINO=http://user@host:8080,/folder make profiles ONLY=trino`: the folder is
empty, and the `local.location` of the catalogs `delta`, `hive` and `iceberg`, which have
`fs.native-local.enabled` and may register tables.
"""

from __future__ import annotations

import os
from pathlib import Path

from whyscan.spark.stages.verify.engines.trino import TrinoEngine

ADDRESS = "WHYSCAN_PROFILES_TRINO"
PLACES = {
    "delta": "delta/s/t",
    "hive": "hive/s/hive",
    "parquet": "hive/s/parquet",
    "iceberg": "iceberg/s/iceberg",
    "iceberg-transforms": "iceberg/s/transforms",
}
"""By table of the matrix: catalog, schema and table."""
_COLUMNS = (
    "i bigint, n integer, v bigint, s varchar, f double, x decimal(10, 2), d date, ts timestamp, "
    "w timestamp, ok boolean, z varchar, g varchar, st row(a bigint, b varchar)"
)


def server_and_folder() -> tuple[str, Path]:
    """The address of the server and the folder that it reads."""
    server, _, folder = os.environ[ADDRESS].partition(",")
    return server, Path(folder)


def register(server: str, folder: Path, table: str, address: Path) -> str:
    """Tell Trino of a table below its folder; the address of the table in Trino."""
    catalog, _, name = PLACES[table].split("/")
    trino = TrinoEngine(server.replace("//whyscan@", "//"), "whyscan", "", "UTC")
    trino.run(f"CREATE SCHEMA IF NOT EXISTS {catalog}.s")
    place = f"local:///{address.relative_to(folder)}"
    if catalog == "delta":
        trino.run(f"CALL delta.system.register_table('s', '{name}', '{place}')")
    elif catalog == "iceberg":
        # Metadata has absolute paths, which Trino looks up below its folder.
        inside = folder / str(folder).lstrip("/")
        inside.parent.mkdir(parents=True, exist_ok=True)
        if not inside.exists():
            inside.symlink_to(folder)
        newest = max(one.name for one in (address / "metadata").glob("*.metadata.json"))
        procedure = f"iceberg.system.register_table('s', '{name}', 'file://{address}', '{newest}')"
        trino.run(f"CALL {procedure}")
    else:
        partitioned = table == "hive"
        options = ", partitioned_by = ARRAY['p', 'q']" if partitioned else ""
        columns = f"{_COLUMNS}, p varchar, q integer"
        if not partitioned:
            columns = f"p varchar, q integer, {_COLUMNS}"
        trino.run(
            f"CREATE TABLE hive.s.{name} ({columns}) WITH "
            f"(external_location = '{place}', format = 'PARQUET'{options})"
        )
        if partitioned:
            trino.run(f"CALL hive.system.sync_partition_metadata('s', '{name}', 'FULL')")
    return f"{server}/{PLACES[table]}"
