"""A layout that was predicted, beside the same layout that was really written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from whyscan.fields import Count, Fraction, Name, Record, Sql, TableFormat
from whyscan.reports.rendering import WrittenReport
from whyscan.reports.view import (
    CodeSpan,
    FactsBlock,
    GridBlock,
    Head,
    NamedValue,
    NameSpan,
    TitleBlock,
)
from whyscan.reports.words import counted, percent, size

if TYPE_CHECKING:
    from whyscan.reports.view import Blocks

_SAME_SIZE = 0.02
"""A copy whose size differs by less is as large as the table."""


class CheckedNumber(Record, frozen=True):
    """A number of all runs: predicted with its interval, and measured on the written table."""

    COMPUTED: ClassVar = {"error": "error"}

    predicted: Count
    low: Count
    high: Count
    measured: Count

    @property
    def error(self) -> float | None:
        """How far the prediction is off, as a share of what was measured; null for nothing."""
        return abs(self.predicted - self.measured) / self.measured if self.measured else None


class CheckedQuery(Record, frozen=True):
    """What one run of a query reads of the table today, by prediction, and of the written table."""

    query: Sql
    runs: Count
    bytes_today: Count
    bytes_predicted: Count
    bytes_measured: Count
    files_predicted: Count
    files_measured: Count


class LayoutCheck(WrittenReport, frozen=True):
    """What a layout was predicted to read, beside a table that was written in it.

    The table is a copy, of `fraction` of the rows. Predictions of a fraction are this share of
    those for the whole table.
    """

    COMPUTED: ClassVar = {"error": "error"}

    table: Name
    uri: Name
    format: TableFormat
    layout: Name
    fraction: Fraction
    written: Annotated[Name, Meta(description="Where the copy is.")]
    statements: Annotated[
        tuple[Sql, ...], Meta(description="The statements that made the layout of the copy.")
    ]
    bytes: CheckedNumber
    files: CheckedNumber
    table_bytes: Annotated[Count, Meta(description="The size of the table today.")]
    written_bytes: Annotated[Count, Meta(description="The size of the copy.")]
    written_files: Count
    queries: Annotated[
        tuple[CheckedQuery, ...], Meta(description="Every query, the one furthest off first.")
    ]

    @property
    def error(self) -> float | None:
        """How far the predicted share of the table's bytes is from the share of the copy's.

        Writers compress differently, so the bytes of a row are others in the copy. Null if a share
        is of nothing.
        """
        whole = self.table_bytes * self.fraction
        if not whole or not self.bytes.measured:
            return None
        measured = self.bytes.measured / self.written_bytes
        return abs(self.bytes.predicted / whole - measured) / measured

    def redacted(self) -> LayoutCheck:
        """Return the same report without literals and values, for sharing."""
        from whyscan.reports.redaction import redacted

        return redacted(self)

    def view(self) -> Blocks:
        """Return the blocks: both numbers of all runs, then query by query."""
        return (
            TitleBlock(_answer(self), command="verify", subject=self.table),
            FactsBlock(
                (
                    NamedValue("table", NameSpan(self.uri), beside=self.format),
                    NamedValue("layout", CodeSpan(self.layout)),
                    NamedValue("written", NameSpan(self.written), beside=_of_the_rows(self)),
                    *(NamedValue("Spark", CodeSpan(text)) for text in self.statements),
                )
            ),
            _numbers(self),
            _queries(self),
        )


def _answer(check: LayoutCheck) -> str:
    """Write `predicted 1.2 GB, measured 1.3 GB: 7.7 % off`."""
    numbers = check.bytes
    answer = f"predicted {size(numbers.predicted)}, measured {size(numbers.measured)}"
    if numbers.error is None or check.error is None:
        return answer
    answer += f": {100 * numbers.error:.1f} % off"
    scale = check.written_bytes / max(1, check.table_bytes * check.fraction)
    if abs(scale - 1) < _SAME_SIZE:
        return answer
    return f"{answer}, {100 * check.error:.1f} % by the size of the copy"


def _of_the_rows(check: LayoutCheck) -> str:
    files = f"{size(check.written_bytes)} in {counted(check.written_files, 'file')}"
    return files if check.fraction == 1 else f"{files}, {check.fraction:.3g} of the rows"


def _numbers(check: LayoutCheck) -> GridBlock:
    heads = ("all runs", "predicted", "interval", "measured")
    lines = (
        ("bytes", check.bytes, size),
        ("files", check.files, lambda number: f"{number:,}"),
    )
    return GridBlock(
        tuple(Head(name, number=at > 0) for at, name in enumerate(heads)),
        tuple(
            (
                name,
                show(line.predicted),
                f"{show(line.low)} to {show(line.high)}",
                show(line.measured),
            )
            for name, line, show in lines
        ),
        label="Predicted and measured",
    )


def _queries(check: LayoutCheck) -> GridBlock:
    heads = ("query", "runs", "today", "predicted", "measured", "of predicted")
    return GridBlock(
        tuple(Head(name, number=at > 0) for at, name in enumerate(heads)),
        tuple(
            (
                CodeSpan(line.query),
                f"{line.runs:,}",
                size(line.bytes_today),
                f"{size(line.bytes_predicted)} in {line.files_predicted:,}",
                f"{size(line.bytes_measured)} in {line.files_measured:,}",
                percent(line.bytes_measured, line.bytes_predicted),
            )
            for line in check.queries
        ),
        label="Queries",
    )
