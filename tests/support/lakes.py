"""Tables in memory that several tests ask about."""

from __future__ import annotations

from dataclasses import replace

from support.memory_table import DataFile, MemoryTable, RowGroup
from whyscan.tree.types import DOUBLE, INT, STRING

AGES = {
    "country=DE/a.parquet": ("DE", 4, (40, 60)),
    "country=DE/b.parquet": ("DE", 5, (20, 35)),
    "country=IT/a.parquet": ("IT", 3, (41, 65)),
    "country=IT/b.parquet": ("IT", 5, (22, 38)),
    "country=US/a.parquet": ("US", 3, (31, 55)),
    "country=US/b.parquet": ("US", 4, (18, 29)),
}


def users(**changes) -> MemoryTable:
    """Six files in three countries; the bounds of the article that began it all."""
    files = [
        DataFile(path, {"country": country}, [RowGroup(rows, {"age": ages})])
        for path, (country, rows, ages) in AGES.items()
    ]
    table = MemoryTable({"country": STRING, "age": INT}, files, ("country",), uri="users")
    return replace(table, **changes)


def delta_users() -> MemoryTable:
    """The same where the files have statistics of their own."""
    return users(footers_describe_files=False, version=5)


def one_file(kind, *groups: RowGroup, path: str = "part-0.parquet") -> MemoryTable:
    """One column `x` in one file without partitions."""
    return MemoryTable({"x": kind}, [DataFile(path, {}, groups)], uri="t")


def prices(kind=INT, *, nan: bool = False) -> MemoryTable:
    """Row groups that are none, some and all for `x > 1000`."""
    bounds = ((100, 900), (800, 1500), (1200, 2000))
    if kind is DOUBLE:
        bounds = tuple((float(a), float(b)) for a, b in bounds)
    return one_file(kind, *(RowGroup(50, {"x": ends}, nan=nan) for ends in bounds))


def empty() -> MemoryTable:
    return MemoryTable({"x": INT}, [], uri="t")
