"""The statements that give a table a layout, for the engines that can write its format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.layouts.layout import OrderKind
from whyscan.pruning.transforms import Bucket, IdentityTransform, Truncate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.layouts.layout import Layout, Order, PartitionTerm
    from whyscan.tree.nodes import Path


def spark_statements(
    layout: Layout, name: str, table_format: str, where: str | None = None
) -> tuple[str, ...]:
    """The statements of Spark SQL; with `where` those that write a part of the table."""
    match table_format:
        case "iceberg":
            return tuple(_by_procedures(layout, name, where))
        case "delta" if layout.partitions is None:
            return tuple(_by_optimize(layout, name, where))
        case _ if where is not None:
            return ()
        case _:
            return (_copied(layout, name, table_format),)


def trino_statements(
    layout: Layout, name: str, table_format: str, where: str | None = None
) -> tuple[str, ...]:
    """The statements of Trino; none where it cannot write the layout, or the part of it."""
    order = layout.order
    if table_format != "iceberg" or (order is not None and order.kind is not OrderKind.SORT):
        return ()
    properties = []
    if layout.partitions is not None:
        terms = ", ".join(f"'{_trino_term(term)}'" for term in layout.partitions)
        properties.append(f"partitioning = ARRAY[{terms}]")
    if order is not None:
        columns = ", ".join(
            f"'{_name(c.path)}{' DESC' if c.descending else ''}'" for c in order.columns
        )
        properties.append(f"sorted_by = ARRAY[{columns}]")
    return (
        f"ALTER TABLE {name} SET PROPERTIES {', '.join(properties)}",
        f"ALTER TABLE {name} EXECUTE optimize(file_size_threshold => '10TB')"
        + ("" if where is None else f" WHERE {where}"),
    )


def _by_procedures(layout: Layout, name: str, where: str | None) -> list[str]:
    statements = [
        f"ALTER TABLE {name} ADD PARTITION FIELD {_spark_term(term)}"
        for term in layout.partitions or ()
    ]
    sorting = _sort_order(layout.order)
    if layout.order is not None and layout.order.kind is OrderKind.SORT:
        statements.append(f"ALTER TABLE {name} WRITE ORDERED BY {sorting}")
    strategy = "" if sorting is None else f", strategy => 'sort', sort_order => '{sorting}'"
    statements.append(
        f"CALL system.rewrite_data_files(table => '{name}'{strategy}"
        f"{_part(where)}, options => map('rewrite-all', 'true'))"
    )
    return statements


def _part(where: str | None) -> str:
    """The argument of a procedure, whose text has its quotes twice."""
    return "" if where is None else f", where => '{where.replace(chr(39), chr(39) * 2)}'"


def _sort_order(order: Order | None) -> str | None:
    if order is None:
        return None
    if order.kind is OrderKind.SORT:
        return ", ".join(
            f"{_quoted(c.path)} {'DESC' if c.descending else 'ASC'}" for c in order.columns
        )
    return f"zorder({_listed([c.path for c in order.columns])})"


def _by_optimize(layout: Layout, name: str, where: str | None) -> list[str]:
    order = layout.order
    if order is None:
        return []
    columns = _listed([column.path for column in order.columns])
    if order.kind is OrderKind.CLUSTER and where is None:
        return [f"ALTER TABLE {name} CLUSTER BY ({columns})", f"OPTIMIZE {name} FULL"]
    if order.kind is OrderKind.ZORDER or len(order.columns) == 1:
        # Along one column a Z-order curve is the order of the column.
        part = "" if where is None else f" WHERE {where}"
        return [f"OPTIMIZE {name}{part} ZORDER BY ({columns})"]
    if where is not None:
        return []
    rows = f"SELECT * FROM {name} ORDER BY {_sort_order(order)}"  # noqa: S608 - shown, never run
    return [f"INSERT OVERWRITE {name} {rows}"]


def _copied(layout: Layout, name: str, table_format: str) -> str:
    """A copy in the layout: no statement changes the partitions or the order in place."""
    using = "delta" if table_format == "delta" else "parquet"
    partitions = [term.path for term in layout.partitions or ()]
    partitioned = f" PARTITIONED BY ({_listed(partitions)})" if partitions else ""
    sorting = _sort_order(layout.order)
    by = ", ".join(filter(None, (_listed(partitions), sorting)))
    ordered = f" ORDER BY {by}" if by else ""
    rows = f"SELECT * FROM {name}{ordered}"  # noqa: S608 - shown, never run
    return f"CREATE TABLE {name}_new USING {using}{partitioned} AS {rows}"


def _spark_term(term: PartitionTerm) -> str:
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
    column = _name(term.path)
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
    return ".".join(p if p.isidentifier() else f"`{p.replace('`', '``')}`" for p in path)


def _name(path: Path) -> str:
    return ".".join(path).replace("'", "''")
