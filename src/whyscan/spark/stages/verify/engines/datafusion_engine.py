"""Run predicates on Parquet files with DataFusion, and read its metrics."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from whyscan.spark.stages.verify.engines.engine import EngineAnswer, EngineRefusal, one_line
from whyscan.tables.file_columns import result_type
from whyscan.tables.parquet.snapshot import ParquetSnapshot

if TYPE_CHECKING:
    from whyscan.spark.stages.verify.engines.engine import Target


class DataFusionEngine:
    """A DataFusion context with the table registered as `t`."""

    dialect = "postgres"

    def __init__(self, context: Any) -> None:
        self._context = context

    def ask(self, sql: str) -> EngineAnswer:
        query = f'SELECT count(*) AS "rows" FROM t WHERE ({sql}\n)'  # noqa: S608 - the user's own
        try:
            rows = self._context.sql(query).to_pydict()["rows"][0]
            analysed = self._context.sql(f"EXPLAIN ANALYZE VERBOSE {query}").to_pydict()
        except Exception as error:  # DataFusion raises plain exceptions
            raise EngineRefusal(one_line(error)) from error
        return read_of(rows, "\n".join(analysed["plan"]))


def read_of(rows: int, plan: str) -> EngineAnswer:
    """The files and row groups that the scans of a plan kept; None if the plan has no number.

    Bloom filters are probed after statistics.
    """
    groups = _kept(plan, "row_groups_pruned_bloom_filter")
    return EngineAnswer(
        rows,
        files=_kept(plan, "files_ranges_pruned_statistics"),
        row_groups=_kept(plan, "row_groups_pruned_statistics") if groups is None else groups,
    )


def _kept(plan: str, name: str) -> int | None:
    counts = re.findall(rf"{name}=[^→]* total → ([\d.,]+ ?[KMB]?) matched", plan)
    if not counts or any(count[-1].isalpha() for count in counts):
        # From a thousand on DataFusion rounds: `1.00 K`.
        return None
    return sum(int(count.replace(",", "")) for count in counts)


def open_datafusion(target: Target) -> DataFusionEngine:
    """DataFusion with the files registered as one table."""
    from datafusion import SessionConfig, SessionContext

    snapshot = target.snapshot
    if not isinstance(snapshot, ParquetSnapshot):
        raise EngineRefusal("DataFusion reads Parquet files alone")
    if snapshot.store.folder is None:
        raise EngineRefusal("only files on this machine are asked for")
    config = SessionConfig({"datafusion.execution.time_zone": target.timezone})
    context = SessionContext(config)
    fields = [(f.name, result_type(f.type)) for f in snapshot.partitions.fields]
    try:
        context.register_parquet(
            "t", snapshot.store.folder, table_partition_cols=fields, parquet_pruning=True
        )
    except Exception as error:  # DataFusion raises plain exceptions
        raise EngineRefusal(one_line(error)) from error
    return DataFusionEngine(context)
