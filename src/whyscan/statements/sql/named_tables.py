"""Tables that a statement names in a call: `read_parquet('t/*.parquet')`, `IDENTIFIER('db.t')`.

DuckDB's calls with a path are renamed to Spark's form parquet.`t/*.parquet`, which the catalogue
opens by its path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from whyscan.errors import SyntaxProblem
from whyscan.predicate.syntax.dialects import Dialect, DialectFamily
from whyscan.predicate.syntax.placeholders import is_template
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


def name_tables(tree: exp.Expr, dialect: Dialect, text: str) -> None:
    """Replace each call that names one table by that table; SyntaxProblem for a parameter."""
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.Placeholder | exp.Parameter):
            raise _unnamed("a parameter", text)
    if dialect.family is DialectFamily.DUCKDB:
        _name_paths(tree)
    elif dialect.family in {DialectFamily.SPARK, DialectFamily.SNOWFLAKE}:
        _name_identifiers(tree, text)


def _name_identifiers(tree: exp.Expr, text: str) -> None:
    """Replace `IDENTIFIER('db.t')`, and TABLE around it, by the table `db.t`."""
    for call in list(tree.find_all(exp.Table, exp.TableFromRows)):
        name = call.this
        if _name(name) == "table" and len(name.expressions) == 1:
            name = name.expressions[0]
        if _name(name) == "identifier":
            (name,) = name.expressions
        elif isinstance(name, exp.DynamicIdentifier):
            name = name.this
        else:
            continue
        if not (isinstance(name, exp.Literal) and name.is_string) or is_template(name.name):
            raise _unnamed("an expression", text)
        table = exp.to_table(name.name)
        for part in table.parts:
            part.meta.update(name.meta)
        table.set("alias", call.args.get("alias"))
        call.replace(table)


def _unnamed(what: str, text: str) -> SyntaxProblem:
    hint = "write the table there"
    return SyntaxProblem(f"{what} stands where a table is named", text=text, hint=hint)


def _name_paths(tree: exp.Expr) -> None:
    """Replace each table function of DuckDB that reads one path by a table of that name."""
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
