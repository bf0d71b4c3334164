"""Run predicates on Delta tables with delta-rs, and read the metrics of its DataFusion."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from whyscan.spark.stages.verify.engines.datafusion_engine import read_of
from whyscan.spark.stages.verify.engines.engine import EngineAnswer, EngineRefusal, one_line

if TYPE_CHECKING:
    from whyscan.spark.stages.verify.engines.engine import Target


class DeltaRsEngine:
    """A query builder with the table registered as `t`."""

    dialect = "postgres"

    def __init__(self, builder: Any) -> None:
        self._builder = builder

    def ask(self, sql: str) -> EngineAnswer:
        """The rows of a condition, and the files and row groups of the scan's metrics."""
        import pyarrow as pa

        query = f'SELECT count(*) AS "rows" FROM t WHERE ({sql}\n)'  # noqa: S608 - the user's own
        try:
            rows = pa.table(self._builder.execute(query))["rows"][0].as_py()
            analysed = pa.table(self._builder.execute(f"EXPLAIN ANALYZE VERBOSE {query}"))
        except Exception as error:  # delta-rs raises plain exceptions
            raise EngineRefusal(one_line(error)) from error
        return read_of(rows, "\n".join(analysed["plan"].to_pylist()))


def delta_rs_table(target: Target) -> Any:
    """The table of delta-rs; EngineRefusal if delta-rs is missing or does not read the table."""
    if find_spec("deltalake") is None:
        raise EngineRefusal("delta-rs is not installed")
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        return DeltaTable(target.snapshot.uri, version=target.snapshot.version)
    except (DeltaError, OSError) as error:
        raise EngineRefusal(one_line(error)) from error


def open_delta_rs(target: Target) -> DeltaRsEngine:
    """The table in a query builder."""
    table = delta_rs_table(target)
    from deltalake import QueryBuilder

    return DeltaRsEngine(QueryBuilder().register("t", table))
