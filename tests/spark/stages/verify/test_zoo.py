"""Tables that others wrote: no row is lost, and their statistics hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spark.stages.verify.proofs import verified
from support.formats import text

pytestmark = pytest.mark.spark

ZOO = Path(__file__).parents[5] / "shared" / "zoo"

# One of each kind: deletes of every sort, mapped names, types of every kind, other partitions.
TABLES = {
    "delta/table-with-dv-small": ("value > 3", "value < 9 OR value IS NULL"),
    "delta/data-skipping-basic-stats-all-types-columnmapping-id/delta": ("as_int = 0",),
    "delta/partitioned_with_materialize_feature": ("true",),
    "delta/dv-with-columnmapping/delta": ("true",),
    "iceberg/add_columns_with_defaults_in_struct__default.db__"
    "add_columns_with_defaults_in_struct": ("a.col_long > 1 OR a IS NULL",),
    "delta/data-reader-array-primitives/delta": ("as_array_int IS NULL",),
    "iceberg/equality_delete_cross_partition__warehouse__ns__t": ("true",),
}


@pytest.mark.skipif(not ZOO.exists(), reason=f"there is no zoo at {ZOO}")
@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_the_zoo_holds(spark, name):
    assert name in json.loads((ZOO / "tables.json").read_text())

    verification = verified(spark, ZOO / name, *TABLES[name], select=["*"])

    assert verification.exit_code == 0, text(verification)
    assert verification.tables[0].rows > 0
