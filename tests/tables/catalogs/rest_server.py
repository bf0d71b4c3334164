"""An Iceberg REST catalog of this process: real requests, and answers that a test chooses."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TOKENS = "/v1/oauth/tokens"


@dataclass
class Rest:
    """What is served: a path, and what gives its status and its answer."""

    answers: dict[str, Callable[[], tuple[int, Any]]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    accepted: Callable[[str | None], int] = lambda _: 200
    port: int = 0

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def serve(self, path: str, answer: Callable[[], tuple[int, Any]]) -> None:
        self.answers[f"/v1/{path}"] = answer

    def table(self, answer: Callable[[], Any]) -> None:
        """What `loadTable` says of db.events."""
        self.serve("namespaces/db/tables/events", lambda: (200, answer()))

    def count(self, path: str) -> int:
        return self.requests.count(f"/v1/{path}")

    def respond(self, path: str, token: str | None) -> tuple[int, Any]:
        self.requests.append(path)
        if path == TOKENS:
            self.tokens.append(f"token-{len(self.tokens)}")
            return 200, {"access_token": self.tokens[-1], "token_type": "bearer"}
        status = self.accepted(token)
        if status != 200:
            return status, {"error": {"message": "canary", "type": "x", "code": status}}
        if path == "/v1/config":
            return 200, {"defaults": {}, "overrides": {}}
        absent = (404, {"error": {"message": "canary", "type": "x", "code": 404}})
        return self.answers.get(path, lambda: absent)()


@contextmanager
def serving() -> Iterator[Rest]:
    """The server, until the block ends."""
    rest = Rest()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            self.rfile.read(length)
            token = self.headers.get("Authorization")
            status, answer = rest.respond(urlsplit(self.path).path, token)
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - http.server's name

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        rest.port = server.server_address[1]
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield rest
        finally:
            server.shutdown()
            thread.join()
