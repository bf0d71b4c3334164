"""A proxy before the store that breaks chosen answers of the store in a chosen way."""

from __future__ import annotations

import socket
import struct
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from http.client import HTTPConnection, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ALWAYS = 1_000_000


class Kind(Enum):
    SLOW = "the answer takes its time"
    UNAVAILABLE = "503 with a body that quotes the request, and Retry-After"
    RESET = "the connection is reset before the answer"
    CUT = "the connection ends in the middle of the body"
    SHORT = "the body is shorter than the range that it says it is"


@dataclass
class Fault:
    """What goes wrong with the next `times` requests whose path holds `match`.

    A SLOW answer comes after `seconds`, or once so many requests were under way `together`.
    `status` is that of UNAVAILABLE: 403 stands for a folder that may not be listed.
    """

    kind: Kind
    times: int = ALWAYS
    match: str = ""
    method: str = "GET"
    seconds: float = 0.0
    together: int = ALWAYS
    status: int = 503


@dataclass
class Gauge:
    """How many requests are under way, and how many were at most."""

    now: int = 0
    most: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def counted(self) -> Iterator[None]:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        try:
            yield
        finally:
            with self.lock:
                self.now -= 1


@dataclass(frozen=True)
class Answered:
    """Bytes of an object; `to_this_process`, or to another one."""

    path: str
    bytes: int
    to_this_process: bool


@dataclass
class Proxy:
    """Passes requests on to the store. `seen` are the paths since the last reset, and `ranges` the
    bytes of them that were asked for, as the header says it. While it is `watching`, `answered`
    has who got which bytes."""

    port: int
    faults: list[Fault] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    ranges: list[tuple[str, str]] = field(default_factory=list)
    watching: bool = False
    answered: list[Answered] = field(default_factory=list)
    gauge: Gauge = field(default_factory=Gauge)
    lock: threading.Lock = field(default_factory=threading.Lock)
    over: threading.Event = field(default_factory=threading.Event)
    """Set at a reset: then slow answers wait no longer."""

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def reset(self) -> None:
        self.over.set()
        self.over = threading.Event()
        self.faults.clear()
        self.seen.clear()
        self.ranges.clear()
        self.watching = False
        self.answered.clear()
        self.gauge = Gauge()

    def fault(self, method: str, path: str) -> Fault | None:
        with self.lock:
            self.seen.append(path)
            for fault in self.faults:
                if fault.times > 0 and fault.match in path and fault.method == method:
                    fault.times -= 1
                    return fault
        return None


@contextmanager
def proxy(target: int) -> Iterator[Proxy]:
    """A proxy before the server at a port of this machine."""
    state = Proxy(0)

    class Handler(_Handler):
        pass

    Handler.state, Handler.target = state, target
    server = _Server(("127.0.0.1", 0), Handler)
    state.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def is_of_this_process(port: int) -> bool:
    """Whether the socket at a port is one of this process, as Linux tells it."""
    ours = set()
    for file in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            ours.add(str(file.readlink()))
    for line in Path("/proc/self/net/tcp").read_text().splitlines()[1:]:
        local, inode = line.split()[1], line.split()[9]
        if int(local.rpartition(":")[2], 16) == port and f"socket:[{inode}]" in ours:
            return True
    return False


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        """A client that goes away is what the tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    state: Proxy
    target: int

    def do_GET(self):
        with self.state.gauge.counted():
            if self.command == "GET":
                self.state.ranges.append((self.path, self.headers.get("Range", "")))
            self.respond(self.state.fault(self.command, self.path))

    do_HEAD = do_GET  # noqa: N815 - the base class's spelling

    def respond(self, fault: Fault | None) -> None:
        match fault:
            case Fault(kind=Kind.SLOW):
                self.hesitate(fault)
            case Fault(kind=Kind.UNAVAILABLE):
                return self.unavailable(fault.status)
            case Fault(kind=Kind.RESET):
                return self.hang_up()
        answer, body = self.ask()
        cut = fault is not None and fault.kind in {Kind.CUT, Kind.SHORT}
        sent = body[: len(body) // 2] if cut else body
        length = len(sent) if fault is not None and fault.kind is Kind.SHORT else len(body)
        if self.state.watching:
            ours = is_of_this_process(self.client_address[1])
            self.state.answered.append(Answered(self.path, len(sent), ours))
        self.pass_on(answer, sent, length)
        if cut:
            self.close_connection = True
        return None

    def hesitate(self, fault: Fault) -> None:
        until = time.monotonic() + fault.seconds
        while self.state.gauge.most < fault.together and time.monotonic() < until:
            if self.state.over.wait(0.02):
                return
        if fault.together != ALWAYS:
            time.sleep(0.2)  # for one more, which there must not be

    def ask(self) -> tuple[HTTPResponse, bytes]:
        """The store's own answer. The host stays as it was: the signature covers it."""
        connection = HTTPConnection("127.0.0.1", self.target, timeout=30)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer, body

    def pass_on(self, answer: HTTPResponse, body: bytes, length: int) -> None:
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in {"content-length", "connection", "transfer-encoding"}:
                self.send_header(name, value)
        said = answer.getheader("Content-Length") if self.command == "HEAD" else None
        self.send_header("Content-Length", said or str(length))
        self.end_headers()
        self.wfile.write(body)

    def unavailable(self, status: int) -> None:
        body = f"<Error>{self.path} {self.headers['Authorization']}</Error>".encode()
        self.send_response_only(status)
        self.send_header("Retry-After", "1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def hang_up(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def log_message(self, format, *args):  # noqa: A002 - the base class's name
        """Nothing: the tests' own output is read."""
