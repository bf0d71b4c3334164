"""Start and end of the program, without imports and clean-up that a short run does not need."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Thread, current_thread, main_thread
from typing import TYPE_CHECKING, NoReturn, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import ModuleType

_MANY = 100_000


class _HiddenModule:
    """An import finder that reports one module as not installed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        del path, target
        if fullname == self._name:
            raise ModuleNotFoundError(f"{fullname} is left out", name=fullname)


def begin() -> None:
    """Prepare the process before heavy imports: less garbage collection, and no pandas."""
    gc.set_threshold(_MANY)
    hide_pandas()
    # A stream that is closed when a program starts is None.
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115 - as a stream
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - as a stream


def hide_pandas() -> None:
    """Hide pandas, because PyArrow imports it if installed, which takes half a second."""
    sys.meta_path.insert(0, _HiddenModule("pandas"))


def show_pandas() -> None:
    """Make pandas visible again, because Spark needs it for Arrow."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _HiddenModule)]


def start_duckdb(places: Iterable[str]) -> None:
    """Start DuckDB in the background if a location is a Delta table, whose log it reads."""
    if any(os.path.isdir(f"{place}/_delta_log") for place in places):  # noqa: PTH112 - never raises
        from whyscan.tables import duckdb_engine

        duckdb_engine.start()


@contextmanager
def loading_the_parser(places: Iterable[str]) -> Iterator[None]:
    """Import the parser in a thread while the first objects of a remote table are read.

    No other thread may import parts of the parser meanwhile: both would wait for each other.
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


class Interrupts:
    """The interrupts that reached this process, whatever a library's signal handler did with them.

    PySpark's handler calls Java in the middle of another call and ends in an error of its own.
    Python writes the number of each signal into a pipe before it calls a handler.
    """

    _SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM})

    def __enter__(self) -> Self:
        self._signals, self._pipe = os.pipe()
        os.set_blocking(self._signals, False)
        os.set_blocking(self._pipe, False)
        self._is_main = current_thread() is main_thread()
        if self._is_main:
            self._before = signal.set_wakeup_fd(self._pipe, warn_on_full_buffer=False)
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_main:
            signal.set_wakeup_fd(self._before)
        os.close(self._signals)
        os.close(self._pipe)

    def any(self) -> bool:
        """Return whether an interrupt came since the last call."""
        try:
            return not self._SIGNALS.isdisjoint(os.read(self._signals, _MANY))
        except BlockingIOError:
            return False


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C, so that a terminated job removes its temporary files."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def end(code: int) -> NoReturn:
    """End the process at once, because tearing down the interpreter takes a tenth of a second."""
    atexit._run_exitfuncs()  # noqa: SLF001 - temporary folders are removed there
    for stream in (sys.stdout, sys.stderr):
        # Every writer has flushed and reported its errors already; a closed stream is None.
        with suppress(OSError, AttributeError):
            stream.flush()
    os._exit(code)
