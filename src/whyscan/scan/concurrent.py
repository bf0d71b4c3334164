"""Reads the portions of a plan at the same time, with a bounded number of batches in memory.

The batches come in the order of the plan. A worker that is ahead of the reader waits, so memory
follows the size of a batch and the number of workers, and not the table.
"""

from __future__ import annotations

import os
from collections import deque
from queue import Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, Generic, TypeVar

from whyscan.scan.reader import read_portion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from whyscan.scan.plan_portions import Portion

T = TypeVar("T")

LOCAL_WORKERS = 8
REMOTE_WORKERS = 4
"""Workers for an object store: each of them opens several files ahead."""

_BATCHES_AHEAD = 2
_POLL_SECONDS = 0.1


def read_at_once(portions: Sequence[Portion], shaped: Callable[[pa.RecordBatch], T]) -> Iterator[T]:
    """The batches of all portions in their order, each as `shaped` makes it in a worker."""
    workers = _workers_for(portions)
    stop = Event()
    running: deque[_Worker[T]] = deque()
    try:
        for portion in portions:
            running.append(_Worker(portion, shaped, stop))
            if len(running) >= workers:
                yield from running.popleft().batches()
        while running:
            yield from running.popleft().batches()
    finally:
        stop.set()
        for worker in running:
            worker.join()


def _workers_for(portions: Sequence[Portion]) -> int:
    """How many threads read these portions."""
    files = portions[0].reading.files if portions else ()
    if files and files[0].store.folder is None:
        return REMOTE_WORKERS
    return max(2, min(LOCAL_WORKERS, os.cpu_count() or 1))


class _Worker(Generic[T]):
    """A thread that reads one portion into a short queue. None in the queue is the end."""

    def __init__(
        self, portion: Portion, shaped: Callable[[pa.RecordBatch], T], stop: Event
    ) -> None:
        self._queue: Queue[T | BaseException | None] = Queue(_BATCHES_AHEAD)
        self._shaped = shaped
        self._stop = stop
        self._thread = Thread(target=self._run, args=(portion,), daemon=True)
        self._thread.start()

    def batches(self) -> Iterator[T]:
        """The batches of the portion, and the error that ended them."""
        while True:
            item = self._queue.get()
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item

    def join(self) -> None:
        self._thread.join()

    def _run(self, portion: Portion) -> None:
        last: BaseException | None = None
        try:
            for batch in read_portion(portion):
                if not self._put(self._shaped(batch)):
                    return
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that reads
            last = error
        self._put(last)

    def _put(self, item: T | BaseException | None) -> bool:
        """Whether the item is in the queue; False if the reader has ended."""
        while not self._stop.is_set():
            try:
                self._queue.put(item, timeout=_POLL_SECONDS)
            except Full:
                continue
            return True
        return False
