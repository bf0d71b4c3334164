"""Tables as executors hold them."""

from __future__ import annotations

from whyscan.spark.pinned_tables import Tables, pin
from whyscan.spark.tables import NamedTable

TEXTS = (
    "SELECT country, amount FROM sales WHERE ts > '2024-02-01'",
    "SELECT ts FROM sales WHERE country = 'amount' AND ts < '2024-03-01'",
)


def test_what_queries_ask_by_is_read_at_once_the_most_asked_first(lake):
    sales = Tables([pin(NamedTable("sales", lake["sales"]))], TEXTS)["sales"]

    assert [column.path for column in sales.expected_columns] == [("ts",), ("country",)]
