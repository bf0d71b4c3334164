"""Every error that whyscan raises, from one root.

WhyscanError            exit 3
├── UsageError          exit 2: the call itself is wrong, with any table
├── PredicateError      the predicate or the statement cannot be read or bound
│   ├── SyntaxProblem   not SQL of that dialect, nested too deep, or too long
│   ├── UnknownColumn   no such column, or more than one
│   ├── UnknownTable    a statement names a table that is unknown
│   └── TypeProblem     types that cannot be compared or cast
│       └── NoCondition an expression that is used as a condition and is not boolean
├── EvaluationProblem   the predicate raises for a row, or cannot be computed for it
├── TableError          the table cannot be opened
│   └── CorruptFile     a file that cannot be read; the message names it
│       └── TooLarge    a file that needs more memory than --memory allows
└── StorageError        the object store did not answer, or answered with an error
    └── AccessDenied    the object store does not allow the access
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.masking import MASK, credential_spans, mask_credentials

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_IN_REPR = 300
"""The most characters of a text that a `repr` shows: an SQL text may have millions."""


class TextSpan(Struct, frozen=True):
    """A range of a text: the offset of its first character, and the offset behind its last one."""

    start: int
    end: int


class WhyscanError(Exception):
    """An error with one line of text and a hint. Credentials in locations are masked in both.

    `str(error)` is both, in two lines. `message` and `hint` are each by itself.
    """

    exit_code = 3

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        self.message = mask_credentials(message)
        self.hint = None if hint is None else mask_credentials(hint)
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"

    def __repr__(self) -> str:
        words = [self.message] if self.hint is None else [self.message, f"hint: {self.hint}"]
        return f"{type(self).__name__}({', '.join(repr(shortened(word)) for word in words)})"


def shortened(text: str) -> str:
    """Return the text for a `repr`, with credentials masked: at most 300 characters of it."""
    shown = mask_credentials(text)
    return shown if len(shown) <= _LONGEST_IN_REPR else f"{shown[:_LONGEST_IN_REPR]}…"


class UsageError(WhyscanError):
    """The call itself is wrong, with any table."""

    exit_code = 2


class PredicateError(WhyscanError):
    """The predicate or statement cannot be used; `span` is the position of the problem in `text`.

    `text` is the original text, in which credentials are not masked. An error with a position has a
    hint: `usual_hint` where none is written for it.
    """

    usual_hint = "check this part of the SQL, and its dialect"

    def __init__(
        self,
        message: str,
        *,
        text: str | None = None,
        span: TextSpan | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=self.usual_hint if hint is None and span else hint)
        self.text = text
        self.span = span

    def shown(self) -> tuple[str | None, TextSpan | None]:
        """Return text and span for display, with credentials masked."""
        masked = [] if self.text is None else credential_spans(self.text)
        if self.text is None or not masked:
            return self.text, self.span
        return mask_credentials(self.text), self.span and _shifted(self.span, masked)


def _shifted(span: TextSpan, masked: list[tuple[int, int]]) -> TextSpan:
    """Move a span to the masked text; a span inside a credential becomes the span of the mask."""

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
    """The text is not SQL of its dialect, or it is nested too deep or too long."""


class UnknownColumn(PredicateError):
    """The schema has no column of this name, or more than one.

    `literal` is the name in single quotes, if the name is compared with text: the user may have
    forgotten the quotes of a string.
    """

    usual_hint = "write a column of the table; a name with dots or blanks stands in quotes"
    literal: str | None = None


class UnknownTable(PredicateError):
    """A statement names a table that is unknown, or a name that several tables match."""

    usual_hint = "say where the table is: --table NAME=URI"


class TypeProblem(PredicateError):
    """The types cannot be compared or cast, or a literal cannot be read as the type it needs."""

    usual_hint = "cast the value, or write it in another type"


class NoCondition(TypeProblem):
    """An expression is used as a condition and is not boolean."""


class EvaluationProblem(WhyscanError):
    """The predicate raises for a row, or whyscan cannot compute its value for a row."""


class TableError(WhyscanError):
    """The table cannot be opened, or its metadata lacks something that is required."""


class CorruptFile(TableError):
    """A file of the table cannot be read."""

    def __init__(self, path: str, why: str, *, hint: str | None = None) -> None:
        super().__init__(f"cannot read {path}: {why}", hint=hint)
        self.path = path


class TooLarge(CorruptFile):
    """A file needs more memory than the limit allows, or claims that it does."""


class StorageError(WhyscanError):
    """The object store did not answer, or answered with an error."""


class AccessDenied(StorageError):
    """The object store does not allow the access; a retry does not help."""


@contextmanager
def limited() -> Iterator[None]:
    """Turn RecursionError and MemoryError into typed errors.

    It surrounds everything that parses, plans and reports SQL. Before a text is parsed, its nesting
    depth is checked; this catches the remaining cases.
    """
    try:
        yield
    except RecursionError:
        raise SyntaxProblem("the SQL nests too deep", hint="write it with fewer levels") from None
    except MemoryError:
        raise WhyscanError(
            "there is not enough memory for an answer", hint="ask less at once, or give it more"
        ) from None
