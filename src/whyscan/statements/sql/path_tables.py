"""Tables that a statement names by their path: DuckDB's `read_parquet('t/*.parquet')`.

They are renamed to Spark's form parquet.`t/*.parquet`, which the catalogue opens by its path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from whyscan.predicate.syntax.dialects import Dialect, DialectFamily
from whyscan.predicate.syntax.tokens import function_name

if TYPE_CHECKING:
    from collections.abc import Iterable

_FORMATS = {
    "read_parquet": "parquet",
    "parquet_scan": "parquet",
    "delta_scan": "delta",
    "iceberg_scan": "iceberg",
}
_AS_WE_READ = {"hive_partitioning = true", "union_by_name = true", "union_by_name = false"}


def name_paths(tree: exp.Expr, dialect: Dialect) -> None:
    """Replace each table function that reads one path by a table with that path as its name."""
    if dialect.family is not DialectFamily.DUCKDB:
        return
    for table in tree.find_all(exp.Table):
        function = _name(table.this)
        if function not in _FORMATS:
            continue
        path, *options = table.this.expressions
        if not (isinstance(path, exp.Literal) and path.is_string and _plain(options)):
            continue
        if not table.alias:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(function)))
        place = exp.to_identifier(path.name, quoted=True)
        place.meta.update(path.meta)
        table.set("this", place)
        table.set("db", exp.to_identifier(_FORMATS[function]))


def _name(call: exp.Expr) -> str | None:
    match call:
        case exp.ReadParquet(expressions=[_, *_]):
            return "read_parquet"
        case exp.Anonymous(expressions=[_, *_]):
            return function_name(call)
        case _:
            return None


def _plain(options: Iterable[exp.Expr]) -> bool:
    return all(option.sql("duckdb").lower() in _AS_WE_READ for option in options)
