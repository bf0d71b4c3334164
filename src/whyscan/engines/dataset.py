"""A table as a PyArrow dataset, which DuckDB, DataFusion and Polars scan as one of their own.

An engine passes columns and a filter, and expects only rows that the filter accepts. The filter may
use columns that the engine did not ask for. So each batch is filtered with the engine's own
expression first, and then reduced to the columns.
"""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from msgspec import Struct

from whyscan.engines.arrow_expressions import (
    Meaning,
    arrow_nodes,
    read_arrow_filter,
    references_of,
)
from whyscan.engines.arrow_meaning import BatchFilter, batch_filter
from whyscan.engines.provider import (
    DATAFUSION,
    PYARROW,
    EngineScan,
    Provider,
    calling_engine,
)
from whyscan.errors import UsageError
from whyscan.scan.reader import read_portion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from whyscan.scan.plan_portions import Portion
    from whyscan.tables.snapshot import Snapshot
    from whyscan.tree.nodes import Expression

    Columns = Sequence[str] | Mapping[str, pc.Expression] | None


class TableDataset(Provider, ds.Dataset):  # type: ignore[misc]
    """A snapshot as a PyArrow dataset. Every scan of it is planned, and reads only its plan.

    `base` is a filter of every scan. A filter means what it means to the engine that calls.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        *,
        explain: bool = False,
        engine: str | None = None,
        base: pc.Expression | None = None,
    ) -> None:
        Provider.__init__(self, snapshot, explain=explain)
        self._engine = engine
        self._base = base

    def scanner(
        self, columns: Columns = None, filter: pc.Expression | None = None, **options: Any
    ) -> TableScanner:
        """Return a scanner of these columns of the rows for which the filter is TRUE.

        `options` are those of PyArrow, such as `batch_size`; others than this one have no effect.
        """
        question = self._question(columns, filter, options.get("batch_size"))
        return TableScanner(self, question, None)

    def get_fragments(self, filter: pc.Expression | None = None) -> Iterator[TableFragment]:
        """Yield the files of the plan in portions, which an engine scans at the same time."""
        question = self._question(None, filter, None)
        scan = question.planned()
        for portion in self.portions(scan, None):
            yield TableFragment(self, scan, portion)

    def _question(
        self, columns: Columns, filter: pc.Expression | None, batch_size: int | None
    ) -> Question:
        engine = self._engine or calling_engine()
        # DataFusion passes a condition that it has folded to FALSE as a value.
        is_value = isinstance(filter, pa.Scalar)
        whole = pc.scalar(filter) if is_value else filter
        parts = [part for part in (self._base, whole) if part is not None]
        both = reduce(and_, parts) if parts else None
        return Question(self, engine, columns, both, batch_size)

    @property
    def partition_expression(self) -> pc.Expression:
        """TRUE: which rows the files of the table may have is planned for each scan."""
        return pc.scalar(value=True)

    def filter(self, expression: pc.Expression) -> TableDataset:
        """Return the dataset with a filter that every scan applies."""
        both = expression if self._base is None else self._base & expression
        return TableDataset(self.snapshot, explain=self.explain, engine=self._engine, base=both)

    def to_table(self, columns: Columns = None, filter: Any = None, **options: Any) -> pa.Table:
        """Read the rows for which the filter is TRUE into one Arrow table."""
        return self.scanner(columns, filter, **options).to_table()

    def to_batches(
        self, columns: Columns = None, filter: Any = None, **options: Any
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows for which the filter is TRUE in batches."""
        return self.scanner(columns, filter, **options).to_batches()

    def head(
        self, num_rows: int, columns: Columns = None, filter: Any = None, **options: Any
    ) -> pa.Table:
        """Read so many rows, from as few files as surely have them."""
        return self.scanner(columns, filter, **options).head(num_rows)

    def take(
        self, indices: Any, columns: Columns = None, filter: Any = None, **options: Any
    ) -> pa.Table:
        """Read the rows at these positions of all rows for which the filter is TRUE."""
        return self.scanner(columns, filter, **options).take(indices)

    def count_rows(self, filter: pc.Expression | None = None, **options: Any) -> int:
        """Count the rows for which the filter is TRUE."""
        return self.scanner([], filter, **options).count_rows()

    def sort_by(self, sorting: Any, **options: Any) -> ds.InMemoryDataset:
        """Return a dataset in memory with the rows in this order."""
        return ds.InMemoryDataset(self.to_table()).sort_by(sorting, **options)

    def join(self, *arguments: Any, **options: Any) -> ds.InMemoryDataset:
        """Return a dataset in memory with the rows joined; see `pyarrow.dataset.Dataset.join`."""
        return ds.InMemoryDataset(self.to_table()).join(*arguments, **options)

    def join_asof(self, *arguments: Any, **options: Any) -> ds.InMemoryDataset:
        """Return a dataset in memory with the rows joined to the nearest ones of another."""
        return ds.InMemoryDataset(self.to_table()).join_asof(*arguments, **options)

    def replace_schema(self, schema: pa.Schema) -> NoReturn:  # noqa: ARG002
        """Raise: the columns are those of the snapshot."""
        raise UsageError("the schema of a table cannot be replaced", hint="name columns to read")

    def __reduce__(self) -> NoReturn:
        """Raise: a snapshot stays in its process."""
        raise TypeError("a dataset of whyscan stays in its process; open the table in the other")


_MEANINGS = {PYARROW: Meaning.PYARROW, DATAFUSION: Meaning.SIGNED_NAN}


class Question(Struct, frozen=True, eq=False):
    """What an engine asks of a dataset: columns of the rows for which a filter is TRUE.

    `columns` may be expressions by name. The filter is applied as the engine means it.
    """

    dataset: TableDataset
    engine: str
    columns: Columns
    filter: pc.Expression | None
    batch_size: int | None

    @property
    def meaning(self) -> Meaning:
        """What the engine means by its filter."""
        return _MEANINGS.get(self.engine, Meaning.SQL)

    @property
    def condition(self) -> Expression | None:
        """The filter as the planner reads it."""
        if self.filter is None:
            return None
        return read_arrow_filter(self.filter, self.dataset.snapshot.schema(), self.meaning)

    @property
    def applied(self) -> BatchFilter | None:
        """The filter as it is applied to batches."""
        if self.filter is None:
            return None
        return batch_filter(self.filter, self.dataset.schema, self.meaning)

    @property
    def named(self) -> list[str] | None:
        """The columns of the result, and those that its expressions need; None means all."""
        if self.columns is None:
            return None
        if not isinstance(self.columns, dict):
            return list(self.columns)
        return self._references(self.columns.values())

    @property
    def read_columns(self) -> list[str] | None:
        """The columns that are read: those of the result and those of the filter."""
        if self.named is None:
            return None
        of_filter = [] if self.filter is None else self._references([self.filter])
        return list(dict.fromkeys((*self.named, *of_filter))) or [self.dataset.smallest_column]

    def _references(self, expressions: Any) -> list[str]:
        names = (
            names[0]
            for expression in expressions
            for names in references_of(arrow_nodes(expression))
        )
        return list(dict.fromkeys(names))

    def planned(self, limit: int | None = None) -> EngineScan:
        return self.dataset.plan(
            self.engine,
            self.condition,
            self.named,
            read_columns=self.read_columns,
            limit=limit,
        )

    def shaped(self) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
        """What makes of a batch of the files a batch of the result."""
        applied, named = self.applied, self.named

        def shape(batch: pa.RecordBatch) -> pa.RecordBatch:
            if applied is not None:
                batch = applied.filtered(batch)
            return batch if named is None else batch.select(named)

        return shape


class TableScanner(ds.Scanner):  # type: ignore[misc]
    """The scanner of a question: each call of it reads the plan anew.

    `portion` is the part of the table that is read, None for the files of a plan of its own.
    """

    def __init__(self, dataset: TableDataset, question: Question, portion: Portion | None) -> None:
        self._dataset = dataset
        self._question = question
        self._portion = portion

    @property
    def dataset_schema(self) -> pa.Schema:
        """The columns of the table."""
        return self._dataset.schema

    @property
    def projected_schema(self) -> pa.Schema:
        """The columns of the result."""
        columns = self._question.columns
        if isinstance(columns, dict):
            empty = self._dataset.schema.empty_table()
            return ds.InMemoryDataset(empty).scanner(columns=columns).projected_schema
        if columns is None:
            return self._dataset.schema
        return pa.schema([self._dataset.schema.field(name) for name in columns])

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in batches, in the order of the table's files."""
        return self._batches(None)

    def _batches(self, limit: int | None) -> Iterator[pa.RecordBatch]:
        batches, size = self._planned_batches(limit), self._question.batch_size
        if isinstance(self._question.columns, dict):
            batches = self._computed(batches)
        for batch in batches:
            step = size or max(batch.num_rows, 1)
            for start in range(0, batch.num_rows, step):
                yield batch.slice(start, step)

    def _planned_batches(self, limit: int | None) -> Iterator[pa.RecordBatch]:
        shaped = self._question.shaped()
        if self._portion is not None:
            # The engine reads several fragments at the same time by itself.
            yield from (shaped(batch) for batch in read_portion(self._portion))
            return
        scan = self._question.planned(limit)
        yield from self._dataset.read(scan, self._question.read_columns, shaped)

    def _computed(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches with columns that are expressions."""
        for batch in batches:
            table = ds.InMemoryDataset(batch).to_table(columns=self._question.columns)
            yield from table.to_batches()

    def to_reader(self) -> pa.RecordBatchReader:
        """Return the rows as a stream."""
        return pa.RecordBatchReader.from_batches(self.projected_schema, self.to_batches())

    def to_table(self) -> pa.Table:
        """Read all rows into one Arrow table."""
        return self.to_reader().read_all()

    def scan_batches(self) -> Iterator[ds.TaggedRecordBatch]:
        """Yield the batches; PyArrow tags them with fragments, which a plan does not have."""
        for batch in self.to_batches():
            yield ds.TaggedRecordBatch(batch, None)

    def count_rows(self) -> int:
        """Count the rows."""
        return sum(batch.num_rows for batch in self.to_batches())

    def head(self, num_rows: int) -> pa.Table:
        """Read so many rows, from as few files as surely have them."""
        chosen, left = [], num_rows
        if left > 0:
            for batch in self._batches(num_rows):
                chosen.append(batch.slice(0, left))
                left -= batch.num_rows
                if left <= 0:
                    break
        return pa.Table.from_batches(chosen, self.projected_schema)

    def take(self, indices: Any) -> pa.Table:
        """Read the rows at these positions."""
        return self.to_table().take(indices)


class TableFragment(ds.Fragment):  # type: ignore[misc]
    """Some files of a plan, which an engine scans by itself."""

    def __init__(self, dataset: TableDataset, scan: EngineScan, portion: Portion) -> None:
        self._dataset = dataset
        self._scan = scan
        self._portion = portion

    @property
    def physical_schema(self) -> pa.Schema:
        """The columns of the table."""
        return self._dataset.schema

    @property
    def partition_expression(self) -> pc.Expression:
        """TRUE: the plan has decided which files are in the fragment."""
        return pc.scalar(value=True)

    def scanner(
        self,
        schema: pa.Schema | None = None,  # noqa: ARG002 - PyArrow's
        columns: Columns = None,
        filter: pc.Expression | None = None,
        **options: Any,
    ) -> TableScanner:
        """Return a scanner of these files."""
        engine = self._scan.engine
        question = Question(self._dataset, engine, columns, filter, options.get("batch_size"))
        read = question.read_columns
        self._scan.columns = None if question.named is None else tuple(question.named)
        chosen = self._portion.only(None if read is None else [(name,) for name in read])
        return TableScanner(self._dataset, question, chosen)

    def to_batches(self, schema: pa.Schema | None = None, **terms: Any) -> Iterator[pa.RecordBatch]:
        """Yield the rows in batches."""
        return self.scanner(schema, **terms).to_batches()

    def to_table(self, schema: pa.Schema | None = None, **terms: Any) -> pa.Table:
        """Read the rows into one Arrow table."""
        return self.scanner(schema, **terms).to_table()

    def head(self, num_rows: int, **terms: Any) -> pa.Table:
        """Read so many rows."""
        return self.scanner(**terms).head(num_rows)

    def take(self, indices: Any, **terms: Any) -> pa.Table:
        """Read the rows at these positions."""
        return self.scanner(**terms).take(indices)

    def count_rows(self, **terms: Any) -> int:
        """Count the rows."""
        return self.scanner(columns=[], **terms).count_rows()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self._portion.reading.files):,} files>"
