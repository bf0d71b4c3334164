"""Read the scans of a DataFrame from Spark's optimised plan: tables, conditions and columns.

Spark has a condition in a Filter directly above a relation, or inside an Iceberg scan. Conditions
whose values are only known at run time (subqueries, dynamic pruning) are reported as not applied.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from whyscan.statements.records import Stayed
from whyscan.statements.stay_reasons import StayReason

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# A Java object that Python sees through Py4J.
Java = Any

# Relations without files: rows in the plan, or rows of a scan elsewhere in the plan.
_NO_TABLES = frozenset({"LocalRelation", "Range", "OneRowRelation", "CTERelationRef"})
_CHOOSING = frozenset({"pathglobfilter", "recursivefilelookup", "modifiedbefore", "modifiedafter"})
_DELTA = "org.apache.spark.sql.delta."
_DELTA_INDEXES = frozenset({"PreparedDeltaFileIndex", "TahoeLogFileIndex"})
_TEXT = re.compile(r"('(?:[^'\\]|\\.)*')")


class SparkTable(Struct, frozen=True):
    """A table in Spark's plan: its places and its version; `name` is for people.

    `as_files` is True if Spark reads the files of a folder and no log or metadata of a table.
    """

    name: str
    places: tuple[str, ...]
    partition_types: dict[str, str]
    version: int | None = None
    snapshot: int | None = None
    as_files: bool = False


class PlanScan(Struct, frozen=True):
    """One scan. `conditions` are Spark SQL with unqualified column names.

    `pushed` are the expressions inside an Iceberg scan. `above` are conditions that the scan does
    not apply.
    """

    table: SparkTable
    columns: tuple[str, ...]
    conditions: tuple[str, ...] = ()
    above: tuple[Stayed, ...] = ()
    pushed: tuple[Java, ...] = ()


class PlanScans(Struct, frozen=True):
    """The scans of a plan in order, and one line for each relation that cannot be explained."""

    scans: tuple[PlanScan, ...]
    others: tuple[str, ...]


class _Unexplained(Exception):
    """The reason why a relation cannot be planned."""


class _Above(Struct, frozen=True):
    """The conjuncts of the Filters directly above a node, and the columns that are used of it.

    `columns` None means all columns.
    """

    columns: frozenset[str] | None = None
    conditions: tuple[str, ...] = ()
    stayed: tuple[Stayed, ...] = ()


def scans_of_frame(frame: Java) -> PlanScans:
    """The scans of a Java DataFrame."""
    scans: list[PlanScan] = []
    others: list[str] = []
    for scan in _walk(frame.queryExecution().optimizedPlan(), _Above()):
        if isinstance(scan, PlanScan):
            scans.append(scan)
        else:
            others.append(scan)
    return PlanScans(tuple(scans), tuple(dict.fromkeys(others)))


def _walk(plan: Java, above: _Above) -> Iterator[PlanScan | str]:
    kind = _kind(plan)
    children = _sequence(plan.children())
    if not children:
        yield from _leaf(plan, kind, above)
        return
    below = _Above()
    if kind == "Filter":
        below = _filtered(plan, above)
    elif kind in {"Project", "Aggregate"}:
        below = _Above(frozenset(_names(plan.references())))
    for child in children:
        yield from _walk(child, below)
    if plan.subqueries().size():
        for expression in _sequence(plan.expressions()):
            for inner in _subplans(expression):
                yield from _walk(inner, _Above())


def _leaf(plan: Java, kind: str, above: _Above) -> Iterator[PlanScan | str]:
    if kind in _NO_TABLES:
        return
    try:
        if kind == "LogicalRelation":
            yield _scan(plan, _file_table(plan), above)
        elif kind == "DataSourceV2ScanRelation":
            yield replace(_scan(plan, _iceberg_table(plan), above), pushed=_pushed(plan.scan()))
        else:
            yield f"{_one_line(plan)}: {kind} is no table of files"
    except _Unexplained as reason:
        yield str(reason)


def _scan(plan: Java, table: SparkTable, above: _Above) -> PlanScan:
    output = _names(plan.output())
    chosen = [name for name in output if above.columns is None or name in above.columns]
    return PlanScan(table, tuple(chosen), above.conditions, above.stayed)


def _filtered(plan: Java, above: _Above) -> _Above:
    """Add the conjuncts of a Filter, and the columns that they use."""
    conditions, stayed = list(above.conditions), list(above.stayed)
    with_plans = bool(plan.subqueries().size())
    for part in _conjuncts(plan.condition()):
        text = _unqualified(part)
        if with_plans and any(_kind(node) in _SUBQUERIES for node in _tree(part)):
            stayed.append(Stayed(text, StayReason.AT_RUN_TIME))
        else:
            conditions.append(text)
    columns = above.columns
    if columns is not None:
        columns |= frozenset(_names(plan.condition().references()))
    return _Above(columns, tuple(conditions), tuple(stayed))


_DYNAMIC = "DynamicPruningSubquery"
_SUBQUERIES = frozenset({_DYNAMIC, "ScalarSubquery", "Exists", "InSubquery", "ListQuery"})


def _subplans(expression: Java) -> Iterator[Java]:
    """The plans of subqueries, without dynamic pruning: its plan is in the main plan too."""
    for node in _tree(expression):
        if _kind(node) in _SUBQUERIES - {_DYNAMIC, "InSubquery"}:
            yield node.plan()


def _tree(expression: Java) -> Iterator[Java]:
    yield expression
    if _kind(expression) != _DYNAMIC:
        for child in _sequence(expression.children()):
            yield from _tree(child)


def _conjuncts(condition: Java) -> Iterator[Java]:
    if _kind(condition) == "And":
        yield from _conjuncts(condition.left())
        yield from _conjuncts(condition.right())
    else:
        yield condition


def _unqualified(expression: Java) -> str:
    """The SQL of an expression with unqualified column names; Spark's text has table names."""
    names = {
        attribute.sql(): attribute.name()
        for attribute in _sequence(expression.references().toSeq())
    }
    pieces = _TEXT.split(expression.sql())
    for written in sorted(names, key=len, reverse=True):
        pattern = re.compile(rf"(?<![\w`.]){re.escape(written)}(?![\w`])")
        quoted = f"`{names[written].replace('`', '``')}`"
        # Pieces with odd numbers are text in quotes.
        pieces[::2] = [pattern.sub(lambda _, q=quoted: q, piece) for piece in pieces[::2]]
    return "".join(pieces)


def _file_table(plan: Java) -> SparkTable:
    """The Delta table or the Parquet files of a relation."""
    relation = plan.relation()
    if _kind(relation) != "HadoopFsRelation":
        raise _Unexplained(f"{_one_line(plan)}: {_kind(relation)} is no table of files")
    index = relation.location()
    if index.getClass().getName().startswith(_DELTA):
        if _kind(index) not in _DELTA_INDEXES:
            raise _Unexplained(f"{_place(index.path())}: only some of its files ({_kind(index)})")
        place = _place(index.path())
        return SparkTable(place, (place,), {}, version=index.version())
    places = tuple(_place(path) for path in _sequence(index.rootPaths()))
    name = ", ".join(places)
    if (written := relation.fileFormat().toString()) != "Parquet":
        raise _Unexplained(f"{name}: files of the format {written}")
    options = {key.lower() for key in _keys(relation.options())}
    if options & _CHOOSING:
        raise _Unexplained(f"{name}: options choose among its files")
    fields = _sequence(relation.partitionSchema().toSeq())
    types = {f.name(): f.dataType().simpleString() for f in fields}
    return SparkTable(name, places, types, as_files=True)


def _iceberg_table(plan: Java) -> SparkTable:
    table = plan.relation().table()
    name = table.name()
    if _kind(table) != "SparkTable" or _kind(table.table()) != "BaseTable":
        raise _Unexplained(f"{name}: {_kind(table)} is no table of files")
    if _kind(plan.scan()) == "SparkLocalScan":
        raise _Unexplained(f"{name}: nothing of it is read, as metadata answers")
    if _kind(plan.scan()) != "SparkBatchQueryScan":
        raise _Unexplained(f"{name}: its files are chosen by {_kind(plan.scan())}")
    metadata = table.table().operations().current().metadataFileLocation()
    return SparkTable(name, (local(metadata),), {}, snapshot=plan.scan().snapshotId())


def _pushed(scan: Java) -> tuple[Java, ...]:
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]

    try:
        filters = scan.filters()
    except Py4JError:
        filters = scan.filterExpressions()  # Its name before Iceberg 1.12.
    return tuple(filters.toArray())


def _place(path: Java) -> str:
    return local(path.toString())


def local(address: str) -> str:
    """An address without `file:`, and with `s3:` instead of Hadoop's `s3a:` and `s3n:`."""
    if address.startswith("file:"):
        return "/" + address.removeprefix("file:").lstrip("/")
    return re.sub(r"^s3[an]://", "s3://", address)


def _one_line(plan: Java) -> str:
    text: str = plan.simpleString(8)
    return " ".join(text.split())


def _kind(node: Java) -> str:
    name: str = node.getClass().getSimpleName()
    return name.rstrip("$")


def _sequence(sequence: Java) -> list[Java]:
    return [sequence.apply(at) for at in range(sequence.size())]


def _names(attributes: Java) -> Sequence[str]:
    return [attribute.name() for attribute in _sequence(attributes.toSeq())]


def _keys(options: Java) -> list[str]:
    return _sequence(options.keys().toSeq())
