"""Pickle what the driver sends to executors as rows of a job; executors use `pickle.loads`.

It may contain secrets. Rows are data: no plan, setting, log or page of Spark shows them.
"""

from __future__ import annotations


def packed(work: object) -> bytes:
    """Pickle with Spark's cloudpickle: a user's function may supply the credentials of a store."""
    from pyspark import cloudpickle

    data: bytes = cloudpickle.dumps(work)  # type: ignore[no-untyped-call]
    return data
