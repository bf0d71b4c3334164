"""A real S3 server on this machine: SeaweedFS, started for the tests that need one."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from obstore.store import S3Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WEED = Path(sys.executable).with_name("weed")
BUCKET = "lake"
KEY, SECRET = "whyscan", "canary-of-the-secret-key"
LISTENERS = (
    "s3.port",
    "s3.port.grpc",
    "s3.port.iceberg",
    "master.port",
    "master.port.grpc",
    "volume.port",
    "volume.port.grpc",
    "filer.port",
    "filer.port.grpc",
    "admin.port",
    "admin.port.grpc",
)
STARTED_WITHIN = 30


class CannotRun(Exception):
    """The server's binary is not there, or not for this machine."""


@dataclass(frozen=True)
class Server:
    """A running server with one empty bucket, and an Iceberg REST catalog beside it."""

    port: int
    catalog_port: int

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def catalog(self) -> str:
        return f"http://127.0.0.1:{self.catalog_port}"

    def upload(self, folder: Path, name: str) -> None:
        """Put every file of a folder below a name in the bucket."""
        put_folder(self.store(), folder, name)

    def store(self) -> S3Store:
        return S3Store(
            BUCKET,
            endpoint=self.endpoint,
            access_key_id=KEY,
            secret_access_key=SECRET,
            client_options={"allow_http": True},
        )


def put_folder(store: Any, folder: Path, name: str) -> None:
    """Put every file of a folder below a name in a store."""
    for file in folder.rglob("*"):
        if file.is_file():
            store.put(f"{name}/{file.relative_to(folder)}", file.read_bytes())


@contextmanager
def running(folder: Path, more: Sequence[str] = ()) -> Iterator[Server]:
    """The server, until the block ends. In `more` of its options, {s3.port} is a port."""
    if not WEED.exists():
        raise CannotRun(f"there is no {WEED.name} beside the interpreter: make setup")
    ports = dict(zip(LISTENERS, free_ports(len(LISTENERS)), strict=True))
    with (folder / "log").open("wb") as log, ExitStack() as stack:
        try:
            process = subprocess.Popen(
                [*command(folder, ports), *(_filled(option, ports) for option in more)],
                env={**os.environ, "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET},
                cwd=folder,
                stdout=log,
                stderr=log,
            )
        except OSError as error:
            raise CannotRun(f"{WEED.name} does not run here: {error.strerror}") from error
        stack.callback(remove_sockets, ports)
        stack.callback(stop, process)
        server = Server(ports["s3.port"], ports["s3.port.iceberg"])
        wait_for(server, process)
        yield server


def command(folder: Path, ports: dict[str, int]) -> list[str]:
    data = folder / "data"
    data.mkdir()
    return [
        str(WEED),
        "mini",
        f"-dir={data}",
        "-ip=127.0.0.1",
        "-ip.bind=127.0.0.1",
        *(f"-{name}={port}" for name, port in ports.items()),
        "-s3.port.lance=0",
        "-webdav=false",
        "-admin.ui=false",
        "-master.telemetry=false",
        f"-bucket={BUCKET}",
    ]


def _filled(option: str, ports: dict[str, int]) -> str:
    return option.replace("{s3.port}", str(ports["s3.port"]))


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def wait_for(server: Server, process: subprocess.Popen[bytes]) -> None:
    """Until the bucket answers, which is later than the port does."""
    until = time.monotonic() + STARTED_WITHIN
    while time.monotonic() < until:
        if process.poll() is not None:
            raise CannotRun(f"{WEED.name} ended with {process.returncode}")
        with suppress(Exception):
            server.store().put("ready", b"yes")
            return
        time.sleep(0.1)
    raise CannotRun(f"{WEED.name} did not answer within {STARTED_WITHIN} s")


def stop(process: subprocess.Popen[bytes]) -> None:
    """At once: what it stores is gone with the folder."""
    process.kill()
    process.wait()


def remove_sockets(ports: dict[str, int]) -> None:
    """It leaves them behind, by the numbers of its ports."""
    for port in ports.values():
        for left in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
            left.unlink(missing_ok=True)
