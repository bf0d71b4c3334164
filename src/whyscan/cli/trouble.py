"""Errors as text for people: one line, the position in the predicate, and a hint."""

from __future__ import annotations

from whyscan.errors import PredicateError, TextSpan, WhyscanError

SHOWN = 72
LONGEST = 1_000
"""The most characters of a line, because a user's name or literal may have millions."""


def describe(error: WhyscanError) -> str:
    """Write the error in lines; escape codes in it are made visible."""
    from whyscan.reports.words import inert, inert_sql

    lines = [f"error: {inert_sql(_short(error.message))}"]
    text, span = error.shown() if isinstance(error, PredicateError) else (None, None)
    if text is not None and span is not None:
        lines += _underlined(text, span)
    if error.hint is not None:
        lines.append(f"hint: {inert(_short(error.hint))}")
    return "\n".join(lines) + "\n"


def _short(line: str) -> str:
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}\u2026"


def _underlined(text: str, span: TextSpan) -> list[str]:
    """Return the line of the text where the span begins, and carets below the span."""
    from whyscan.reports.text_layout import columns
    from whyscan.reports.words import inert

    begin = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.start)
    end = len(text) if end < 0 else end
    begin = max(begin, span.start - SHOWN // 2)
    end = min(end, max(begin + SHOWN, span.start + 1))
    before = inert(text[begin : span.start].replace("\t", " "))
    marked = inert(text[span.start : min(span.end, end)].replace("\t", " "))
    after = inert(text[min(span.end, end) : end].replace("\t", " "))
    carets = "^" * max(columns(marked), 1)
    return [f"  {before}{marked}{after}", f"  {' ' * columns(before)}{carets}"]
