"""Run predicates with Polars, which says what it reads on the standard error of the process."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import contextmanager
from importlib.util import find_spec
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa

from whyscan.spark.stages.verify.engines.engine import EngineAnswer, EngineRefusal, one_line
from whyscan.spark.stages.verify.engines.typed_filters import typed_filter
from whyscan.tables.iceberg.snapshot import IcebergSnapshot
from whyscan.tables.parquet.snapshot import ParquetSnapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from whyscan.spark.stages.verify.engines.engine import Target

SOURCES = re.compile(r"\[MultiScanTaskInit\]: (\d+) sources")
GROUPS = re.compile(r"Predicate pushdown: reading (\d+) / \d+ row groups")
STANDARD_ERROR = 2


class PolarsWords:
    """The words of Polars' expressions."""

    functions: Mapping[str, Callable[..., Any]] = {
        "year": lambda value: value.dt.year(),
        "month": lambda value: value.dt.month(),
        "day": lambda value: value.dt.day(),
        "quarter": lambda value: value.dt.quarter(),
        "hour": lambda value: value.dt.hour(),
        "upper": lambda value: value.str.to_uppercase(),
        "lower": lambda value: value.str.to_lowercase(),
        "trim": lambda value: value.str.strip_chars(),
        "reverse": lambda value: value.str.reverse(),
        "length": lambda value: value.str.len_chars(),
        "startswith": lambda value, text: value.str.starts_with(text),
        "endswith": lambda value, text: value.str.ends_with(text),
        "contains": lambda value, text: value.str.contains(text, literal=True),
        "abs": lambda value: value.abs(),
        "floor": lambda value: value.floor(),
        "ceil": lambda value: value.ceil(),
        "negative": lambda value: -value,
    }

    def column(self, path: Sequence[str]) -> Any:
        """A column, and fields of structs below it."""
        import polars as pl

        value = pl.col(path[0])
        for name in path[1:]:
            value = value.struct.field(name)
        return value

    def literal(self, value: pa.Scalar) -> Any:
        """A literal of the value's type."""
        import polars as pl

        series = _series(pa.array([value], value.type))
        return pl.lit(series[0], dtype=series.dtype)

    def listed(self, operand: Any, values: pa.Array) -> Any:
        """`is_in`."""
        return operand.is_in(_series(values))

    def is_null(self, operand: Any) -> Any:
        """`is_null`."""
        return operand.is_null()

    def like(self, operand: Any, pattern: str, *, ignore_case: bool) -> Any:
        """What users write for a pattern: the start, the end, or a regular expression."""
        if ignore_case or "_" in pattern or "%" in pattern.strip("%"):
            text = re.escape(pattern).replace("%", ".*").replace("_", ".")
            return operand.str.contains(f"{'(?i)' if ignore_case else ''}^{text}$")
        head, tail = pattern.endswith("%"), pattern.startswith("%")
        text = pattern.strip("%")
        if not (head or tail):
            return operand.str.contains(f"^{re.escape(text)}$")
        if head and tail:
            return operand.str.contains(text, literal=True)
        return operand.str.starts_with(text) if head else operand.str.ends_with(text)

    def cast(self, operand: Any, kind: pa.DataType) -> Any:
        """`cast`."""
        return operand.cast(_series(pa.array([], kind)).dtype)

    def coalesce(self, operands: Sequence[Any]) -> Any:
        """`coalesce`."""
        import polars as pl

        return pl.coalesce(operands)


def _series(values: pa.Array) -> Any:
    import polars as pl

    return pl.Series(values)


class PolarsEngine:
    """A lazy frame of the table."""

    dialect = "spark"

    def __init__(self, frame: Any, target: Target) -> None:
        self._frame = frame
        self._target = target

    def ask(self, sql: str) -> EngineAnswer:
        """The rows of a condition, and the files and row groups of Polars' own lines."""
        import polars as pl

        schema = self._target.snapshot.schema()
        condition = typed_filter(sql, schema, self._target.timezone, PolarsWords())
        try:
            frame, text = polars_lines(self._frame.filter(condition).select(pl.len()))
        except Exception as error:  # Polars and its Rust side raise many kinds
            raise EngineRefusal(one_line(error)) from error
        rows = frame.item()
        return _read(rows, text, by_footers=self._by_footers)

    @property
    def _by_footers(self) -> bool:
        return isinstance(self._target.snapshot, ParquetSnapshot)


def polars_lines(frame: Any) -> tuple[Any, str]:
    """The rows of a lazy frame, and what Polars writes about reading them."""
    import polars as pl

    with tempfile.TemporaryFile("w+") as lines:
        with pl.Config(verbose=True), _standard_error_in(lines):
            rows = frame.collect()
        lines.seek(0)
        return rows, lines.read()


def _read(rows: int, lines: str, *, by_footers: bool) -> EngineAnswer:
    """The files that were opened, or of plain Parquet those of which something was read.

    Polars names no row groups where the condition is decided by partitions; then it reads all.
    """
    sources = sum(map(int, SOURCES.findall(lines)))
    groups = list(map(int, GROUPS.findall(lines)))
    if not sources:
        return EngineAnswer(rows, files=0, row_groups=0)
    files = sum(count > 0 for count in groups) if by_footers and groups else sources
    return EngineAnswer(
        rows, files=files, row_groups=sum(groups) if len(groups) == sources else None
    )


@contextmanager
def _standard_error_in(file: IO[str]) -> Iterator[None]:
    """Everything that the process writes on its standard error, in a file for a while."""
    kept = os.dup(STANDARD_ERROR)
    os.dup2(file.fileno(), STANDARD_ERROR)
    try:
        yield
    finally:
        os.dup2(kept, STANDARD_ERROR)
        os.close(kept)


def open_polars(target: Target) -> PolarsEngine:
    """The lazy frame of the table's format; EngineRefusal if Polars is not installed."""
    if find_spec("polars") is None:
        raise EngineRefusal("Polars is not installed")
    import polars as pl

    snapshot = target.snapshot
    if isinstance(snapshot, ParquetSnapshot):
        hive = snapshot.format == "hive"
        frame = pl.scan_parquet(list(target.paths), hive_partitioning=hive)
    elif isinstance(snapshot, IcebergSnapshot):
        if snapshot.opened.places.moved:
            raise EngineRefusal("the table was moved, and Polars follows the paths that it records")
        frame = pl.scan_iceberg(snapshot.metadata.path, snapshot_id=snapshot.version)
    else:
        frame = pl.scan_delta(snapshot.uri, version=snapshot.version)
    return PolarsEngine(frame, target)
