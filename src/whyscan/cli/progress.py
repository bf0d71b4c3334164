"""A line on the terminal for work that takes more than a second."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Self

from whyscan.masking import mask_credentials

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from whyscan.tables.snapshot import Traffic

PATIENCE = 1.0
REFRESH = 0.1
TRACK = 20
RUNNER = 4
CLEAR = "\r\x1b[K"


class Progress:
    """A thread that shows how much metadata was read, if standard error is a terminal."""

    def __init__(self) -> None:
        self._traffic: Callable[[], Traffic] | None = None
        self._done = Event()
        self._thread = Thread(target=self._run, daemon=True)

    def watch(self, traffic: Callable[[], Traffic]) -> None:
        """Set the function that returns the traffic so far."""
        self._traffic = traffic

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        started = monotonic()
        if self._done.wait(PATIENCE):
            return
        while not self._done.wait(REFRESH):
            sys.stderr.write(CLEAR + self._line(monotonic() - started))
            sys.stderr.flush()
        sys.stderr.write(CLEAR)
        sys.stderr.flush()

    def _line(self, seconds: float) -> str:
        from whyscan.reports.words import counted, size

        place = int(seconds / REFRESH) % (TRACK - RUNNER + 1)
        track = ("#" * RUNNER).rjust(place + RUNNER, ".").ljust(TRACK, ".")
        if self._traffic is None:
            return f"[{track}] looking for the table, {seconds:.0f} s"
        read = self._traffic()
        return f"[{track}] {counted(read.objects, 'object')}, {size(read.bytes)}, {seconds:.0f} s"


@contextmanager
def steps() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the current step in one line on the terminal."""

    def tell(step: str) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"{CLEAR}{mask_credentials(step)}")
            sys.stderr.flush()

    try:
        yield tell
    finally:
        tell("")
