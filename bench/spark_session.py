"""A warm Spark session with Delta and Iceberg, as the tests have it."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from support import spark_sessions
from whyscan.spark.sessions import JAVA_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


@contextmanager
def session() -> Iterator[SparkSession]:
    """Until the block ends. Java is set as it comes, for the peers' sake: they run in it."""
    with tempfile.TemporaryDirectory() as folder:
        spark = spark_sessions.start(Path(folder), {JAVA_OPTIONS: ""})
        try:
            yield spark
        finally:
            spark.stop()
