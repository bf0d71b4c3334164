"""Reads the text of a layout: `partition by day(ts) sort by user_id file size 256MB`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from whyscan.errors import SyntaxProblem, TextSpan, UsageError
from whyscan.layouts.layout import Layout, Order, OrderColumn, OrderKind, PartitionTerm
from whyscan.pruning.transforms import Unknown, parse_transform
from whyscan.tables.sizes import parse_size

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from whyscan.tree.nodes import Path

    T = TypeVar("T")

CLAUSES = (
    "partition by, sort by, zorder by, cluster by, file size, row group size, statistics on, "
    "bloom on or order manifests by"
)
_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>`(?:[^`]|``)+`)|(?P<number>[0-9]+(?:\.[0-9]+)?)|(?P<word>\w+)|(?P<sign>\S))"
)


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def parse_layout(text: str) -> Layout:
    """Read a layout; an error underlines the word that does not belong there."""
    return _Reader(text).layout()


class _Reader:
    """The words of one text, read from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [
            _Token(str(m.lastgroup), m[str(m.lastgroup)], m.start(str(m.lastgroup)), m.end())
            for m in _TOKEN.finditer(text.rstrip())
        ]
        self.at = 0

    def layout(self) -> Layout:
        layout = Layout()
        if not self.tokens:
            raise self.problem("a layout has at least one clause")
        while self.at < len(self.tokens):
            layout = self.clause(layout)
        return layout

    def clause(self, layout: Layout) -> Layout:
        """Read one clause into the layout; each clause stands once."""
        first = self.tokens[self.at]
        match first.text.lower():
            case "partition":
                self.words("partition", "by")
                clause: dict[str, object] = {"partitions": self.partitions()}
            case "sort":
                self.words("sort", "by")
                clause = {"order": Order(OrderKind.SORT, self.listed(self.sort_column))}
            case "zorder" | "cluster" | "hilbert":
                self.words(first.text.lower(), "by")
                kind = OrderKind.ZORDER if first.text.lower() == "zorder" else OrderKind.CLUSTER
                clause = {"order": Order(kind, self.listed(lambda: OrderColumn(self.path())))}
            case "file":
                self.words("file", "size")
                clause = {"file_size": self.size()}
            case "row":
                self.words("row", "group", "size")
                clause = {"row_group_size": self.size()}
            case "statistics":
                self.words("statistics", "on")
                clause = {"statistics": self.listed(self.path)}
            case "bloom":
                self.words("bloom", "on")
                clause = {"bloom": self.listed(self.path)}
            case "order":
                self.words("order", "manifests", "by")
                clause = {"manifests": self.listed(self.path)}
            case _:
                raise self.problem("this does not begin a clause", first, hint=f"write {CLAUSES}")
        name = next(iter(clause))
        if getattr(layout, name) is not None:
            raise self.problem("this clause stands twice", first, hint="leave one of them out")
        return replace(layout, **clause)

    def partitions(self) -> tuple[PartitionTerm, ...]:
        if self.peek() == "none":
            self.at += 1
            return ()
        return self.listed(self.partition_term)

    def partition_term(self) -> PartitionTerm:
        """Read `ts`, `day(ts)` or `bucket(16, id)`."""
        if self.peek(1) != "(":
            return PartitionTerm(self.path(), parse_transform("identity"))
        name = self.next()
        self.next()
        width = ""
        if self.tokens[self.at : self.at + 1] and self.tokens[self.at].kind == "number":
            width = f"[{self.next().text}]"
            self.sign(",")
        transform = parse_transform(name.text + width)
        if isinstance(transform, Unknown) or str(transform) == "void":
            transforms = "year(c), month(c), day(c), hour(c), bucket(n, c) or truncate(n, c)"
            raise self.problem("this is no transform", name, hint=f"write {transforms}")
        path = self.path()
        self.sign(")")
        return PartitionTerm(path, transform)

    def sort_column(self) -> OrderColumn:
        path = self.path()
        direction = self.peek()
        if direction in {"asc", "desc"}:
            self.at += 1
        return OrderColumn(path, descending=direction == "desc")

    def listed(self, read: Callable[[], T]) -> tuple[T, ...]:
        """Read a list with commas, with or without parentheses around it."""
        has_parentheses = self.peek() == "("
        self.at += has_parentheses
        items = [read()]
        while self.peek() == ",":
            self.at += 1
            items.append(read())
        if has_parentheses:
            self.sign(")")
        return tuple(items)

    def path(self) -> Path:
        parts = [self.name()]
        while self.peek() == ".":
            self.at += 1
            parts.append(self.name())
        return tuple(parts)

    def name(self) -> str:
        token = self.next("a column")
        if token.kind == "quoted":
            return token.text[1:-1].replace("``", "`")
        if token.kind != "word":
            raise self.problem("a column is expected here", token)
        return token.text

    def size(self) -> int:
        number = self.next("a size")
        unit = self.tokens[self.at].text if self.at < len(self.tokens) else ""
        is_unit = re.fullmatch(r"[kmgtp]?i?b", unit, re.IGNORECASE) is not None
        self.at += is_unit
        try:
            size = parse_size(number.text + (unit if is_unit else ""))
        except UsageError as error:
            raise self.problem(error.message, number, hint=error.hint) from None
        if size <= 0:
            raise self.problem("a size is more than nothing", number)
        return size

    def words(self, *expected: str) -> None:
        for word in expected:
            token = self.next(word)
            if token.text.lower() != word:
                raise self.problem(f"{word} is expected here", token)

    def sign(self, expected: str) -> None:
        token = self.next(expected)
        if token.text != expected:
            raise self.problem(f"{expected} is expected here", token)

    def peek(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at].text.lower() if at < len(self.tokens) else ""

    def next(self, expected: str = "more") -> _Token:
        if self.at >= len(self.tokens):
            raise self.problem(f"the layout ends where {expected} is expected")
        self.at += 1
        return self.tokens[self.at - 1]

    def problem(
        self, message: str, token: _Token | None = None, hint: str | None = None
    ) -> SyntaxProblem:
        end = len(self.text)
        span = TextSpan(end, end + 1) if token is None else TextSpan(token.start, token.end)
        return SyntaxProblem(message, text=self.text, span=span, hint=hint or f"write {CLAUSES}")
