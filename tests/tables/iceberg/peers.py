"""What others plan of an Iceberg table: its own library on Spark, and PyIceberg."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyiceberg.table import StaticTable
from pyspark.errors import IllegalArgumentException

if TYPE_CHECKING:
    from tables.iceberg.spark_lakes import Lake


@dataclass(frozen=True)
class Planned:
    """The data files that a reader goes to, and how many manifests it opens to find them."""

    files: frozenset[str]
    manifests: int | None = None


@dataclass(frozen=True)
class OnSpark:
    """`planFiles` of what Spark makes of a WHERE clause."""

    lake: Lake

    @cached_property
    def _table(self) -> Any:
        return self.lake.java

    def plan(self, sql: str) -> Planned | None:
        """None where Spark hands Iceberg no filter for the clause."""
        expression = self._converted(sql)
        if expression is None:
            return None
        reporter = self.lake.spark._jvm.org.apache.iceberg.metrics.InMemoryMetricsReporter()
        scan = self._table.newScan().filter(expression).metricsReporter(reporter)
        tasks = (scan if self.lake.ref is None else scan.useRef(self.lake.ref)).planFiles()
        paths, each = set(), tasks.iterator()
        while each.hasNext():
            paths.add(each.next().file().location())
        tasks.close()
        opened = reporter.scanReport().scanMetrics().scannedDataManifests().value()
        return Planned(frozenset(paths), opened)

    def _converted(self, sql: str) -> Any:
        jvm, spark = self.lake.spark._jvm, self.lake.spark._jsparkSession
        convert = jvm.org.apache.spark.sql.execution.datasources.SparkExpressionConverter
        try:
            return convert.convertToIcebergExpression(
                convert.collectResolvedSparkExpression(spark, self.lake.selected_name, sql)
            )
        except IllegalArgumentException as error:
            assert re.search("Cannot (convert|translate) Spark", str(error))  # noqa: PT017 - no other
            return None


@dataclass(frozen=True)
class InPython:
    """`plan_files` of the same metadata file."""

    lake: Lake

    @cached_property
    def _table(self) -> StaticTable:
        return StaticTable.from_metadata(str(self.lake.folder))

    def plan(self, expression: Any) -> Planned | None:
        """None where PyIceberg fails: on a NULL partition value, on a tag's own column names, on
        equality deletes."""
        try:
            return self._plan(expression)
        except (TypeError, ValueError) as error:
            expected_errors = "NoneType|Could not find field|does not yet support equality deletes"
            assert re.search(expected_errors, str(error))  # noqa: PT017 - no other
            return None

    def _plan(self, expression: Any) -> Planned:
        ref = self.lake.ref
        at = None if ref is None else self._table.snapshot_by_name(ref).snapshot_id
        tasks = self._table.scan(row_filter=expression, snapshot_id=at).plan_files()
        return Planned(frozenset(task.file.file_path for task in tasks))
