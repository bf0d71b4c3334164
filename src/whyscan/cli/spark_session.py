"""The Spark session of a command: the user's, or one that ends with it."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from whyscan.cli.startup import let_pandas_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

Command = TypeVar("Command", bound="Callable[..., Any] | click.Command")

MASTER = click.option(
    "--master",
    metavar="URL",
    help="Spark's master. [default: your Spark configuration's, else all cores of this machine]",
)


def table_format(option: str, about: str) -> Callable[[Command], Command]:
    """The option for the format of a table that is written."""
    return click.option(
        option,
        type=click.Choice(["parquet", "delta", "iceberg"]),
        default="parquet",
        show_default=True,
        help=about,
    )


@contextmanager
def spark_session(master: str | None, *, formats: bool = False) -> Iterator[SparkSession]:
    """A session; one that was running before goes on after. `formats` brings Delta and Iceberg."""
    let_pandas_in()
    from whyscan.spark import session

    before = _running()
    spark = session(master, formats=formats)
    try:
        yield spark
    finally:
        if before is None:
            spark.stop()


def _running() -> SparkSession | None:
    """The session of this process, where it has one already."""
    if "pyspark" not in sys.modules:
        return None
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()
