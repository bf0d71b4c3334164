"""A proxy that lets every request to a server wait, as one across a network does.

It passes bytes on and reads no more than their beginning, so that hundreds of connections cost it
little: a client that waits for its answer sends nothing, and what it sends is a request.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHUNK = 1 << 18
_BACKLOG = 512


_READS = (b"GET ", b"HEAD ")


@dataclass(slots=True)
class Requests:
    """How many requests that read have passed."""

    count: int = 0


@dataclass(frozen=True, slots=True)
class _Way:
    """Where requests go, how long each of them takes to get there, and who counts them."""

    port: int
    seconds: float
    requests: Requests

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.CancelledError):
            answers, requests = await asyncio.open_connection("127.0.0.1", self.port)
            await asyncio.gather(
                _pass_on(reader, requests, self.seconds, self.requests),
                _pass_on(answers, writer, 0, None),
            )


async def _pass_on(
    source: asyncio.StreamReader,
    target: asyncio.StreamWriter,
    seconds: float,
    requests: Requests | None,
) -> None:
    try:
        while data := await source.read(_CHUNK):
            if requests is not None and data.startswith(_READS):
                requests.count += 1
            if seconds:
                await asyncio.sleep(seconds)
            target.write(data)
            await target.drain()
    finally:
        target.close()


@contextmanager
def delayed(port: int, seconds: float, requests: Requests | None = None) -> Iterator[int]:
    """The port of a proxy before another port of this machine, until the block ends.

    `requests` counts what reads, None counts for no one.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> asyncio.Server:
        way = _Way(port, seconds, requests or Requests())
        return await asyncio.start_server(way.serve, "127.0.0.1", 0, backlog=_BACKLOG)

    server = asyncio.run_coroutine_threadsafe(start(), loop).result()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        loop.call_soon_threadsafe(server.close)
        asyncio.run_coroutine_threadsafe(_end_all(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


async def _end_all() -> None:
    """End the connections that clients of this process keep open."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
