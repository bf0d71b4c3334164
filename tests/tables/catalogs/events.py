"""One table, written through any catalog of PyIceberg's, and a question about it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pyarrow as pa
from pyiceberg.catalog import load_catalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, NestedField, StringType

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table

QUESTION = "country = 'DE' AND age > 40"
SCHEMA = Schema(
    NestedField(1, "country", StringType(), required=False),
    NestedField(2, "age", LongType(), required=False),
)
BY_COUNTRY = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "country"))
ROWS = (("DE", 10), ("DE", 50), ("FR", 50), ("DE", 70))


def catalog(name: str, **properties: str) -> Catalog:
    """PyIceberg's own, to write with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_catalog(name, **properties)


def write(made: Catalog, *parts: str) -> Table:
    """A file and a snapshot for each of the rows."""
    for end in range(1, len(parts)):
        made.create_namespace_if_not_exists(parts[:end])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = made.create_table(parts, SCHEMA, partition_spec=BY_COUNTRY)
        for country, age in ROWS:
            table.append(pa.table({"country": [country], "age": pa.array([age], pa.int64())}))
    return table
