"""Run inside the TPC's environment: FOLDER SCALE. A Parquet file a table, and the texts."""

import json
import subprocess
import sys
from pathlib import Path

import duckdb
from duckdb_extensions import import_extension

BENCHMARKS = ("tpcds", "tpch")


def main(folder: Path, scale: str) -> None:
    connection = duckdb.connect()
    for name in BENCHMARKS:
        import_extension(name, con=connection)
        connection.load_extension(name)
    texts = {
        name: dict(connection.execute(f"SELECT query_nr, query FROM {name}_queries()").fetchall())
        for name in BENCHMARKS
    }
    (folder / "texts.json").write_text(json.dumps(texts))
    for name in BENCHMARKS:
        (folder / name).mkdir(exist_ok=True)
    connection.execute(f"CALL dsdgen(sf = {scale})")
    for (table,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
        connection.execute(f"COPY {table} TO '{folder}/tpcds/{table}.parquet'")
    tpchgen = Path(sys.executable).with_name("tpchgen-cli")
    subprocess.run(
        [tpchgen, "parquet", "--overwrite", "--quiet", "-s", scale, "-o", folder / "tpch"],
        check=True,
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
