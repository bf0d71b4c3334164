"""Errors of executors, on the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whyscan import errors
from whyscan.errors import CorruptFile, StorageError, TextSpan, UnknownColumn, WhyscanError
from whyscan.spark.errors import carried, from_text, of_spark, to_text, uncarried
from whyscan.spark.stage_output import write_table
from whyscan.spark.stages.inventory.writing import inventory_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa
    from pyspark.sql import SparkSession

    Work = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

ERRORS = [
    WhyscanError("plain", hint="try again"),
    CorruptFile("m-1.avro", "it ends too soon", hint="restore it"),
    UnknownColumn("no column x", text="x = 1", span=TextSpan(0, 1), hint="y?"),
    StorageError('a "quoted" name \n with \x1b[31m colours and ä'),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_is_the_same_behind_one_line_of_text(error: WhyscanError) -> None:
    text = to_text(error)
    assert text.isascii()
    assert "\n" not in text
    again = from_text(text)
    assert type(again) is type(error)
    assert vars(again) == vars(error)
    assert str(again) == str(error)


def test_every_class_of_ours_is_known_by_its_name() -> None:
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, WhyscanError):
            carried = from_text(f'{{"class": "{kind.__name__}", "message": "m", "hint": null}}')
            assert type(carried) is kind
            assert carried.exit_code == kind.exit_code


def test_an_error_that_was_not_carried_is_read_from_the_traceback() -> None:
    text = (
        'Traceback (most recent call last):\n  File "x", line 1\nwhyscan.errors.StorageError: no\n'
    )
    error = of_spark(RuntimeError(text))
    assert isinstance(error, StorageError)
    assert error.message == "no"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "Spark failed: it gave no reason"),
        ("[CLASS.INNER] it is gone. SQLSTATE: 1\n at x", "Spark failed: it is gone. SQLSTATE: 1"),
        (
            "no\nTraceback (most recent call last):\n File\nZeroDivisionError: by zero\n\tat x",
            "Spark failed: ZeroDivisionError: by zero",
        ),
    ],
)
def test_an_error_of_spark_itself_is_one_line(text: str, line: str) -> None:
    assert of_spark(RuntimeError(text)).message == line


@pytest.mark.spark
@pytest.mark.parametrize("place", ["s3://bucket/out", "s3a://bucket/out", "abfss://c@a/out"])
@pytest.mark.parametrize("form", ["parquet", "delta"])
def test_a_store_that_spark_has_no_client_for_is_one_line_with_a_hint(
    spark: SparkSession, place: str, form: str
) -> None:
    for act in (
        lambda: inventory_at(place, form).complete_rows(spark),
        lambda: write_table(spark.range(1), place, form),
    ):
        with pytest.raises(StorageError, match=r"^Spark has no ") as caught:
            act()
        assert "hadoop-aws in spark.jars.packages" in (caught.value.hint or "")


def test_what_is_not_from_spark_passes() -> None:
    with pytest.raises(ZeroDivisionError), uncarried():
        raise ZeroDivisionError
    with pytest.raises(StorageError, match="gone"), uncarried():
        raise StorageError("gone")


@pytest.mark.spark
def test_an_executors_error_reaches_the_driver_with_its_class_and_its_hint(
    spark: SparkSession,
) -> None:
    def run(work: Work) -> None:
        with uncarried():
            spark.range(1).mapInArrow(work, "id long").collect()

    @carried
    def corrupt(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches
        raise CorruptFile("m-7.avro", "it ends too soon", hint="restore it")

    def divides(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches
        raise ZeroDivisionError("by nothing")

    with pytest.raises(CorruptFile) as caught:
        run(corrupt)
    assert caught.value.message == "cannot read m-7.avro: it ends too soon"
    assert (caught.value.path, caught.value.hint) == ("m-7.avro", "restore it")
    with pytest.raises(WhyscanError, match="Spark failed: ZeroDivisionError: by nothing"):
        run(divides)
