"""Redaction: a report without literals of the predicate and values of the table, for sharing.

| what | becomes |
|---|---|
| a literal, wherever SQL is shown | `?` |
| a partition value, in its column and in paths | a pseudonym that lasts for one run |
| bounds | their ranks among all bounds of the column |
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections import defaultdict
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.predicate.syntax.redact import HIDDEN, literals, without_literals
from whyscan.tree.types import BIGINT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from whyscan.reports.conjuncts import ConjunctLine, PartLine
    from whyscan.reports.file_bounds import ColumnBounds
    from whyscan.reports.file_evidence import Cause
    from whyscan.reports.findings import Finding
    from whyscan.reports.gates import Assertion
    from whyscan.reports.listing import Listing
    from whyscan.reports.report import Report

_VALUE_IN_PATH = re.compile(r"(?<==)[^/]+(?=/)")
_SETTING = "ALTER TABLE "
_LONG = 3
"""A number with this many digits is hidden everywhere; a shorter one only beside its words."""


def new_key() -> bytes:
    """Make the key of pseudonyms: reports with the same key have the same pseudonyms."""
    return secrets.token_bytes(32)


def redacted(report: Report, key: bytes | None = None) -> Report:
    """Return the report without literals and values."""
    hide = Redactor(report.question.predicate, report.question.dialect, key or new_key())
    return replace(
        report,
        question=replace(report.question, predicate=hide.sql(report.question.predicate)),
        removals=tuple(
            replace(r, conjunct=None if r.conjunct is None else hide.sql(r.conjunct))
            for r in report.removals
        ),
        conjuncts=tuple(hide.conjunct(line) for line in report.conjuncts),
        residual=None if report.residual is None else hide.sql(report.residual),
        findings=tuple(hide.finding(finding) for finding in report.findings),
        listing=None if report.listing is None else hide.listing(report.listing),
        assertions=tuple(_without_names(assertion) for assertion in report.assertions),
        missing_statistics=None,
        notes=(*report.notes, "values are redacted: ? is a literal, bounds are ranks"),
    )


def _without_names(assertion: Assertion) -> Assertion:
    """Remove the file names of a gate, because a path may contain partition values."""
    if assertion.missing_statistics is None:
        return assertion
    return replace(assertion, missing_statistics=replace(assertion.missing_statistics, examples=()))


class Redactor:
    """The patterns that hide the literals of one predicate, and the key of pseudonyms."""

    def __init__(self, question: str, dialect: str, key: bytes) -> None:
        self._key = key
        self._dialect = dialect
        self._net = list(_literal_patterns(question, dialect))

    def sql(self, text: str) -> str:
        return without_literals(text, self._dialect)

    def text(self, text: str) -> str:
        """Hide the literals in a sentence that may quote the predicate."""
        for pattern, replacement in self._net:
            text = pattern.sub(replacement, text)
        return text

    def value(self, value: str) -> str:
        """Return a pseudonym; without the key, which is discarded, the value cannot be derived."""
        digest = hmac.digest(self._key, value.encode("utf-8", "surrogatepass"), "sha256")
        return f"~{digest.hex()[:8]}"

    def conjunct(self, line: ConjunctLine) -> ConjunctLine:
        parts = tuple(map(self._part, line.parts))
        return replace(line, sql=self.sql(line.sql), why=self.text(line.why), parts=parts)

    def _part(self, part: PartLine) -> PartLine:
        return replace(part, sql=self.sql(part.sql), parts=tuple(map(self._part, part.parts)))

    def finding(self, finding: Finding) -> Finding:
        """Hide the literals of a finding, also those of its rewrite; a table setting has none."""
        rewrite, message, fix = finding.rewrite, finding.message, finding.fix
        if rewrite is not None and not rewrite.startswith(_SETTING):
            hidden = without_literals(rewrite, "spark")
            message = message.replace(rewrite, hidden)
            fix = None if fix is None else fix.replace(rewrite, hidden)
            rewrite = hidden
        evidence = dict(finding.evidence)
        if values := evidence.get("partition_values"):
            message = message.replace(str(values), "?")
            evidence["partition_values"] = "?"
        return replace(
            finding,
            evidence=evidence,
            message=self.text(message),
            fix=None if fix is None else self.text(fix),
            rewrite=rewrite,
        )

    def listing(self, listing: Listing) -> Listing:
        return replace(
            listing,
            paths=pa.array(map(self._path, listing.paths.to_pylist()), pa.string()),
            partition=self._partition(listing.partition),
            ranges=tuple(map(_ranked, listing.ranges)),
            residual=_mapped(listing.residual, self.sql),
            causes=tuple(map(self._cause, listing.causes)),
        )

    def _path(self, path: str) -> str:
        return _VALUE_IN_PATH.sub(lambda match: self.value(match[0]), path)

    def _partition(self, values: pa.Table) -> pa.Table:
        def hidden(column: pa.ChunkedArray) -> pa.Array:
            texts = (None if v is None else self.value(str(v)) for v in column.to_pylist())
            return pa.array(texts, pa.string())

        names = values.column_names
        if not names:
            return values
        return pa.table([hidden(column) for column in values.columns], names=names)

    def _cause(self, cause: Cause) -> Cause:
        unread = None if cause.unread is None else self.text(cause.unread)
        # The last cause is not SQL, but the words for the whole predicate.
        sql = self.text(cause.sql) if " together" in cause.sql else self.sql(cause.sql)
        return replace(cause, sql=sql, unread=unread)


def _literal_patterns(predicate: str, dialect: str) -> Iterator[tuple[re.Pattern[str], str]]:
    """Yield patterns for every literal beside its neighbouring words, and for long ones anywhere.

    Literals beside the same word share one pattern, because a list may have ten thousand.
    """
    after, until = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    long = set()
    for before, literal, behind in literals(predicate, dialect):
        after[before].add(literal)
        until[behind].add(literal)
        if not literal.isdigit() or len(literal) >= _LONG:
            long.add(literal)
    for word in filter(None, after):
        yield re.compile(rf"({re.escape(word)}\s*){_any_of(after[word])}(?!\w)"), rf"\g<1>{HIDDEN}"
    for word in filter(None, until):
        yield re.compile(rf"(?<!\w){_any_of(until[word])}(\s*{re.escape(word)})"), rf"{HIDDEN}\g<1>"
    if long:
        yield re.compile(rf"(?<!\w){_any_of(long)}(?!\w)"), HIDDEN


def _any_of(texts: set[str]) -> str:
    """Return a pattern that matches one of the texts, the longest first."""
    return f"(?:{'|'.join(map(re.escape, sorted(texts, key=len, reverse=True)))})"


def _ranked(column: ColumnBounds) -> ColumnBounds:
    """Replace bounds by ranks from 1, so that overlaps are still visible."""
    ends = pa.concat_arrays([column.lower, column.upper])
    ranks = pc.if_else(ends.is_valid(), pc.rank(ends, tiebreaker="dense").cast(pa.int64()), None)
    count = len(column.lower)
    return replace(column, type=BIGINT, lower=ranks[:count], upper=ranks[count:], domain=None)


def _mapped(texts: pa.DictionaryArray, hide: Callable[[str], str]) -> pa.DictionaryArray:
    shown = [None if t is None else hide(t) for t in texts.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(texts.indices, pa.array(shown, pa.string()))
