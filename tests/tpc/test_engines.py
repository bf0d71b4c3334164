"""The 22 queries of TPC-H through engines that read Delta and Iceberg by whyscan: the rows that the
same engine gives of the plain Parquet files."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import datafusion
import duckdb
import polars as pl
import pytest

import whyscan
from support.environments import NotInstalled
from tpc.environment import generated
from tpc.lakes import SCALE, lake
from tpc.layouts import FORMATS, LAYOUTS, format_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import pyarrow as pa

    from whyscan.engines.provider import Provider

    Run = Callable[[str], pa.Table]
    Places = Mapping[str, Path]

TABLES = tuple(LAYOUTS["tpch"])
QUERIES = 22


@pytest.fixture(scope="module")
def source() -> Path:
    try:
        return generated(SCALE)
    except NotInstalled as reason:
        pytest.skip(f"the TPC's packages cannot be installed: {reason}")


def duckdb_of(places: Places) -> tuple[Run, list[Provider]]:
    connection = duckdb.connect()
    providers = []
    for name, place in places.items():
        if place.is_file():
            connection.execute(f"CREATE VIEW {name} AS FROM '{place}'")
        else:
            providers.append(whyscan.open(place).to_duckdb(connection, name, explain=True))
    return lambda sql: connection.sql(sql).to_arrow_table(), providers


def datafusion_of(places: Places) -> tuple[Run, list[Provider]]:
    context = datafusion.SessionContext()
    providers = []
    for name, place in places.items():
        if place.is_file():
            context.register_parquet(name, str(place))
        else:
            providers.append(whyscan.open(place).to_datafusion(context, name, explain=True))
    return lambda sql: context.sql(sql).to_arrow_table(), providers


def polars_of(places: Places) -> tuple[Run, list[Provider]]:
    frames = {
        name: pl.scan_parquet(place)
        if place.is_file()
        else whyscan.open(place).to_polars(explain=True)
        for name, place in places.items()
    }
    context = pl.SQLContext(frames)
    providers = [frame.provider for frame in frames.values() if hasattr(frame, "provider")]
    return lambda sql: context.execute(sql).collect().to_arrow(), providers


ENGINES = {"duckdb": duckdb_of, "datafusion": datafusion_of, "polars": polars_of}


PAIRS = [
    pytest.param(engine, name, marks=() if (at + step) % 2 else pytest.mark.proof)
    for at, engine in enumerate(ENGINES)
    for step, name in enumerate(("delta", "iceberg"))
]
"""Every engine with one of the formats; the proof has the other one, too."""


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "table_format"), PAIRS)
def test_an_engine_gives_what_it_gives_of_plain_parquet(source, engine, table_format):
    folders = [lake("tpch", number) for number in range(len(FORMATS))]
    texts = json.loads((source / "texts.json").read_text())["tpch"]
    run, providers = ENGINES[engine](
        {
            name: next(
                folder / name
                for number, folder in enumerate(folders)
                if format_of(number, at) == table_format
            )
            for at, name in enumerate(TABLES)
        }
    )
    run_plain, _ = ENGINES[engine]({name: source / "tpch" / f"{name}.parquet" for name in TABLES})

    for number in range(1, QUERIES + 1):
        sql = texts[str(number)].rstrip().rstrip(";")
        assert rows(run(sql)) == rows(run_plain(sql)), f"query {number}"

    kept, total = (
        sum(getattr(scan.plan.summary, name) for p in providers for scan in p.scans)
        for name in ("files_kept", "files_total")
    )
    assert kept < total, "no file was skipped"


DIGITS = 9
"""Sums of floats depend on the order of the rows in their last digits."""


def rows(table: pa.Table) -> list[Any]:
    """The rows in one order, with as many digits as an order of adding leaves."""
    return sorted(
        (tuple(map(_rounded, row.values())) for row in table.to_pylist()),
        key=repr,
    )


def _rounded(value: Any) -> Any:
    match value:
        case float() if math.isfinite(value):
            return f"{value:.{DIGITS}g}"
        case Decimal():
            return str(value.normalize())
        case _:
            return value
