"""Start the Python workers of a local session with Spark's daemon, but without Spark's archives.

Spark puts `pyspark.zip` and the jar of its core first on the import path of the workers, and each
task reads the directories of both again, which takes longer than most tasks. With this daemon the
workers import the installed pyspark, as the driver does.

    python -m whyscan.spark.daemon pyspark.worker
"""

from __future__ import annotations

import gc
import os
import sys
from functools import wraps
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_ARCHIVES = (".zip", ".jar")


def main() -> None:
    """Fork a worker for each connection, until Spark closes the standard input."""
    leave_out_archives()
    from pyspark import daemon

    daemon.worker = quiet(daemon.worker)
    # Workers collect garbage after each task: the objects of this process are excluded.
    gc.freeze()
    daemon.manager()  # type: ignore[no-untyped-call]


def leave_out_archives() -> None:
    """Remove Spark's archives from the import path, if pyspark is installed elsewhere."""
    before = list(sys.path)
    home = os.path.join(os.environ.get("SPARK_HOME", ""), "")  # noqa: PTH118 - as a prefix
    archives = [p for p in before if p.startswith(home) and p.endswith(_ARCHIVES)]
    sys.path[:] = [path for path in before if path not in archives]
    if find_spec("pyspark") is None:
        sys.path[:] = before
        return
    for path in archives:
        sys.path_importer_cache.pop(path, None)


def quiet(work: Callable[..., int]) -> Callable[..., int]:
    """Wrap a worker: it ends without a traceback if Spark has closed the connection."""

    @wraps(work)
    def working(*arguments: object) -> int:
        try:
            return work(*arguments)
        except (BrokenPipeError, ConnectionResetError):
            os._exit(1)

    return working


if __name__ == "__main__":
    main()
