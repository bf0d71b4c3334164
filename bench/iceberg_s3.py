"""Iceberg tables in an object store whose every request takes 30 ms, against PyIceberg.

Cold processes, nothing cached. The server is SeaweedFS, started as the tests start it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyiceberg_peer
from iceberg import BOUND, PEER
from iceberg_tables import Made, artemis, wide
from latency import delayed
from measure import Ratio, compare
from processes import WHYSCAN, run

from tables.storage.seaweed import BUCKET, KEY, SECRET, running

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS_A_REQUEST = 0.03
REGION = "us-east-1"


def measurements(folder: Path) -> Iterator[Ratio]:
    """Both tables through one proxy."""
    tables = {
        "Iceberg, 100,000 files, S3": wide(folder / "wide-s3", f"s3://{BUCKET}/wide"),
        "Artemis, 4,000 manifests, S3": artemis(folder / "artemis-s3", f"s3://{BUCKET}/artemis"),
    }
    with tempfile.TemporaryDirectory() as home, running(Path(home)) as server:
        for table in tables.values():
            server.upload(table.folder, table.location.rpartition("/")[2])
        with delayed(server.port, SECONDS_A_REQUEST) as port:
            for work, table in tables.items():
                yield _cold(work, table, f"http://127.0.0.1:{port}")


def _cold(work: str, table: Made, endpoint: str) -> Ratio:
    keys = {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": REGION,
    }
    theirs = {
        "s3.endpoint": endpoint,
        "s3.access-key-id": KEY,
        "s3.secret-access-key": SECRET,
        "s3.region": REGION,
    }
    ours = [WHYSCAN, "explain", table.location, "-w", BOUND.ours, "--depth", "files", "--no-cache"]
    return compare(
        work,
        PEER,
        1 / 5,
        lambda: run(ours, keys),
        lambda: run(pyiceberg_peer.cold(table.location, BOUND.theirs, theirs)),
    )
