"""One percent of a clustered table in an object store whose every request takes 30 ms.

DuckDB through whyscan, against DuckDB over delta-rs' dataset and over what PyIceberg reads: the
time, and the number of requests that read. The server is SeaweedFS, as the tests start it.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from clustered import clustered
from iceberg_s3 import REGION, SECONDS_A_REQUEST
from latency import Requests, delayed
from measure import Ratio, compare

from engines import by_duckdb, cases
from tables.storage.seaweed import BUCKET, KEY, SECRET, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from engines import Source

TWICE = 1 / 2


def measurements(folder: Path) -> Iterator[Ratio]:
    """Both formats, through one proxy."""
    name = "engines"
    table = clustered(folder / "engines-s3", f"s3://{BUCKET}/{name}")
    requests = Requests()
    with tempfile.TemporaryDirectory() as home, running(Path(home)) as server:
        server.upload(folder / "engines-s3", name)
        with delayed(server.port, SECONDS_A_REQUEST, requests) as port:
            endpoint = f"http://127.0.0.1:{port}"
            for format_name, ours, peers in cases(
                table.delta, table.iceberg, _options(endpoint), _of_pyiceberg(endpoint)
            ):
                for peer, theirs in peers.items():
                    work = f"1 % of 1,000 files, S3, {format_name}"
                    yield compare(
                        work, peer, TWICE, partial(by_duckdb, ours), partial(by_duckdb, theirs)
                    )
                    counts = (_requests(source, requests) for source in (ours, theirs))
                    yield Ratio(f"{work}, requests", peer, *counts, 1.0, "requests")


def _requests(source: Callable[[], Source], requests: Requests) -> float:
    """How many requests one query takes."""
    before = requests.count
    by_duckdb(source)
    return requests.count - before


def _options(endpoint: str) -> dict[str, str]:
    return {
        "aws_endpoint_url": endpoint,
        "aws_access_key_id": KEY,
        "aws_secret_access_key": SECRET,
        "aws_region": REGION,
        "aws_allow_http": "true",
    }


def _of_pyiceberg(endpoint: str) -> dict[str, str]:
    return {
        "s3.endpoint": endpoint,
        "s3.access-key-id": KEY,
        "s3.secret-access-key": SECRET,
        "s3.region": REGION,
    }
