"""Run jobs on Spark: send work as rows, run again if a Python worker died, raise errors of ours.

The driver pickles the work of each task into a row, and the task unpickles it. Work may contain
secrets: rows are data, and no plan, setting, log or page of Spark shows them.

>>> frame = work_frame(spark, [(1, "a"), (2, "b")])
>>> rows = ran(mapped(frame, task, schema).collect)
"""

from __future__ import annotations

import pickle
from contextlib import contextmanager
from functools import cache
from itertools import count
from struct import pack
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from whyscan.spark.errors import DIED, is_spark_error, of_spark, uncarried
from whyscan.spark.versions import frame_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import TypeAlias

    from pyspark.sql import DataFrame, SparkSession

    from whyscan.errors import WhyscanError

    Batches: TypeAlias = Iterable[pa.RecordBatch]
    Task: TypeAlias = Callable[[Batches], Iterator[pa.RecordBatch]]
    """A function for `mapInArrow`."""

T = TypeVar("T")

TASKS_A_CORE = 4
"""Several tasks per core: a core that is done early takes another one."""
ATTEMPTS = 3
_WORK = "work"
_SEED_OF_SPARK = 42


def packed(work: object) -> bytes:
    """Pickle an object for executors.

    Spark's cloudpickle can pickle a lambda, too: a user's function may return credentials.
    """
    from pyspark import cloudpickle

    data: bytes = cloudpickle.dumps(work)  # type: ignore[no-untyped-call]
    return data


def work_frame(spark: SparkSession, work: Iterable[object]) -> DataFrame:
    """One row per piece of work, in the column `work`; tasks read it with `work_of_task`."""
    # One batch per row: Spark distributes large data over its tasks by batches.
    batches = [
        pa.record_batch([pa.array([packed(piece)], pa.binary())], names=[_WORK]) for piece in work
    ]
    with uncarried():
        return frame_of(spark, pa.Table.from_batches(batches))


def work_of_task(batches: Batches) -> Iterator[Any]:
    """The pieces of work in the rows of one task."""
    for batch in batches:
        for row in batch.column(_WORK):
            yield pickle.loads(row.as_py())  # noqa: S301 - written by the driver


def mapped(frame: DataFrame, task: Task, schema: pa.Schema) -> DataFrame:
    """The rows that a task makes of the rows of a frame."""
    from whyscan.engines.spark_types import spark_schema

    return frame.mapInArrow(task, spark_schema(schema))


def ran(job: Callable[[], T]) -> T:
    """The result of a job whose tasks may run again, with errors as in `uncarried`.

    If a Python worker died, the job is started again: a local session retries no task.
    """
    with uncarried():
        for _ in range(ATTEMPTS - 1):
            try:
                return job()
            except Exception as error:  # the death of a worker has no class, Spark says it in words
                if not any(words in str(error) for words in DIED):
                    raise
        return job()


@cache
def evenly_hashed(tasks: int) -> tuple[int, ...]:
    """One integer for each task, such that `repartition(tasks, column)` gives it its own task."""
    import mmh3

    chosen: dict[int, int] = {}
    for number in count():
        if len(chosen) == tasks:
            return tuple(chosen[task] for task in range(tasks))
        chosen.setdefault(mmh3.hash(pack("<i", number), _SEED_OF_SPARK) % tasks, number)
    raise AssertionError


@contextmanager
def spark_errors_as(kind: type[WhyscanError]) -> Iterator[None]:
    """Around a call of Spark: an error of Spark is raised as `kind`, with its message in a line."""
    try:
        yield
    except Exception as error:
        if not is_spark_error(error):
            raise
        first, *rest = str(error).splitlines() or [""]
        message = of_spark(error).message
        if first.startswith("An error occurred while calling") and rest:
            # The next line has the class of the Java exception, then its message.
            message = rest[0].removeprefix(": ").partition(": ")[2] or rest[0]
        raise kind(message) from error


@contextmanager
def described(spark: SparkSession, stage: str, text: str) -> Iterator[None]:
    """Name the jobs of a block in Spark's UI: the group is `whyscan STAGE`, `text` the description.

    The user's own group and description are restored. Spark Connect cannot name jobs.
    """
    from pyspark.errors import PySparkException

    try:
        context = spark.sparkContext
    except PySparkException:
        yield
        return
    keys = ("spark.jobGroup.id", "spark.job.description")
    before = [context.getLocalProperty(key) for key in keys]
    for key, value in zip(keys, (f"whyscan {stage}", text), strict=True):
        context.setLocalProperty(key, value)
    try:
        yield
    finally:
        for key, earlier in zip(keys, before, strict=True):
            context.setLocalProperty(key, earlier)  # type: ignore[arg-type]  # None removes it


@contextmanager
def with_settings(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Change settings of the session during a block, and restore the user's settings after it."""
    before = {key: spark.conf.get(key, None) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, earlier in before.items():
            spark.conf.unset(key) if earlier is None else spark.conf.set(key, earlier)
