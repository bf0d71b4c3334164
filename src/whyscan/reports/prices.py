"""Prices of reading that the user gives, and what a query costs at these prices.

There is no default price and no currency: an amount is in the currency of the prices.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from whyscan.errors import UsageError
from whyscan.fields import Count, Record, Word
from whyscan.tables.sizes import parse_size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whyscan.reports.gates import GatedAmount

DAYS_OF_A_MONTH = 30


class Cost(Record, frozen=True):
    """What one run costs at the prices that the user gave. Null means unknown, or no price."""

    bytes: Annotated[
        float | None, Meta(description="The bytes of the files that are read, as whole files.")
    ]
    requests: Annotated[
        float | None, Meta(description="One request for each file that is read: the least.")
    ]
    total: Annotated[float | None, Meta(description="The sum of what has a price.")]
    without_pruning: Annotated[
        float | None, Meta(description="The same sum if every file were read.")
    ]
    price: Annotated[Word | None, Meta(description="The price of bytes, as the user wrote it.")]
    request_price: Annotated[Word | None, Meta(description="The price of requests, likewise.")]


class Spent(Record, frozen=True):
    """What all runs of a workload cost, and what of it is wasted. Null means unknown."""

    read: Annotated[float | None, Meta(description="Bytes that are read, and one request a file.")]
    wasted: Annotated[float | None, Meta(description="The bytes that are wasted, at their price.")]

    def scaled(self, factor: float) -> Spent:
        """Return the same costs times a factor."""
        return Spent(
            None if self.read is None else self.read * factor,
            None if self.wasted is None else self.wasted * factor,
        )

    @classmethod
    def of_all(cls, parts: Iterable[Spent]) -> Spent:
        """Return the sum of the costs that are known; null where none is."""
        costs = list(parts)
        read = [cost.read for cost in costs if cost.read is not None]
        wasted = [cost.wasted for cost in costs if cost.wasted is not None]
        return cls(sum(read) if read else None, sum(wasted) if wasted else None)


class WorkloadCost(Record, frozen=True):
    """What a workload costs: in the log, and in a month if it goes on as in the log."""

    log: Spent
    month: Annotated[
        Spent | None, Meta(description="30 days at the pace of the log; null without its days.")
    ]
    days: Annotated[Count, Meta(description="The days from the first dated run to the last.")]
    price: Word | None
    request_price: Word | None

    @property
    def months(self) -> float | None:
        """By what the dated runs are multiplied to get those of a month; None without days."""
        return DAYS_OF_A_MONTH / self.days if self.days else None


class Prices(Struct, frozen=True):
    """The prices of a byte and of a request; None where the user gave no price.

    `price` and `request_price` are the texts, for example `5/TB` and `0.0004/1000`.
    """

    price: str | None = None
    request_price: str | None = None
    per_byte: Decimal | None = None
    per_request: Decimal | None = None

    @classmethod
    def of(cls, price: str | None, request_price: str | None) -> Prices | None:
        """Read prices such as `5/TB` and `0.0004/1000`; None where none is given."""
        if price is None and request_price is None:
            return None
        return cls(
            price,
            request_price,
            None if price is None else _per_byte(price),
            None if request_price is None else _per_request(request_price),
        )

    def amount(self, size: int | None, requests: int | None) -> float | None:
        """Return what these bytes and requests cost; None where a priced number is unknown."""
        parts = (_times(self.per_byte, size), _times(self.per_request, requests))
        if (self.per_byte is not None and size is None) or (
            self.per_request is not None and requests is None
        ):
            return None
        return float(sum((part for part in parts if part is not None), Decimal(0)))

    def cost(self, read: GatedAmount) -> Cost:
        """Return what reading the kept files costs."""
        size, requests = _times(self.per_byte, read.bytes_kept), _times(self.per_request, read.kept)
        return Cost(
            bytes=None if size is None else float(size),
            requests=None if requests is None else float(requests),
            total=self.amount(read.bytes_kept, read.kept),
            without_pruning=self.amount(read.bytes_total, read.total),
            price=self.price,
            request_price=self.request_price,
        )


def _times(price: Decimal | None, number: int | None) -> Decimal | None:
    return None if price is None or number is None else price * number


def _per_byte(text: str) -> Decimal:
    amount, slash, unit = text.partition("/")
    unit = unit.strip()
    try:
        size = parse_size(unit if unit[:1].isdigit() else f"1{unit}")
    except UsageError:
        size = 0
    return _price(text, amount, size if slash and unit else 0, "a number and a size: 5/TB")


def _per_request(text: str) -> Decimal:
    amount, _, count = text.partition("/")
    number = count.strip().replace(",", "").replace("_", "")
    requests = int(number) if number.isascii() and number.isdigit() else 0
    return _price(text, amount, requests, "a number and how many requests: 0.0004/1000")


def _price(text: str, amount: str, count: int, hint: str) -> Decimal:
    """Return the price of one byte or request; `count` is 0 if the text behind `/` is wrong."""
    try:
        money = Decimal(amount.strip())
    except InvalidOperation:
        money = Decimal(-1)
    if not money.is_finite() or money < 0 or not count:
        raise UsageError(f"not a price: {text!r}", hint=hint)
    return money / count
