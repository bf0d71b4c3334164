"""What the driver hands to executors inside rows of a job: pickled, and read by `pickle.loads`.

Keys may be among it: rows are data, which no plan, setting, log or page of Spark shows.
"""

from __future__ import annotations


def packed(work: object) -> bytes:
    """By Spark's own pickle: a store's credentials may come from a function of the user's."""
    from pyspark import cloudpickle

    data: bytes = cloudpickle.dumps(work)  # type: ignore[no-untyped-call]
    return data
