"""How each table lies, as people lay them: facts by the quarter of their date, dimensions in a few
files by key or by a column that everybody filters on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ByQuarter:
    """A fact. Delta and Hive have a partition column for the quarter that no query names; Iceberg
    has the month of a date, or files in the order of the date's key."""

    column: str


@dataclass(frozen=True)
class ByValue:
    """A partition a value."""

    column: str


@dataclass(frozen=True)
class InPieces:
    """Files in the order of the first column."""

    count: int


Layout = ByQuarter | ByValue | InPieces

LAYOUTS: dict[str, dict[str, Layout]] = {
    "tpcds": {
        "call_center": InPieces(1),
        "catalog_page": InPieces(4),
        "catalog_returns": ByQuarter("cr_returned_date_sk"),
        "catalog_sales": ByQuarter("cs_sold_date_sk"),
        "customer": InPieces(6),
        "customer_address": ByValue("ca_state"),
        "customer_demographics": InPieces(6),
        "date_dim": InPieces(24),
        "household_demographics": InPieces(4),
        "income_band": InPieces(2),
        "inventory": ByQuarter("inv_date_sk"),
        "item": ByValue("i_category"),
        "promotion": InPieces(2),
        "reason": InPieces(1),
        "ship_mode": InPieces(2),
        "store": InPieces(1),
        "store_returns": ByQuarter("sr_returned_date_sk"),
        "store_sales": ByQuarter("ss_sold_date_sk"),
        "time_dim": InPieces(8),
        "warehouse": InPieces(1),
        "web_page": InPieces(1),
        "web_returns": ByQuarter("wr_returned_date_sk"),
        "web_sales": ByQuarter("ws_sold_date_sk"),
        "web_site": InPieces(1),
    },
    "tpch": {
        "customer": ByValue("c_mktsegment"),
        "lineitem": ByQuarter("l_shipdate"),
        "nation": InPieces(1),
        "orders": ByQuarter("o_orderdate"),
        "part": InPieces(4),
        "partsupp": InPieces(4),
        "region": InPieces(1),
        "supplier": InPieces(2),
    },
}

FACTS = tuple(
    name
    for tables in LAYOUTS.values()
    for name, layout in tables.items()
    if isinstance(layout, ByQuarter)
)
FORMATS = ("delta", "iceberg", "hive")


def format_of(lake: int, number: int) -> str:
    """Formats go round: over three lakes every table has each of them once."""
    return FORMATS[(lake + number) % len(FORMATS)]
