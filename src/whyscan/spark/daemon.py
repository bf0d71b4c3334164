"""The parent of a session's Python workers on this machine: Spark's own, without its archives.

Spark puts `pyspark.zip` and the jar of its core before everything else on the workers' path, and
has each task read their directories anew, which takes longer than most tasks. Here workers import
the pyspark that is installed, as the driver does.

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
    # The workers collect garbage after each task: what they are forked with is none.
    gc.freeze()
    daemon.manager()  # type: ignore[no-untyped-call]


def leave_out_archives() -> None:
    """Import nothing from Spark's archives, unless pyspark is nowhere else."""
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
    """A worker whose Spark has ended has nobody left to tell of it: no traceback for the user."""

    @wraps(work)
    def working(*arguments: object) -> int:
        try:
            return work(*arguments)
        except (BrokenPipeError, ConnectionResetError):
            os._exit(1)

    return working


if __name__ == "__main__":
    main()
