"""What an engine reads a table through: one snapshot, planned anew for each scan of the engine.

A provider plans with the filter that an engine hands over, reads a superset of the rows, and lets
the engine's own expression choose among them. So an engine gets the rows that its own semantics
choose, and metadata decides only which files and row groups are opened.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa
from msgspec import Struct

from whyscan.engines.pushed_filters import as_predicate
from whyscan.errors import UsageError, WhyscanError, limited, shortened
from whyscan.planning.plan.planner import make_plan
from whyscan.planning.plan.scan_plan import Depth, Options, ScanPlan
from whyscan.planning.rows.limit import cut_to_limit
from whyscan.reports.words import counted, size
from whyscan.scan.concurrent import read_at_once
from whyscan.scan.plan_portions import PORTION_BYTES, portions, unfiltered, whole_plan
from whyscan.scan.projection import result_columns
from whyscan.tables.storage.store import Meter
from whyscan.tree.lazy import lazy
from whyscan.tree.types import FloatType
from whyscan.tree.zones import zone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import ModuleType

    from whyscan.reports.report import Report
    from whyscan.scan.plan_portions import Portion
    from whyscan.tables.snapshot import Snapshot
    from whyscan.tree.nodes import Expression, Predicate

T = TypeVar("T")

_PORTIONS_AT_LEAST = 8
"""A plan is read in about as many portions, if it has enough bytes."""


class EngineScan(Struct, eq=False):
    """One scan that an engine asked for: its columns, its condition and the plan of it.

    `columns` None means all columns; an engine that reads fragments names them later. `where` is
    the part of the filter as whyscan reads it, None without a filter. `meter` counts what is read
    of the data files.
    """

    engine: str
    columns: tuple[str, ...] | None
    where: str | None
    plan: ScanPlan
    meter: Meter

    def __str__(self) -> str:
        columns = "all columns" if self.columns is None else counted(len(self.columns), "column")
        where = "" if self.where is None else f" WHERE {shortened(self.where)}"
        summary = self.plan.summary
        return (
            f"{self.engine} asked for {columns}{where}; {summary.files_kept:,} of"
            f" {counted(summary.files_total, 'file')}, {counted(self.meter.requests, 'request')},"
            f" {size(self.meter.bytes)}"
        )

    def __repr__(self) -> str:
        return f"<EngineScan: {self}>"

    @property
    def report(self) -> Report:
        """The whole report of the plan: why each file was read or skipped."""
        from whyscan.reports.masked_records import masked
        from whyscan.reports.report import make_report

        return masked(make_report(self.plan, verbose=False))


class Provider:
    """A snapshot that engines scan, and the plans of their scans.

    It reads one snapshot for its whole life. `last_plan` is the plan of the newest scan. With
    `explain`, `scans` has all of them, and printing the provider prints a line for each.
    """

    def __init__(self, snapshot: Snapshot, *, explain: bool = False) -> None:
        self.snapshot = snapshot
        self.explain = explain
        self.scans: list[EngineScan] = []

    @property
    def last_plan(self) -> ScanPlan | None:
        """The plan of the newest scan; None before the first one."""
        return self.scans[-1].plan if self.scans else None

    @lazy
    def schema(self) -> pa.Schema:
        """The columns of the table, in Arrow's types."""
        utc, snapshot = zone("UTC"), self.snapshot
        nothing = pa.array([], pa.int64())
        with limited():
            closed = None if snapshot.manifests() is None else nothing
            files = snapshot.files((), utc, closed)
            return result_columns(snapshot.reading(files, nothing, utc).columns, None).schema

    def plan(
        self,
        engine: str,
        condition: Expression | None,
        columns: Sequence[str] | None,
        *,
        read_columns: Sequence[str] | None,
        limit: int | None = None,
    ) -> EngineScan:
        """Plan a scan.

        `columns` are those that the engine asks for, and `read_columns` those that are read: with
        those of the filter. None means all. `limit` is a number of rows that suffices.
        """
        chosen = None if read_columns is None else tuple((name,) for name in read_columns)
        predicate = as_predicate(condition)
        with limited():
            # Without a condition no footer says more than that all row groups are read.
            depth = Depth.FILES if condition is None and limit is None else Depth.AUTO
            plan = make_plan(self.snapshot, predicate, Options(depth, projection=chosen))
            # Engines may order floats otherwise, so no row of such a condition is sure to match.
            if limit is not None and not _has_float(predicate):
                plan = cut_to_limit(plan, limit)
        named = None if columns is None else tuple(columns)
        where = None if condition is None else predicate.text
        scan = EngineScan(engine, named, where, plan, Meter())
        self.scans = [*self.scans, scan] if self.explain else [scan]
        return scan

    def portions(self, scan: EngineScan, columns: Sequence[str] | None) -> list[Portion]:
        """The files of a plan in portions, with all live rows of the row groups that are read."""
        chosen = None if columns is None else [(name,) for name in columns]
        everything = whole_plan(scan.plan, chosen)
        evidence = scan.plan.evidence
        return [
            unfiltered(portion, scan.meter)
            for portion in portions(everything, evidence, PORTION_BYTES, _PORTIONS_AT_LEAST)
        ]

    def read(
        self,
        scan: EngineScan,
        columns: Sequence[str] | None,
        shaped: Callable[[pa.RecordBatch], T],
    ) -> Iterator[T]:
        """The rows of a plan in batches, each as the engine's own filter leaves it."""
        with limited():
            yield from read_at_once(self.portions(scan, columns), shaped)

    @property
    def smallest_column(self) -> str:
        """A column that is cheap to read, for an engine that needs only the number of rows."""
        if not len(self.schema):
            raise UsageError("the table has no column to read")
        return str(min(self.schema, key=lambda field: _bits(field.type)).name)

    def __str__(self) -> str:
        lines = [str(scan) for scan in self.scans]
        return "\n".join(lines or [f"no engine has scanned {shortened(self.snapshot.uri)} yet"])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {shortened(self.snapshot.uri)!r}>"


def _has_float(predicate: Predicate) -> bool:
    return any(isinstance(column.type, FloatType) for column in predicate.columns())


_WIDEST = 1 << 20


def _bits(kind: pa.DataType) -> int:
    try:
        return int(kind.bit_width)
    except ValueError:
        return _WIDEST


def required(module: str, engine: str) -> ModuleType:
    """The module of an engine; a missing one is an error of one line that names the extra."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        if error.name != module:
            raise
        raise MissingEngine(
            f"{engine} is not installed", hint=f"pip install {_INSTALL[module]}"
        ) from None


_INSTALL = {
    "polars": "'whyscan[engines]'",
    "duckdb": "'whyscan[engines]'",
    "datafusion": "'whyscan[engines]'",
    "daft": "daft; it needs PyArrow before 26, so an environment of its own",
}


class MissingEngine(WhyscanError):
    """The package of an engine is not installed."""


PYARROW, DATAFUSION = "PyArrow", "DataFusion"
_ENGINES = {"duckdb": "DuckDB", "polars": "Polars", "datafusion": DATAFUSION, "daft": "Daft"}
_OWN = {"whyscan", "pyarrow"}


def calling_engine() -> str:
    """The engine whose Python code called, PyArrow if it is none of them.

    Engines that take a PyArrow dataset do not say who they are. It matters because SQL engines
    and PyArrow have different rules for NaN and NULL.
    """
    frame = sys._getframe(1)  # noqa: SLF001 - the documented way to the code that calls
    while (package := str(frame.f_globals.get("__name__")).partition(".")[0]) in _OWN:
        if frame.f_back is None:
            break
        frame = frame.f_back
    return _ENGINES.get(package, PYARROW)
