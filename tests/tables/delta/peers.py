"""What other readers keep of a Delta table for a predicate: paths as the log decodes them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import delta_explain
from deltalake import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession


def relative(uri: str, folder: str) -> str:
    """A data file's path below the table's folder."""
    return os.path.relpath(uri.removeprefix("file:"), folder)


class DeltaOnSpark:
    """The files of the scan that Spark's optimiser leaves."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        self.frame: DataFrame = spark.read.format("delta").load(folder)

    def kept(self, sql: str) -> set[str]:
        plan = self.frame.where(sql)._jdf.queryExecution().optimizedPlan()
        return {unquote(path) for leaf in _leaves(plan) for path in _scanned(leaf)}


def _leaves(plan: Any) -> Iterator[Any]:
    children = plan.children()
    if not children.size():
        yield plan
    for at in range(children.size()):
        yield from _leaves(children.apply(at))


def _scanned(leaf: Any) -> Iterator[str]:
    if leaf.getClass().getSimpleName() == "LocalRelation":
        return  # nothing can match: there is no scan
    files = leaf.relation().location().preparedScan().files()
    for at in range(files.size()):
        yield files.apply(at).path()


class DeltaRs:
    """Pruning by SQL; a path in its answer is encoded as in the log."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.table = DeltaTable(folder)

    def kept(self, sql: str) -> set[str]:
        uris = self.table.file_uris(file_pruning_predicate=sql)
        return {relative(path, self.folder) for path in uris}


class DeltaExplain:
    """Its report in JSON, one process a predicate."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def kept(self, sql: str) -> set[str]:
        report = delta_explain.explain(self.folder, where=sql, verbose=True)
        return {unquote(file["path"]) for file in report.files if file["kept"]}
