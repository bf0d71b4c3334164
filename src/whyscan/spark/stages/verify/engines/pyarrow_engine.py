"""Run predicates with PyArrow's datasets: of Parquet files, and of Delta tables by delta-rs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.spark.stages.verify.engines.engine import EngineAnswer, EngineRefusal, one_line
from whyscan.spark.stages.verify.engines.typed_filters import typed_filter
from whyscan.tables.parquet.snapshot import ParquetSnapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from whyscan.spark.stages.verify.engines.engine import Target


class PyArrowWords:
    """The words of PyArrow's compute functions."""

    functions: Mapping[str, Callable[..., pc.Expression]] = {
        "year": pc.year,
        "month": pc.month,
        "day": pc.day,
        "quarter": pc.quarter,
        "hour": pc.hour,
        "upper": pc.utf8_upper,
        "lower": pc.utf8_lower,
        "trim": pc.utf8_trim_whitespace,
        "reverse": pc.utf8_reverse,
        "length": pc.utf8_length,
        "abs": pc.abs,
        "floor": pc.floor,
        "ceil": pc.ceil,
        "negative": pc.negate,
    }

    def column(self, path: Sequence[str]) -> pc.Expression:
        """A field reference."""
        return pc.field(*path)

    def literal(self, value: pa.Scalar) -> pc.Expression:
        """A scalar."""
        return pc.scalar(value)

    def listed(self, operand: pc.Expression, values: pa.Array) -> pc.Expression:
        """`is_in`."""
        return operand.isin(values)

    def is_null(self, operand: pc.Expression) -> pc.Expression:
        """`is_null`."""
        return operand.is_null()

    def like(self, operand: pc.Expression, pattern: str, *, ignore_case: bool) -> pc.Expression:
        """`match_like`."""
        return pc.match_like(operand, pattern, ignore_case=ignore_case)

    def cast(self, operand: pc.Expression, kind: pa.DataType) -> pc.Expression:
        """`cast`, which fails where it loses something."""
        return operand.cast(kind)

    def coalesce(self, operands: Sequence[pc.Expression]) -> pc.Expression:
        """`coalesce`."""
        return pc.coalesce(*operands)


class PyArrowEngine:
    """A dataset of the table."""

    dialect = "spark"

    def __init__(self, dataset: Any, target: Target) -> None:
        self._dataset = dataset
        self._target = target

    def ask(self, sql: str) -> EngineAnswer:
        """The fragments and row groups that are left after their guarantees and statistics."""
        schema = self._target.snapshot.schema()
        condition = typed_filter(sql, schema, self._target.timezone, PyArrowWords())
        try:
            groups = [
                part
                for fragment in self._dataset.get_fragments(condition)
                for part in fragment.split_by_row_group(condition, schema=self._dataset.schema)
            ]
            rows = self._dataset.count_rows(filter=condition)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise EngineRefusal(one_line(error)) from error
        return EngineAnswer(rows, files=len({part.path for part in groups}), row_groups=len(groups))


def open_pyarrow(target: Target) -> PyArrowEngine:
    """A dataset of the table's files; for Delta that of delta-rs."""
    import pyarrow.dataset as ds

    snapshot = target.snapshot
    if not isinstance(snapshot, ParquetSnapshot):
        from whyscan.spark.stages.verify.engines.delta_rs_engine import delta_rs_table

        return PyArrowEngine(delta_rs_table(target).to_pyarrow_dataset(), target)
    if snapshot.store.folder is None:
        raise EngineRefusal("only files on this machine are asked for")
    partitions = "hive" if snapshot.format == "hive" else None
    return PyArrowEngine(ds.dataset(snapshot.store.folder, partitioning=partitions), target)
