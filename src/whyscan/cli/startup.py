"""What the command line does not load, and how it begins and ends: most of a short run is that."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Thread, current_thread, main_thread
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import ModuleType

_MANY = 100_000


class _HiddenModule:
    """A module that cannot be found, even where it is installed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        del path, target
        if fullname == self._name:
            raise ModuleNotFoundError(f"{fullname} is left out", name=fullname)


def begin() -> None:
    """Before anything heavy is imported: modules are no garbage that is worth looking for."""
    gc.set_threshold(_MANY)
    hide_pandas()


def hide_pandas() -> None:
    """PyArrow imports pandas wherever it is installed: half a second, and nobody here uses it."""
    sys.meta_path.insert(0, _HiddenModule("pandas"))


def show_pandas() -> None:
    """Spark asks for it wherever it meets Arrow."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _HiddenModule)]


def start_duckdb(places: Iterable[str]) -> None:
    """DuckDB reads the log of a Delta table, and starts beside all that is imported before."""
    if any(os.path.isdir(f"{place}/_delta_log") for place in places):  # noqa: PTH112 - never raises
        from whyscan.tables import duckdb_engine

        duckdb_engine.start()


@contextmanager
def loading_the_parser(places: Iterable[str]) -> Iterator[None]:
    """Import the parser while a table's first objects are on their way, if it is not here.

    Nothing of it is imported elsewhere meanwhile: two threads in one package would wait for
    each other.
    """
    parser = Thread(target=import_module, args=("sqlglot.dialects.spark",))
    remote = any("://" in place for place in places)
    if remote:
        parser.start()
    try:
        yield
    finally:
        if remote:
            parser.join()


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """A job that is ended from outside removes what it began, as after Ctrl-C."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def end(code: int) -> NoReturn:
    """End at once: taking an interpreter with all its modules apart takes a tenth of a second."""
    atexit._run_exitfuncs()  # noqa: SLF001 - temporary folders are removed there
    for stream in (sys.stdout, sys.stderr):
        # Whoever wrote has flushed, and complained if that failed; a closed stream is None.
        with suppress(OSError, AttributeError):
            stream.flush()
    os._exit(code)
