"""Questions for tables of any kind, and a table that is planned in parts without a session."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from msgspec import Struct
from msgspec.structs import replace
from pyspark import cloudpickle

from whyscan.planning.plan.planner import make_plan
from whyscan.planning.plan.request import bind_request
from whyscan.planning.plan.scan_plan import Options
from whyscan.predicate.syntax.session import Session
from whyscan.reports.report import make_report
from whyscan.spark.planning import PartResult, Work, answer, explain_parts, planned_by
from whyscan.statements.explain import explain_statement
from whyscan.statements.sql.table_names import Catalogue
from whyscan.tables.parts import parts
from whyscan.terms import PlanTerms
from whyscan.tree.types import (
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
    TimestampType,
)
from whyscan.tree.zones import zone

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.statements.explain import ExplainOptions
    from whyscan.tables.snapshot import Files, RowGroups, Snapshot
    from whyscan.tree.types import Type


ZOO = Path(__file__).parents[4] / "shared" / "zoo"
_roots = {p.parent for mark in ("_delta_log", "metadata") for p in ZOO.rglob(mark)}
_skipped = pytest.param("", marks=pytest.mark.skip(reason=f"there is no zoo at {ZOO}"))
zoo = sorted(str(root.relative_to(ZOO)) for root in _roots) or [_skipped]


def predicates(snapshot: Snapshot) -> list[str]:
    """Conditions on the first columns: ranges, points, NULLs, functions, ANDs and ORs of them."""
    fields = [f for f in snapshot.schema().fields if _literal(f.type) is not None]
    partitioned = {path[0] for path in snapshot.partition_sources}
    fields.sort(key=lambda field: field.name not in partitioned)
    simple = [
        (f"`{field.name}` >= {_literal(field.type)}", f"`{field.name}` = {_literal(field.type)}")
        for field in fields[:3]
    ]
    if not simple:
        return ["1 = 1"]
    (above, equal), (other, _) = simple[0], simple[-1]
    name = f"`{fields[0].name}`"
    text = f"upper(CAST({name} AS STRING)) LIKE '%1%'"
    return [
        above,
        f"{equal} AND {other}",
        f"{above} OR my_function({name}) = 1",
        f"({equal} OR {other}) AND {name} IS NOT NULL",
        f"({name} IS NULL OR {text}) AND NOT ({equal})",
    ]


def _literal(kind: Type) -> str | None:
    match kind:
        case IntegerType() | DecimalType() | FloatType():
            return "2"
        case StringType():
            return "'b'"
        case DateType():
            return "DATE '2021-06-01'"
        case TimestampType():
            return "TIMESTAMP '2021-06-01 00:00:00'"
        case BooleanType():
            return "true"
        case _:
            return None


def comparable(document: Mapping[str, Any]) -> dict[str, Any]:
    """A report's document without what the run itself cost."""
    return {name: value for name, value in document.items() if name != "metadata"}


def in_one(snapshot: Snapshot, predicate: str, **question: Any) -> dict[str, Any]:
    """The document of one process."""
    columns = question.pop("columns", None)
    bound, options = bind_request(snapshot, predicate, columns, PlanTerms(**question))
    plan = make_plan(snapshot, bound, options)
    report = make_report(plan, verbose=question.get("verbose", False))
    return comparable(report.to_dict())


def in_parts(run: Any, snapshot: Snapshot, predicate: str, **question: Any) -> dict[str, Any]:
    """The document of many, each of which `run` asks."""
    columns = question.pop("columns", None)
    bound, options = bind_request(snapshot, predicate, columns, PlanTerms(**question))
    planned = planned_by(run, snapshot, bound, options)
    report = explain_parts(planned, verbose=question.get("verbose", False))
    return comparable(report.to_dict())


def stated(
    sql: str, tables: Mapping[str, Snapshot], options: ExplainOptions, dialect: str = "spark"
) -> dict[str, Any]:
    """The document of a whole statement, without what the run itself cost."""
    session = Session(dialect)
    document = explain_statement(sql, Catalogue(tables), session, Options(), options).to_dict()
    return comparable_statement(document)


def comparable_statement(document: Mapping[str, Any]) -> dict[str, Any]:
    """The same of a statement."""
    return {
        **comparable(document),
        "scans": [comparable(scan) for scan in document["scans"]],
    }


def in_this_process(
    snapshot: Snapshot, divided: Sequence[Any] | None = None, files_each: int = 1
) -> Any:
    """Every part answers in this process, from pickles, as executors do."""
    pieces = parts(snapshot, files_each) if divided is None else divided
    packed = [pickle.dumps(part) for part in pieces]

    def run(work: Work) -> list[PartResult]:
        sent = cloudpickle.dumps(work)
        return [answer(pickle.loads(sent), number, part) for number, part in enumerate(packed)]

    return run


class SomeFiles(Struct, frozen=True):
    """Of a table without manifests the files at some positions: a part of any size."""

    whole: Any
    first: int
    count: int

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.whole, name)

    def files(self, columns: Any, zone: Any, manifests: Any = None) -> Files:
        files = self.whole.files(columns, zone, manifests)
        at = pa.array(np.arange(self.first, min(self.first + self.count, files.count)))

        def taken(array: Any) -> Any:
            return None if array is None else array.take(at)

        return replace(
            files,
            read_paths=lambda: files.paths.take(at),
            bytes=taken(files.bytes),
            rows=taken(files.rows),
            partition=taken(files.partition),
            containers=files.containers.take(at),
            deleted=taken(files.deleted),
            maybe_deleted=taken(files.maybe_deleted),
            formats=taken(files.formats),
            spec=taken(files.spec),
            # A part counts what is dropped of its own files.
            wrong_counts=files.wrong_counts if self.first == 0 else 0,
        )

    def row_groups(
        self, files: Files, opened: Any, columns: Any, projection: Any, **footers: bool
    ) -> RowGroups:
        del files
        everything = self.whole.files(columns, zone("UTC"))
        there = pa.array(opened.to_numpy() + self.first)
        groups = self.whole.row_groups(everything, there, columns, projection, **footers)
        return replace(groups, opened=pa.array(groups.opened.to_numpy() - self.first))


def sliced(snapshot: Snapshot, each: int) -> list[SomeFiles]:
    """A table without manifests in slices of so many files; the last of each part is empty."""
    utc = zone("UTC")
    return [
        SomeFiles(part, first, each)
        for part in parts(snapshot, 1_000_000)
        for first in range(0, part.files((), utc).count + each, each)
    ]
