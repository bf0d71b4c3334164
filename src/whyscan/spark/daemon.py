"""Start the Python workers of a local session with Spark's daemon, but without Spark's archives.

Spark puts `pyspark.zip` and the jar of its core first on the import path of the workers, and each
task reads the directories of both again: about 0.1 s of CPU a task, ten times the rest of a small
task. In this process the installed pyspark is imported, as in the driver. No module of Spark is
changed: `spark.python.daemon.module` is Spark's own setting, and this process runs a copy.

    python -m whyscan.spark.daemon pyspark.worker
"""

from __future__ import annotations

import gc
import os
import sys
from functools import wraps
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_ARCHIVES = (".zip", ".jar")


def main() -> None:
    """Fork a worker for each connection, until Spark closes the standard input."""
    leave_out_archives()
    daemon = _copy_of("pyspark.daemon")
    daemon.worker = quiet(daemon.worker)
    # Workers collect garbage after each task: the objects of this process are excluded.
    gc.freeze()
    daemon.manager()


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


def _copy_of(name: str) -> Any:
    """A module of our own that runs the code of the module `name`."""
    spec = find_spec(name)
    if spec is None or spec.loader is None:
        raise ImportError(f"there is no {name}")
    copy = module_from_spec(spec)
    spec.loader.exec_module(copy)
    return copy


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
