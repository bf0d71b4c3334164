from __future__ import annotations

import pytest

from spark.stages.audit.lake import write_delta, write_hive, write_iceberg


@pytest.fixture(scope="package")
def lake(tmp_path_factory):
    """Three tables of three formats, by name."""
    folder = tmp_path_factory.mktemp("lake")
    write_delta(folder / "sales", 4)
    write_iceberg(folder / "events", 4)
    write_hive(folder / "visits", 4)
    return {name: str(folder / name) for name in ("sales", "events", "visits")}
