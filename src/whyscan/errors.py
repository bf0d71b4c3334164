"""Every error that whyscan raises, from one root.

WhyscanError            exit 3
├── UsageError          exit 2: the call itself is wrong
├── PredicateError      the predicate or the statement cannot be read or bound
│   ├── SyntaxProblem   not SQL of that dialect, or too deep, or too long
│   ├── UnknownColumn   no such column, or more than one
│   ├── UnknownTable    a statement names a table that nobody gave
│   └── TypeProblem     a comparison or a cast that has no meaning
│       └── NoCondition a value that is not boolean where a condition stands
├── EvaluationProblem   what a predicate makes of a row cannot be told, or is an error
├── TableError          the table cannot be opened
│   └── CorruptFile     a metadata object that cannot be read; names it
│       └── TooLarge    it takes more memory than --memory allows
└── StorageError        the store did not answer, or said no
    └── AccessDenied    the store does not allow what was asked of it
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.masking import MASK, credential_spans, mask_credentials

if TYPE_CHECKING:
    from collections.abc import Iterator


class TextSpan(Struct, frozen=True):
    """Where in the predicate's text: offsets of the first character and of the one behind."""

    start: int
    end: int


class WhyscanError(Exception):
    """One clear line, and what to do about it. Credentials in locations are masked in both."""

    exit_code = 3

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        self.message = mask_credentials(message)
        self.hint = None if hint is None else mask_credentials(hint)
        super().__init__(self.message)


class UsageError(WhyscanError):
    """The call is wrong, whatever the table."""

    exit_code = 2


class PredicateError(WhyscanError):
    """The predicate cannot be evaluated; `span` says where in `text`, the real one."""

    def __init__(
        self,
        message: str,
        *,
        text: str | None = None,
        span: TextSpan | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.text = text
        self.span = span

    def shown(self) -> tuple[str | None, TextSpan | None]:
        """Text and span for display: without credentials."""
        masked = [] if self.text is None else credential_spans(self.text)
        if self.text is None or not masked:
            return self.text, self.span
        return mask_credentials(self.text), self.span and _shifted(self.span, masked)


def _shifted(span: TextSpan, masked: list[tuple[int, int]]) -> TextSpan:
    """The same words in the masked text; a span inside of a credential is the mask."""

    def moved(offset: int, *, is_end: bool) -> int:
        shift = 0
        for start, stop in masked:
            if offset >= stop:
                shift += len(MASK) - (stop - start)
            elif offset > start:
                return start + shift + len(MASK) * is_end
        return offset + shift

    start, end = moved(span.start, is_end=False), moved(span.end, is_end=True)
    return TextSpan(start, max(end, start))


class SyntaxProblem(PredicateError):
    """The text is not an expression of its dialect, or is too deep or too long to be one."""


class UnknownColumn(PredicateError):
    """The schema has no such column, or several that answer to the name.

    `literal` is the name in quotes where it is compared with text: quotes may be all that lacks.
    """

    literal: str | None = None


class UnknownTable(PredicateError):
    """A statement names a table that was not given, or that several names answer to."""


class TypeProblem(PredicateError):
    """The types do not go together, or a literal cannot take the type it must."""


class NoCondition(TypeProblem):
    """A value that is not boolean stands where a condition must."""


class EvaluationProblem(WhyscanError):
    """A row for which nobody here can say whether the predicate is TRUE, or for which it raises."""


class TableError(WhyscanError):
    """The table cannot be opened or does not say what it must."""


class CorruptFile(TableError):
    """A file that the table needs cannot be read."""

    def __init__(self, path: str, why: str, *, hint: str | None = None) -> None:
        super().__init__(f"cannot read {path}: {why}", hint=hint)
        self.path = path


class TooLarge(CorruptFile):
    """A file takes more memory than the limit allows, or claims that it does."""


class StorageError(WhyscanError):
    """The store did not answer, or refused."""


class AccessDenied(StorageError):
    """The store does not allow it, now or later."""


@contextmanager
def limited() -> Iterator[None]:
    """Python's own limits as typed errors; around what reads, plans and reports on SQL.

    Depth is measured before a text is parsed: this is for what such a measure does not see.
    """
    try:
        yield
    except RecursionError:
        raise SyntaxProblem("the SQL nests too deep", hint="write it with fewer levels") from None
    except MemoryError:
        raise WhyscanError(
            "there is not enough memory for an answer", hint="ask less at once, or give it more"
        ) from None
