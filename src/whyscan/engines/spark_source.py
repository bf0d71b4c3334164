"""The data source `whyscan`: Spark reads the rows of a plan, through the reader of scan/.

>>> spark.dataSource.register(WhyscanDataSource)
>>> spark.read.format("whyscan").option("predicate", "age > 40").load("s3://lake/events")

`load` makes the plan, so a DataFrame always reads the same version of the table. The source takes
no filters from Spark (`pushFilters`): with them, Spark 4.1 to 4.3 scans one DataFrame twice with
the filters of the second scan only, and returns wrong rows.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)

from whyscan.engines.spark_types import SparkBatches, spark_schema
from whyscan.errors import UsageError, WhyscanError
from whyscan.scan.plan_portions import PORTION_BYTES, Portion, portions, whole_plan
from whyscan.scan.reader import read_portion
from whyscan.tables.sizes import parse_size
from whyscan.tables.storage.environment import with_variables
from whyscan.tables.time_travel import Travel, moment
from whyscan.terms import PlanTerms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql.types import StructType

    from whyscan.planning.plan.evidence import Evidence
    from whyscan.planning.plan.scan_plan import ScanPlan

NAME = "whyscan"
_STORAGE = "option."
_OPTIONS = (
    "path",
    "paths",
    "predicate",
    "columns",
    "dialect",
    "timezone",
    "depth",
    "version",
    "snapshot",
    "as_of",
    "ref",
    "as_files",
    "partition_bytes",
    "min_partitions",
)
_SECOND_NAMES = {"where": "predicate", "select": "columns"}
"""The names of the Python functions and of the command line."""


class SourcePlan(Struct, frozen=True):
    """A plan for Spark: the schema that Spark sees, and one portion per task."""

    schema: StructType
    portions: tuple[Portion, ...]


def make_source_plan(
    everything: Portion, evidence: Evidence, about_bytes: int, at_least: int
) -> SourcePlan:
    """A whole plan, divided into portions for Spark's tasks."""
    schema = spark_schema(everything.result_columns.schema)
    return SourcePlan(schema, tuple(portions(everything, evidence, about_bytes, at_least)))


class WhyscanDataSource(DataSource):
    """The data source: the rows of a table that match a predicate. docs/spark.md has its options.

    `environment` has the environment variables of the process that registered the source: Spark
    plans in another process that may lack them. The stores that they open are in the portions,
    which go to the executors.
    """

    environment: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        self._planned: SourcePlan | None = None

    @classmethod
    def name(cls) -> str:
        """The name for `format` or `USING`."""
        return NAME

    def schema(self) -> StructType:
        """The schema of the columns to read."""
        try:
            self._planned = self._plan(None)
        except WhyscanError as error:
            raise _short(error) from None
        _settle()
        return self._planned.schema

    def reader(self, schema: StructType) -> DataSourceReader:
        """The reader of the plan. A schema that the user sets names the columns."""
        try:
            plan = self._planned or self._plan(schema.names)
        except WhyscanError as error:
            raise _short(error) from None
        if plan.schema != schema:
            raise UsageError(
                f"the schema {schema.simpleString()} is not the table's,"
                f" which is {plan.schema.simpleString()}"
            )
        # Spark sends this object to every task together with the reader.
        self._planned = None
        _settle()
        return _PortionReader(plan)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: ARG002, N802 - Spark's
        """A reader that refuses to stream."""
        return _NoStream()

    def _plan(self, columns: Sequence[str] | None) -> SourcePlan:
        options = LoadOptions.of(self.options)
        with with_variables(self.environment):
            plan = options.plan(columns if options.columns is None else options.columns)
        sizes = options.partition_bytes, options.min_partitions
        return make_source_plan(whole_plan(plan), plan.evidence, *sizes)


def with_environment(environment: Mapping[str, str]) -> type[WhyscanDataSource]:
    """The data source with environment variables for its stores.

    Spark pickles the class together with the variables, and shows neither.
    """
    named = WhyscanDataSource.__name__
    return type(named, (WhyscanDataSource,), {"environment": dict(environment)})


class LoadOptions(Struct, frozen=True):
    """The parsed options of `load`."""

    places: tuple[str, ...]
    predicate: str
    columns: tuple[str, ...] | None
    terms: PlanTerms
    travel: Travel
    storage: Mapping[str, str]
    partition_bytes: int
    min_partitions: int

    @classmethod
    def of(cls, options: Mapping[str, str]) -> LoadOptions:
        for key in options:
            if key not in {*_OPTIONS, *_SECOND_NAMES} and not key.startswith(_STORAGE):
                raise UsageError(
                    f"unknown option {key!r}", hint=f"one of {', '.join(_OPTIONS)}, option.KEY"
                )
        options = _by_first_name(options)
        return cls(
            _places(options),
            options.get("predicate", "true"),
            _columns(options.get("columns")),
            PlanTerms(
                options.get("dialect", "spark"),
                options.get("timezone", "UTC"),
                options.get("depth", "auto"),
            ),
            Travel(
                _number(options, "version"),
                _number(options, "snapshot"),
                moment(options.get("as_of")),
                options.get("ref"),
            ),
            {
                k.removeprefix(_STORAGE): v
                for k, v in options.items()
                if k.startswith(_STORAGE) or k == "as_files"
            },
            parse_size(options.get("partition_bytes", str(PORTION_BYTES))),
            _number(options, "min_partitions") or os.cpu_count() or 1,
        )

    def plan(self, columns: Sequence[str] | None) -> ScanPlan:
        # Tasks import this file but do not plan: the imports are lazy.
        from whyscan.planning.plan.planner import make_plan
        from whyscan.planning.plan.request import bind_request
        from whyscan.tables import open_snapshot

        snapshot = open_snapshot(self.places, {}, self.storage, self.travel)
        bound, options = bind_request(snapshot, self.predicate, columns, self.terms)
        return make_plan(snapshot, bound, options)


def _places(options: Mapping[str, str]) -> tuple[str, ...]:
    places = [options["path"]] if "path" in options else json.loads(options.get("paths", "[]"))
    if not places:
        raise UsageError("no table was named", hint='end with .load("s3://lake/events")')
    return tuple(places)


def _by_first_name(options: Mapping[str, str]) -> dict[str, str]:
    for second, first in _SECOND_NAMES.items():
        if first in options and second in options:
            raise UsageError(f"{first} and {second} are one option", hint="give one of them")
    return {_SECOND_NAMES.get(key, key): value for key, value in options.items()}


def _columns(text: str | None) -> tuple[str, ...] | None:
    """The names in `id, age`, or in a JSON list if a name contains a comma."""
    if text is None:
        return None
    if text.lstrip().startswith("["):
        try:
            return tuple(json.loads(text))
        except ValueError:
            raise UsageError(
                f"the option columns is no JSON list: {text!r}", hint='write ["a", "b"] or a,b'
            ) from None
    return tuple(name.strip() for name in text.split(","))


def _number(options: Mapping[str, str], key: str) -> int | None:
    text = options.get(key)
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"the option {key} is no number: {text!r}") from None


class _Partition(InputPartition):
    """The portion that one task reads."""

    def __init__(self, portion: Portion) -> None:
        super().__init__(None)
        self.portion = portion


class _PortionReader(DataSourceReader):
    """Reads portions. It is pickled without them, because each task brings its own portion."""

    def __init__(self, plan: SourcePlan) -> None:
        self._schema = plan.schema
        self._portions: tuple[Portion, ...] = plan.portions

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_portions": ()}

    def partitions(self) -> Sequence[InputPartition]:
        """One partition per portion."""
        return [_Partition(portion) for portion in self._portions]

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """The rows of a portion. Spark passes None for a plan without portions."""
        if not isinstance(partition, _Partition):
            return
        rows = read_portion(partition.portion)
        try:
            yield from SparkBatches(self._schema).converted(rows)
        except WhyscanError as error:
            raise _short(error) from None
        _settle()


class _NoStream(DataSourceStreamReader):
    """Refuses when the stream starts: Spark hides an error of `streamReader` in one of its own."""

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """The start of the stream: an error."""
        return self.latestOffset()

    def latestOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """The end of the stream, which Spark requests first: an error."""
        raise UsageError("whyscan reads a table as it is, and no stream of it: use spark.read")

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:  # noqa: ARG002 - Spark's
        """No rows: the stream never starts."""
        return iter(())


@cache
def _settle() -> None:
    """Exclude all loaded objects from garbage collection, once per process.

    Spark collects garbage after every task. With the objects of whyscan's modules that took as long
    as a small task itself. At the end they are collected, because DuckDB reports the types of its
    module that outlive the interpreter.
    """
    gc.freeze()
    atexit.register(gc.unfreeze)


def _short(error: WhyscanError) -> WhyscanError:
    """The error without its traceback and with its hint in the message: Spark prints one line.

    The result is a new object, because an error that was raised keeps its traceback.
    """
    message = error.message if error.hint is None else f"{error.message} ({error.hint})"
    short = type(error).__new__(type(error))
    Exception.__init__(short, message)
    vars(short).update(vars(error) | {"message": message, "hint": None})
    return short
