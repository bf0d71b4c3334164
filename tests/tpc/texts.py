"""The texts, made fit for a proof: each occurrence of a table has its own name, and each order is
total, so that a LIMIT has one answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


@dataclass(frozen=True)
class Statement:
    """`tables` is the table behind each name that the statement reads."""

    sql: str
    tables: Mapping[str, str]


def separated(text: str, tables: Collection[str]) -> Statement:
    """`store_sales` becomes `store_sales_1 AS store_sales`, the next `store_sales_2 AS …`.

    No CTE of the texts is called like a table.
    """
    tree = sqlglot.parse_one(text, dialect="duckdb")
    names: dict[str, str] = {}
    places = sorted(
        (table for table in tree.find_all(exp.Table) if table.name in tables),
        key=lambda table: table.this.meta["start"],
    )
    for number, table in enumerate(places, 1):
        own = f"{table.name}_{number}"
        names[own] = table.name
        if not table.alias:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name)))
        table.set("this", exp.to_identifier(own))
    return Statement(tree.sql("duckdb"), names)


def in_total_order(sql: str, columns: int) -> str:
    """Every column of the result follows the order's own keys."""
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    if tree.args.get("limit") is None:
        return sql
    keys = tree.args["order"].expressions if tree.args.get("order") is not None else []
    every = [exp.Ordered(this=exp.Literal.number(at + 1)) for at in range(columns)]
    tree.set("order", exp.Order(expressions=[*keys, *every]))
    return tree.sql("duckdb")
