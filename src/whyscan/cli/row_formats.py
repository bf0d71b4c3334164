"""Writers of rows as Parquet, Arrow or CSV, batch by batch."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROWS = 1 << 20
_BYTES = 1 << 27


class Writer(Protocol):
    """An object that writes batches."""

    def write(self, batch: pa.RecordBatch) -> None: ...


@contextmanager
def open_writer(form: str, file: Any, schema: pa.Schema) -> Iterator[Writer]:
    """Open a writer of the format; the file is complete when the writer closes."""
    match form:
        case "parquet":
            import pyarrow.parquet as pq

            with pq.ParquetWriter(file, schema) as parquet:
                gathered = _RowGroupWriter(parquet, schema)
                yield gathered
                gathered.flush()
        case "arrow":
            with pa.ipc.new_stream(file, schema) as arrow:
                yield arrow
        case _:
            from pyarrow import csv

            text = pa.schema([(field.name, _text_type(field.type)) for field in schema])
            with csv.CSVWriter(file, text) as writer:
                yield _CsvTextWriter(writer, text)


class _RowGroupWriter:
    """A Parquet writer that gathers batches into row groups of a good size."""

    def __init__(self, writer: Any, schema: pa.Schema) -> None:
        self._writer, self._schema = writer, schema
        self._batches: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        self._batches.append(batch)
        self._rows += batch.num_rows
        self._bytes += batch.nbytes
        if self._rows >= _ROWS or self._bytes >= _BYTES:
            self.flush()

    def flush(self) -> None:
        if self._batches:
            self._writer.write_table(pa.Table.from_batches(self._batches, self._schema))
        self._batches, self._rows, self._bytes = [], 0, 0


class _CsvTextWriter:
    """A CSV writer: nested values are JSON, bytes are hexadecimal digits."""

    def __init__(self, writer: Any, schema: pa.Schema) -> None:
        self._writer, self._schema = writer, schema

    def write(self, batch: pa.RecordBatch) -> None:
        texts = [_as_text(c) if _needs_text(c.type) else c for c in batch.columns]
        self._writer.write(pa.RecordBatch.from_arrays(texts, schema=self._schema))


def _needs_text(kind: pa.DataType) -> bool:
    """Return whether CSV cannot write values of this type."""
    return bool(
        pa.types.is_nested(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or isinstance(kind, pa.BaseExtensionType)
    )


def _text_type(kind: pa.DataType) -> pa.DataType:
    return pa.string() if _needs_text(kind) else kind


def _as_text(column: pa.Array) -> pa.Array:
    return pa.array([_value_text(value) for value in column.to_pylist()], pa.string())


def _value_text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, list | dict):
        return json.dumps(value, default=_value_text, ensure_ascii=False)
    return value.hex() if isinstance(value, bytes) else str(value)
