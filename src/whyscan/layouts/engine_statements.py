"""The statements that give a table a layout, for the engines that can write its format.

Engines cut files by a size of their own, which may be larger than the whole table. So every
statement that rewrites files names the size that the layout was planned with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from whyscan.fields import Record, Sql
from whyscan.layouts.layout import OrderKind
from whyscan.pruning.transforms import Bucket, IdentityTransform, Truncate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.layouts.layout import Layout, Order, PartitionTerm
    from whyscan.layouts.snapshot import HypotheticalSnapshot
    from whyscan.tree.nodes import Path

FILE_SIZE_SETTING = "spark.databricks.delta.optimize.maxFileSize"
_RANGES_SETTING = "spark.databricks.io.skipping.mdc.rangeId.max"
_ROWS_A_FILE = "spark.sql.files.maxRecordsPerFile"
_RANGES = 1_000
"""Delta's curves run through so many ranges of a column, unless the setting says more."""
_RANGES_A_FILE = 10


class EngineStatements(Record, frozen=True):
    """The statements that give the table the layout, in this order; empty where an engine cannot.

    A layout of a Hive or Parquet table, and other partitions of a Delta table, are a new table
    whose name ends in `_new`.
    """

    spark: Annotated[tuple[Sql, ...], Meta(description="Spark SQL, with Delta and Iceberg.")]
    trino: Annotated[tuple[Sql, ...], Meta(description="Trino's SQL.")]


class LayoutRewrite(Struct, frozen=True):
    """What statements write: a table in a layout, in files of one size.

    `today` are the partition fields of the table before, `columns` its columns in their order.
    `file_bytes` and `file_rows` are the size of a file, and `files` how many there are. With
    `where` only the rows of this condition are rewritten. `name` has the parts of the table's name,
    and `field_names` are the partition fields of today as the table names them.
    """

    layout: Layout
    name: tuple[str, ...]
    format: str
    today: tuple[PartitionTerm, ...]
    columns: tuple[str, ...]
    file_bytes: int
    file_rows: int
    files: int
    where: str | None = None
    field_names: frozenset[str] = frozenset()

    @property
    def table(self) -> str:
        """The name as Spark reads it."""
        return _quoted(self.name)

    @property
    def new_name(self) -> tuple[str, ...]:
        """The name of a copy."""
        return (*self.name[:-1], f"{self.name[-1]}_new")

    @property
    def partitions(self) -> tuple[PartitionTerm, ...]:
        """The partition fields of the layout."""
        return self.today if self.layout.partitions is None else self.layout.partitions

    @property
    def keeps_partitions(self) -> bool:
        return self.layout.partitions is None or self.layout.partitions == self.today

    def field_name(self, path: Path) -> str:
        """The name of the partition field of a column.

        It is the table's name of the field, else the one that ADD PARTITION FIELD gives.
        """
        column = ".".join(path)
        of_today = (name for name in sorted(self.field_names) if name.startswith(column))
        term = next(term for term in self.partitions if term.path == path)
        word, _, width = str(term.transform).rstrip("]").partition("[")
        parts = [column, *([] if word == "identity" else [word.removesuffix("ate")])]
        parts += [width] if width else []
        return next(of_today, "_".join(parts)) if self.keeps_partitions else "_".join(parts)

    def statements(self) -> EngineStatements:
        return EngineStatements(tuple(self._spark()), tuple(self._trino()))

    def _spark(self) -> Iterator[str]:
        match self.format:
            case "iceberg":
                yield from self._by_procedures()
            case "delta" if self.keeps_partitions:
                yield from self._by_optimize()
            case _:
                yield from () if self.where is not None else self._copied()

    def _by_procedures(self) -> Iterator[str]:
        """Iceberg: change what new files are, then rewrite the files of today."""
        layout, order = self.layout, self.layout.order
        if order is not None and order.kind is OrderKind.CLUSTER and len(order.columns) > 1:
            return
        # A name of three parts begins with its catalog; else the catalog is that of the session.
        catalog, rest = self.name[:-2], self.name[-2:]
        procedures, table = _quoted((*catalog, "system")), _text(_quoted(rest))
        if not self.keeps_partitions:
            for term in self.today:
                if term not in self.partitions:
                    yield f"ALTER TABLE {self.table} DROP PARTITION FIELD {spark_term(term)}"
            for term in self.partitions:
                if term not in self.today:
                    yield f"ALTER TABLE {self.table} ADD PARTITION FIELD {spark_term(term)}"
        properties = dict(self._table_properties())
        if properties:
            listed = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
            yield f"ALTER TABLE {self.table} SET TBLPROPERTIES ({listed})"
        sorting = None if order is None else _sort_order(order)
        if order is not None and _is_sorted(order):
            yield f"ALTER TABLE {self.table} WRITE ORDERED BY {sorting}"
        strategy = "" if sorting is None else f", strategy => 'sort', sort_order => '{sorting}'"
        options = f"'rewrite-all', 'true', 'target-file-size-bytes', '{self.file_bytes}'"
        if layout.rewrites_files:
            yield (
                f"CALL {procedures}.rewrite_data_files(table => '{table}'{strategy}"
                f"{_argument(self.where)}, options => map({options}))"
            )
        if layout.manifests:
            fields = (f"'{_text(self.field_name(path))}'" for path in layout.manifests)
            listed = ", ".join(fields)
            arguments = f"table => '{table}', sort_by => array({listed})"
            yield f"CALL {procedures}.rewrite_manifests({arguments})"

    def _table_properties(self) -> Iterator[tuple[str, str]]:
        layout = self.layout
        if layout.file_size is not None:
            yield "write.target-file-size-bytes", str(layout.file_size)
        if layout.row_group_size is not None:
            yield "write.parquet.row-group-size-bytes", str(layout.row_group_size)
        if layout.statistics is not None:
            yield "write.metadata.metrics.default", "none"
            for path in layout.statistics:
                yield f"write.metadata.metrics.column.{'.'.join(path)}", "truncate(16)"
        for path in layout.bloom or ():
            yield f"write.parquet.bloom-filter-enabled.column.{'.'.join(path)}", "true"

    def _by_optimize(self) -> Iterator[str]:
        """Delta: OPTIMIZE where it can make the order, else the rows are written again."""
        layout, order = self.layout, self.layout.order
        if layout.statistics is not None:
            listed = ",".join(".".join(path) for path in layout.statistics)
            properties = f"'delta.dataSkippingStatsColumns' = '{listed}'"
            yield f"ALTER TABLE {self.table} SET TBLPROPERTIES ({properties})"
        yield from self._writer_settings()
        if order is None or (order.kind is OrderKind.SORT and len(order.columns) > 1):
            if self.where is None and layout.rewrites_files:
                if self.partitions:
                    yield f"SET {_ROWS_A_FILE} = {self.file_rows}"
                yield f"INSERT OVERWRITE {self.table} {self.rows()}"
            return
        columns = _listed([column.path for column in order.columns])
        yield f"SET {FILE_SIZE_SETTING} = {self.file_bytes}"
        if self.files * _RANGES_A_FILE > _RANGES:
            yield f"SET {_RANGES_SETTING} = {self.files * _RANGES_A_FILE}"
        if order.kind is OrderKind.CLUSTER and self.where is None:
            yield f"ALTER TABLE {self.table} CLUSTER BY ({columns})"
            yield f"OPTIMIZE {self.table} FULL"
        else:
            # Along one column a Z-order curve is the order of the column.
            part = "" if self.where is None else f" WHERE {self.where}"
            yield f"OPTIMIZE {self.table}{part} ZORDER BY ({columns})"

    def _writer_settings(self) -> Iterator[str]:
        """What Parquet writers of a session take from its settings."""
        if self.layout.row_group_size is not None:
            yield f"SET parquet.block.size = {self.layout.row_group_size}"
        for path in self.layout.bloom or ():
            yield f"SET parquet.bloom.filter.enabled#{'.'.join(path)} = true"

    def _copied(self) -> Iterator[str]:
        """A copy in the layout: no statement changes the partitions or the order in place."""
        order = self.layout.order
        if order is not None and not _is_sorted(order) and self.format != "delta":
            return
        yield from self._writer_settings()
        if self.partitions:
            yield f"SET {_ROWS_A_FILE} = {self.file_rows}"
        new = _quoted(self.new_name)
        using = "delta" if self.format == "delta" else "parquet"
        columns = "" if order is None else _listed([column.path for column in order.columns])
        partitions = [term.path for term in self.partitions]
        layout = f" PARTITIONED BY ({_listed(partitions)})" if partitions else ""
        if order is not None and order.kind is OrderKind.CLUSTER and using == "delta":
            layout = f" CLUSTER BY ({columns})"
        yield f"CREATE TABLE {new} USING {using}{layout} AS {self.rows()}"
        if order is not None and not _is_sorted(order):
            yield f"SET {FILE_SIZE_SETTING} = {self.file_bytes}"
            is_clustered = order.kind is OrderKind.CLUSTER
            yield f"OPTIMIZE {new} " + ("FULL" if is_clustered else f"ZORDER BY ({columns})")

    def rows(self) -> str:
        """The rows of the table in the order of the layout, in as many tasks as files.

        A partition is written by one task, which cuts files by their rows.
        """
        order = self.layout.order
        partitions = [_quoted(term.path) for term in self.partitions]
        keys = [] if order is None or not _is_sorted(order) else _sort_keys(order)
        columns = partitions or [key.rpartition(" ")[0] for key in keys]
        hint = "REPARTITION_BY_RANGE" if keys and not partitions else "REPARTITION"
        tasks = ", ".join((str(max(1, self.files)), *columns))
        sorting = ", ".join((*partitions, *keys))
        ordered = f" SORT BY {sorting}" if sorting else ""
        rows = f"SELECT /*+ {hint}({tasks}) */ * FROM {self.table}"  # noqa: S608 - run by users
        return rows + ordered

    def _trino(self) -> Iterator[str]:
        order = self.layout.order
        name = ".".join(map(_trino_name, self.name))
        is_sorted = order is None or _is_sorted(order)
        if self.format == "iceberg" and is_sorted and self.layout.rewrites_files:
            yield from self._trino_in_place(name)
        elif self.format != "iceberg" and self.where is None and not self.keeps_partitions:
            yield from () if order is not None else (self._trino_copy(name),)

    def _trino_in_place(self, name: str) -> Iterator[str]:
        properties = []
        if not self.keeps_partitions:
            terms = ", ".join(f"'{_trino_term(term)}'" for term in self.partitions)
            properties.append(f"partitioning = ARRAY[{terms}]")
        if self.layout.order is not None:
            columns = ", ".join(
                f"'{_trino_column(c.path)}{' DESC' if c.descending else ''}'"
                for c in self.layout.order.columns
            )
            properties.append(f"sorted_by = ARRAY[{columns}]")
        if properties:
            yield f"ALTER TABLE {name} SET PROPERTIES {', '.join(properties)}"
        session = "".join(f"{_trino_name(part)}." for part in self.name[:-2])
        yield f"SET SESSION {session}target_max_file_size = '{self.file_bytes}B'"
        part = "" if self.where is None else f" WHERE {self.where}"
        yield f"ALTER TABLE {name} EXECUTE optimize(file_size_threshold => '10TB'){part}"

    def _trino_copy(self, name: str) -> str:
        """Partition columns are the last columns of a Hive table in Trino."""
        new = ".".join(map(_trino_name, self.new_name))
        partitions = [".".join(term.path) for term in self.partitions]
        columns = [*(c for c in self.columns if c not in partitions), *partitions]
        listed = ", ".join(map(_trino_name, columns))
        terms = ", ".join(f"'{_text(column)}'" for column in partitions)
        properties = [f"partitioned_by = ARRAY[{terms}]"] if terms else []
        if self.format != "delta":
            properties.insert(0, "format = 'PARQUET'")
        settings = f" WITH ({', '.join(properties)})" if properties else ""
        return f"CREATE TABLE {new}{settings} AS SELECT {listed} FROM {name}"  # noqa: S608 - shown


def rewrite_of(
    snapshot: HypotheticalSnapshot, name: tuple[str, ...], where: str | None = None
) -> LayoutRewrite:
    """The rewrite that gives a table of this name the layout, or the rows of `where` alone."""
    applied = snapshot.layout
    layout = replace(
        applied.layout,
        partitions=None if applied.layout.partitions is None else applied.partitions,
        order=_order_within(applied.order, applied.partitions),
        bloom=applied.bloom or None,
        manifests=applied.manifests or None,
    )
    return LayoutRewrite(
        layout,
        name,
        snapshot.base.format,
        applied.today,
        snapshot.schema().names(),
        file_bytes=max(1, round(snapshot.rows_a_file * snapshot.bytes_a_row)),
        file_rows=max(1, round(snapshot.rows_a_file)),
        files=snapshot.file_count,
        where=where,
        field_names=frozenset[str]().union(
            *(spec.names for spec in snapshot.base.numbered_specs if spec.current)
        ),
    )


def _order_within(order: Order | None, partitions: Sequence[PartitionTerm]) -> Order | None:
    """The order without columns that have one value in each partition; engines refuse these."""
    single = {t.path for t in partitions if isinstance(t.transform, IdentityTransform)}
    columns = tuple(c for c in order.columns if c.path not in single) if order else ()
    return replace(order, columns=columns) if order and columns else None


def _argument(where: str | None) -> str:
    """The argument of a procedure, whose text has its quotes twice."""
    return "" if where is None else f", where => '{_text(where)}'"


def _is_sorted(order: Order) -> bool:
    """Whether rows are sorted: along one column a curve is the order of the column."""
    return order.kind is OrderKind.SORT or len(order.columns) == 1


def _sort_keys(order: Order) -> list[str]:
    return [f"{_quoted(c.path)} {'DESC' if c.descending else 'ASC'}" for c in order.columns]


def _sort_order(order: Order) -> str:
    if _is_sorted(order):
        return ", ".join(_sort_keys(order))
    return f"zorder({_listed([c.path for c in order.columns])})"


def spark_term(term: PartitionTerm) -> str:
    """A partition field of Iceberg as Spark writes it."""
    column = _quoted(term.path)
    match term.transform:
        case IdentityTransform():
            return column
        case Bucket(count):
            return f"bucket({count}, {column})"
        case Truncate(width):
            return f"truncate({width}, {column})"
        case transform:
            return f"{transform}({column})"


def _trino_term(term: PartitionTerm) -> str:
    column = _trino_column(term.path)
    match term.transform:
        case IdentityTransform():
            return column
        case Bucket(count):
            return f"bucket({column}, {count})"
        case Truncate(width):
            return f"truncate({column}, {width})"
        case transform:
            return f"{transform}({column})"


def _listed(paths: Sequence[Path]) -> str:
    return ", ".join(map(_quoted, paths))


def _quoted(path: Path) -> str:
    return ".".join(map(_spark_name, path))


def _spark_name(name: str) -> str:
    return name if name.isidentifier() else f"`{name.replace('`', '``')}`"


def _trino_name(name: str) -> str:
    quoted = name.replace('"', '""')
    return name if name.isidentifier() else f'"{quoted}"'


def _trino_column(path: Path) -> str:
    return _text(".".join(map(_trino_name, path)))


def _text(text: str) -> str:
    """What stands between single quotes."""
    return text.replace("'", "''")
