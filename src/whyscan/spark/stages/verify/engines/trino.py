"""Run predicates on a Trino server over its HTTP protocol, and read its statistics."""

from __future__ import annotations

import json
import re
from time import sleep
from typing import TYPE_CHECKING, Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from whyscan.spark.stages.verify.engines.engine import EngineAnswer, EngineRefusal, one_line

if TYPE_CHECKING:
    from whyscan.spark.stages.verify.engines.engine import Target

USER = "whyscan"
PARTS = 3
HINT = "http://user@host:8080/catalog/schema/table"
PATIENCE = 60
# Only the Iceberg connector counts files.
_FILES = re.compile(r"'dataFiles' = LongCount\{total=(\d+)\}")


class TrinoEngine:
    """One table of a Trino server."""

    dialect = "trino"

    def __init__(self, server: str, user: str, table: str, timezone: str) -> None:
        self._server = server
        self._headers = {"X-Trino-User": user, "X-Trino-Time-Zone": timezone}
        self._table = table
        self._version: str | None = None

    def ask(self, sql: str) -> EngineAnswer:
        statement = f"SELECT count(*) FROM {self._table} WHERE ({sql}\n)"  # noqa: S608 - the user's own
        query, rows = self.run(statement)
        response = self._get(f"{self._server}/v1/query/{query}")
        read = (response.get("queryStats") or {}).get("physicalInputPositions")
        _, plan = self.run(f"EXPLAIN ANALYZE VERBOSE {statement}")
        files = _FILES.findall(str(plan[0][0]))
        return EngineAnswer(
            int(rows[0][0]),
            files=sum(map(int, files)) if files else None,
            rows_read=None if read is None else int(read),
            version=self._version_of_server(),
        )

    def _version_of_server(self) -> str | None:
        if self._version is None:
            response = self._get(f"{self._server}/v1/info")
            self._version = (response.get("nodeVersion") or {}).get("version")
        return self._version

    def run(self, sql: str) -> tuple[str, list[list[Any]]]:
        """Run a statement; the query id and the rows."""
        response = self._send(Request(f"{self._server}/v1/statement", sql.encode()))  # noqa: S310 - checked when it was opened
        rows: list[list[Any]] = []
        while True:
            if "error" in response:
                raise EngineRefusal(
                    str(response["error"].get("message", "it failed")).splitlines()[0]
                )
            rows += response.get("data") or []
            if "nextUri" not in response:
                return str(response["id"]), rows
            response = self._get(response["nextUri"])

    def _get(self, address: str) -> dict[str, Any]:
        return self._send(Request(address))  # noqa: S310 - the server's own address

    def _send(self, request: Request) -> dict[str, Any]:
        for name, value in self._headers.items():
            request.add_header(name, value)
        for attempt in range(2):
            try:
                with urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310 - as above
                    document: dict[str, Any] = json.load(answer)
                    return document
            except (URLError, ValueError, TimeoutError) as error:
                if attempt:
                    raise EngineRefusal(f"Trino did not answer: {one_line(error)}") from error
                sleep(1)
        raise AssertionError


def open_trino(target: Target) -> TrinoEngine:
    """The table of a Trino server that an address names."""
    if target.trino is None:
        raise EngineRefusal(f"no server was named: --trino {HINT}")
    address = urlsplit(target.trino)
    parts = [part for part in address.path.split("/") if part]
    if address.scheme not in {"http", "https"} or len(parts) != PARTS:
        raise EngineRefusal(f"{target.trino} names no table of a server: {HINT}")
    quoted = ".".join('"' + part.replace('"', '""') + '"' for part in parts)
    host = address.netloc.rpartition("@")[2]
    user = address.username or USER
    return TrinoEngine(f"{address.scheme}://{host}", user, quoted, target.timezone)
