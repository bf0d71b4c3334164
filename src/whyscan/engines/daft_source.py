"""The data source that Daft reads: one task for each portion of the plan."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
from daft.expressions.pyarrow_visitor import _PyArrowExpressionVisitor
from daft.io.source import DataSource, DataSourceTask
from daft.recordbatch import RecordBatch
from daft.schema import Schema

from whyscan.engines.arrow_expressions import Meaning, read_arrow_filter
from whyscan.scan.reader import read_portion

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from daft.io.pushdowns import Pushdowns

    from whyscan.engines.provider import Provider
    from whyscan.scan.plan_portions import Portion


class TableSource(DataSource):  # type: ignore[misc]
    """A snapshot that Daft scans."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    @property
    def name(self) -> str:
        """The name that Daft shows."""
        return "whyscan"

    @property
    def schema(self) -> Schema:
        """The columns of the table."""
        return Schema.from_pyarrow_schema(self._provider.schema)

    async def get_tasks(self, pushdowns: Pushdowns) -> AsyncIterator[PortionTask]:
        """Yield a task for each portion of the plan. Daft filters what they return once more."""
        provider, condition, columns = self._provider, None, pushdowns.columns
        if pushdowns.filters is not None:
            expression = _Visitor().visit(pushdowns.filters)
            condition = read_arrow_filter(expression, provider.snapshot.schema(), Meaning.SQL)
        read_columns = columns
        if columns is not None:
            named = _columns_of_filter(pushdowns, provider)
            read_columns = list(dict.fromkeys((*columns, *named))) or [provider.smallest_column]
        scan = provider.plan(
            "Daft", condition, columns, read_columns=read_columns, limit=pushdowns.limit
        )
        for portion in provider.portions(scan, read_columns):
            yield PortionTask(portion)


def _columns_of_filter(pushdowns: Pushdowns, provider: Provider) -> Iterable[str]:
    """The columns that the filter names; all columns where Daft cannot say them."""
    try:
        named: Iterable[str] = pushdowns.filter_required_column_names()
    except AttributeError:
        # Daft 0.7 does not visit the values of `IN`.
        return list(provider.schema.names)
    return named


class PortionTask(DataSourceTask):  # type: ignore[misc]
    """Some files of a plan, which one task of Daft reads."""

    def __init__(self, portion: Portion) -> None:
        self._portion = portion

    @property
    def schema(self) -> Schema:
        """The columns that the task reads."""
        return Schema.from_pyarrow_schema(self._portion.result_columns.schema)

    async def read(self) -> AsyncIterator[RecordBatch]:
        """Yield the rows in batches, read outside of the loop of events."""
        batches = read_portion(self._portion)
        while (batch := await asyncio.to_thread(next, batches, None)) is not None:
            yield RecordBatch.from_arrow_record_batches([batch], batch.schema)


class _Visitor(_PyArrowExpressionVisitor):  # type: ignore[misc]
    """Daft's own translation to Arrow.

    What it cannot translate becomes a column that the table does not have, so it is not
    interpreted.
    """

    def visit(self, expression: Any) -> pc.Expression:
        try:
            return super().visit(expression)
        except Exception:  # noqa: BLE001 - of whatever kind, such a part of a filter prunes nothing
            return pc.field(f"({expression})")
