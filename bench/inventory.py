"""The inventory of a Delta table of 1,000,000 files, against Delta on Spark that lists it cold.

And the inventory of many tables of which one has changed, against that of all.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from delta_tables import checkpointed
from measure import Ratio, compare, seconds
from spark_session import session

from whyscan.spark import write_inventory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

MANY, FEW = 1_000_000, 10_000
TABLES, FILES_OF_EACH = 200, 1_000
# What the driver does, without Spark: its peak in MB. DuckDB and Arrow are loaded either way.
DRIVER = """
import re, sys
from whyscan.spark.stages.inventory.opening import Opener, sources_of
from whyscan.spark.stages.inventory.reading import InventoryDepth
list(Opener(InventoryDepth.FILES).open_all(sources_of([sys.argv[1]], None)))
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) / 1024)
"""


def measurements(folder: Path) -> Iterator[Ratio]:
    """Both on the same warm session; Delta forgets the table before each round, as we do."""
    many, few = (checkpointed(folder, count) for count in (MANY, FEW))
    yield Ratio("Inventory, driver memory", "10,000 files", _peak(many), _peak(few), 1.25, "MB")
    with session() as spark, tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch, "inventory")

        def ours() -> int:
            shutil.rmtree(out, ignore_errors=True)
            (line,) = write_inventory(spark, [str(many)], str(out)).tables
            assert line.row is not None
            return line.row.files

        warm = write_inventory(spark, [str(few)], str(Path(scratch, "warm")))
        assert not warm.failed
        assert _listed(spark, few) == FEW
        assert (ours(), _listed(spark, many)) == (MANY, MANY)
        yield compare(
            "Inventory, 1,000,000 files, kept as Parquet",
            "Delta on Spark, listed from cold",
            1 / 3,
            ours,
            lambda: _listed(spark, many),
        )
        yield _again(spark, folder, Path(scratch))


def _again(spark: SparkSession, folder: Path, scratch: Path) -> Ratio:
    """A second run, for which one of the tables has a new commit."""
    source = checkpointed(folder, FILES_OF_EACH)
    tables = {f"t{at}": str(scratch / "tables" / f"t{at}") for at in range(TABLES)}
    for table in tables.values():
        shutil.copytree(source, table)

    def written() -> list[str]:
        states = [
            line.state for line in write_inventory(spark, tables, str(scratch / "all")).tables
        ]
        return sorted(set(states), key=states.count)

    states: list[list[str]] = []
    first = seconds(lambda: states.append(written()))
    (Path(tables["t0"]) / "_delta_log" / f"{2:020}.json").write_text(
        '{"commitInfo": {"operation": "WRITE"}}\n'
    )
    again = seconds(lambda: states.append(written()))
    assert states == [["read"], ["read", "unchanged"]]
    return Ratio(f"Inventory, {TABLES} tables, 1 has changed", "all of them", again, first, 1 / 2)


def _listed(spark: SparkSession, table: Path) -> int:
    """Every file as Delta plans a scan of it, with nothing of the table remembered."""
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # noqa: SLF001 - its own test hook
    frame = spark.read.format("delta").load(str(table))
    plan = frame._jdf.queryExecution().optimizedPlan()  # noqa: SLF001 - as in delta_spark.py
    files: int = plan.collectLeaves().head().relation().location().preparedScan().files().size()
    return files


def _peak(table: Path) -> float:
    run = [sys.executable, "-c", DRIVER, str(table)]
    return float(subprocess.run(run, capture_output=True, text=True, check=True).stdout)
