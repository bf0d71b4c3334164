"""A warm Spark session with Delta and Iceberg, as the tests have it."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import sparkling

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


@contextmanager
def session() -> Iterator[SparkSession]:
    """Until the block ends."""
    with tempfile.TemporaryDirectory() as folder:
        spark = sparkling.start(Path(folder))
        try:
            yield spark
        finally:
            spark.stop()
