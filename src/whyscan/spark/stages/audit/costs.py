"""Computes what the runs of a workload cost, at the prices that the user gave."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.reports.prices import Prices, Spent, WorkloadCost
from whyscan.spark.tables import canonical_uri

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from whyscan.spark.stages.audit.report import Audit, QueryLine, TableTotal


def priced(audit: Audit, prices: Prices | None) -> Audit:
    """Return the audit with the costs of its queries and tables, and of the whole workload."""
    if prices is None:
        return replace(audit, cost=None)
    queries = tuple(replace(line, cost=_of_query(line, prices)) for line in audit.queries)
    requests = _requests(queries)
    tables = tuple(_with_cost(table, requests, prices) for table in audit.tables)
    return replace(audit, queries=queries, tables=tables, cost=_of_workload(queries, prices))


def _of_query(line: QueryLine, prices: Prices) -> Spent:
    """Return the cost of all runs; one request for each file that a scan keeps."""
    if line.unread:
        return Spent(None, None)
    read = None if line.bytes_read is None else line.bytes_read * line.times
    files = sum(table.scan.gated_reading.kept for table in line.tables) * line.times
    return Spent(prices.amount(read, files), _wasted(line.wasted, prices))


def _wasted(size: int | None, prices: Prices) -> float | None:
    """Return the cost of wasted bytes; wasted requests are not counted."""
    return None if prices.per_byte is None or size is None else float(prices.per_byte * size)


def _requests(queries: Iterable[QueryLine]) -> dict[str, int]:
    """Sum the files that all runs read of each table, by address."""
    requests: dict[str, int] = {}
    for line in queries:
        for table in line.tables:
            address = canonical_uri(table.uri)
            files = table.scan.gated_reading.kept * line.times
            requests[address] = requests.get(address, 0) + files
    return requests


def _with_cost(table: TableTotal, requests: Mapping[str, int], prices: Prices) -> TableTotal:
    """Return the table with its costs and those of its columns, whose requests are unknown."""
    columns = tuple(
        replace(
            one,
            cost=Spent(prices.amount(one.bytes_read, None), _wasted(one.wasted, prices)),
        )
        for one in table.columns
    )
    return replace(table, cost=_of_table(table, requests, prices), columns=columns)


def _of_table(table: TableTotal, requests: Mapping[str, int], prices: Prices) -> Spent:
    files = None if table.error else requests.get(canonical_uri(table.uri), 0)
    return Spent(prices.amount(table.bytes_read, files), _wasted(table.wasted, prices))


def _of_workload(queries: Sequence[QueryLine], prices: Prices) -> WorkloadCost:
    """Sum the queries whose cost is known, and scale the dated runs to a month."""
    days = sorted({day for line in queries for day in line.days})
    number = (date.fromisoformat(days[-1]) - date.fromisoformat(days[0])).days + 1 if days else 0
    log = [(line, 1.0) for line in queries]
    dated = [(line, sum(line.days.values()) / line.times) for line in queries]
    cost = WorkloadCost(_sum(log), None, number, prices.price, prices.request_price)
    months = cost.months
    return cost if months is None else replace(cost, month=_sum(dated).scaled(months))


def _sum(shares: Iterable[tuple[QueryLine, float]]) -> Spent:
    """Sum the shares of the queries' costs; None where no cost is known."""
    return Spent.of_all(line.cost.scaled(share) for line, share in shares if line.cost is not None)
