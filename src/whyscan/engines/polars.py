"""A table as a LazyFrame of Polars, which hands over a predicate, columns and a number of rows.

Polars does not filter again what a source returns, and takes a number of rows before it filters.
So the source applies both itself, in this order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.engines.polars_expressions import read_polars_filter
from whyscan.engines.provider import Provider, required

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl
    import pyarrow as pa

    from whyscan.tables.snapshot import Snapshot


def lazy_frame(snapshot: Snapshot, *, explain: bool) -> pl.LazyFrame:
    """A LazyFrame of a snapshot; its attribute `provider` has the plans of its scans."""
    required("polars", "Polars")
    return PolarsProvider(snapshot, explain=explain).frame()


class PolarsProvider(Provider):
    """A snapshot that Polars scans."""

    def frame(self) -> pl.LazyFrame:
        """Return the LazyFrame; each time it is collected, the scan is planned anew."""
        import polars as pl
        from polars.io.plugins import register_io_source

        schema = pl.DataFrame(self.schema.empty_table()).schema
        frame = register_io_source(self.batches, schema=schema, is_pure=True)
        frame.provider = self  # type: ignore[attr-defined]
        return frame

    def batches(
        self,
        with_columns: list[str] | None,
        predicate: pl.Expr | None,
        n_rows: int | None,
        batch_size: int | None,  # noqa: ARG002 - a hint, and batches of files have their own size
    ) -> Iterator[pl.DataFrame]:
        """Yield the rows of one scan, with the parameters that Polars passes."""
        import polars as pl

        condition = None
        if predicate is not None and n_rows is None:
            condition = read_polars_filter(predicate, self.snapshot.schema())
        columns = _read_columns(with_columns, predicate)
        read = [self.smallest_column] if columns == [] else columns
        scan = self.plan("Polars", condition, with_columns, read_columns=read, limit=n_rows)
        shaped = _shaped(with_columns, predicate if n_rows is None else None)
        if n_rows is None:
            yield from self.read(scan, read, shaped)
        else:
            whole = self.read(scan, read, pl.DataFrame)
            yield from _first(whole, n_rows, with_columns, predicate)


def _read_columns(with_columns: list[str] | None, predicate: pl.Expr | None) -> list[str] | None:
    """The columns to read: those of the result and those of the predicate; None means all."""
    if with_columns is None:
        return None
    named = [] if predicate is None else predicate.meta.root_names()
    return list(dict.fromkeys((*with_columns, *named)))


def _shaped(
    with_columns: list[str] | None, predicate: pl.Expr | None
) -> Callable[[pa.RecordBatch], pl.DataFrame]:
    """What makes of a batch of the files a frame: filtered by Polars, then its columns."""
    import polars as pl

    def shape(batch: pa.RecordBatch) -> pl.DataFrame:
        frame = pl.DataFrame(batch)
        if predicate is not None:
            frame = frame.filter(predicate)
        return frame if with_columns is None else frame.select(with_columns)

    return shape


def _first(
    frames: Iterator[pl.DataFrame],
    rows: int,
    with_columns: list[str] | None,
    predicate: pl.Expr | None,
) -> Iterator[pl.DataFrame]:
    """The first rows of all, and of them those that the predicate keeps."""
    left = rows
    for whole in frames:
        if left <= 0:
            return
        frame = whole.head(left)
        left -= frame.height
        if predicate is not None:
            frame = frame.filter(predicate)
        yield frame if with_columns is None else frame.select(with_columns)
