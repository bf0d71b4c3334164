"""The Spark session of a command: the running session, or a new one that ends with the command."""

from __future__ import annotations

import logging
import signal
import sys
from contextlib import contextmanager
from threading import Thread, current_thread, main_thread
from typing import TYPE_CHECKING, Any, TypeVar

import click

from whyscan.cli.startup import show_pandas, sigterm_as_interrupt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from pyspark.sql import SparkSession

Command = TypeVar("Command", bound="Callable[..., Any] | click.Command")

MASTER = click.option(
    "--master",
    metavar="URL",
    help="Run Spark on this master. [default: that of your Spark configuration, else all cores of "
    "this machine]",
)


def table_format(option: str, about: str) -> Callable[[Command], Command]:
    """Make the option for the format of tables that are written."""
    return click.option(
        option,
        type=click.Choice(["parquet", "delta", "iceberg"]),
        default="parquet",
        show_default=True,
        help=about,
    )


@contextmanager
def spark_session(master: str | None, *, formats: bool = False) -> Iterator[SparkSession]:
    """Open a session. A session that was running before keeps running.

    `formats` adds Delta and Iceberg to a new session.
    """
    show_pandas()
    from whyscan.spark import session

    ENDING.wait()
    before = _running()
    for name in (None, "py4j.java_gateway", "py4j.clientserver"):
        logging.getLogger(name).addFilter(_is_not_of_py4j)
    with sigterm_as_interrupt():
        with _first_interrupt_deferred():
            spark = session(master, formats=formats)
        try:
            yield spark
        finally:
            if before is None and _is_of_this_machine(spark):
                ENDING.begin(spark)
            elif before is None:
                spark.stop()


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    """Drop Py4J's traceback of an interrupted call; the command prints one line for it.

    Py4J writes it to the root logger, where a filter does not see what other loggers write, and to
    loggers of its own.
    """
    return record.module not in {"java_gateway", "clientserver"}


@contextmanager
def _first_interrupt_deferred() -> Iterator[None]:
    """Raise the first interrupt at the end of the block; a second one is raised at once.

    PySpark leaves a Java process behind if its start is interrupted. It also sets a handler
    for Ctrl-C that calls Java amid another call; this block removes that handler.
    """
    if current_thread() is not main_thread():
        yield
        return
    arrived = False

    def defer(number: int, frame: FrameType | None) -> None:
        nonlocal arrived
        if arrived:
            signal.default_int_handler(number, frame)
        arrived = True

    before = {number: signal.signal(number, defer) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if arrived:
        raise KeyboardInterrupt


def _is_of_this_machine(spark: SparkSession) -> bool:
    """Return whether Spark runs locally; False for a cluster and for Spark Connect."""
    from pyspark.errors import PySparkException

    try:
        return (spark.sparkContext.master or "").startswith("local")
    except PySparkException:
        return False


class _Ending:
    """The end of a session in a thread, while the command continues.

    Spark needs a tenth of a second to stop. Then PySpark waits for a thread of its own, which ends
    with this process anyway. A Java process whose Python process has ended stops Spark by itself.
    """

    def __init__(self) -> None:
        self._thread: Thread | None = None

    def begin(self, spark: SparkSession) -> None:
        self._thread = Thread(target=spark.stop, daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait until no session of this process is ending."""
        if self._thread is not None:
            self._thread.join()


ENDING = _Ending()


def _running() -> SparkSession | None:
    """Return the active session of this process, if there is one."""
    if "pyspark" not in sys.modules:
        return None
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()
