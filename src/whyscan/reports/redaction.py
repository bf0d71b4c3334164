"""Redaction: a record without literals of the predicate and values of the table, for sharing.

The kind of a field says what becomes of its text (`whyscan.fields.TextKind`):

| what | becomes |
|---|---|
| a literal, wherever SQL is shown | `?` |
| a value of the table | `?` |
| a partition value, in its column and in paths | a pseudonym that lasts for one run |
| bounds of files | their ranks among all bounds of the column |

A record names in `QUOTED` its SQL text and the dialect of it, as attributes: the sentences of the
record and of its parts may quote that text. `REDACTION_NOTE` of a record is added to its notes.
`REDACTED_AS` names fields that are replaced by another field of the record.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections import defaultdict
from collections.abc import Mapping
from operator import attrgetter
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, cast, get_args, get_origin

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.fields import Record, TextKind
from whyscan.predicate.syntax.redact import HIDDEN, literals, without_literals
from whyscan.reports.findings import Finding
from whyscan.reports.listing import Listing
from whyscan.reports.schema import field_type
from whyscan.tree.types import BIGINT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from whyscan.reports.file_bounds import ColumnBounds
    from whyscan.reports.file_evidence import Cause

R = TypeVar("R", bound=Record)

_VALUE_IN_PATH = re.compile(r"(?<==)[^/]+(?=/)")
_WITHOUT_LITERALS = ("ALTER TABLE ", "OPTIMIZE ")
_LONG = 3
"""A number with this many digits is hidden everywhere; a shorter one only beside its words."""


def new_key() -> bytes:
    """Make the key of pseudonyms: reports with the same key have the same pseudonyms."""
    return secrets.token_bytes(32)


def redacted(record: R, key: bytes | None = None) -> R:
    """Return the record without literals and values."""
    return cast("R", Redactor(key or new_key()).record(record))


class Redactor:
    """The patterns that hide the literals of some SQL texts, and the key of pseudonyms."""

    def __init__(
        self,
        key: bytes,
        dialect: str = "spark",
        net: tuple[tuple[re.Pattern[str], str], ...] = (),
    ) -> None:
        self._key = key
        self._dialect = dialect
        self._net = net

    def record(self, record: Record) -> Record:
        """Return a record without literals and values."""
        if isinstance(record, Finding):
            return self._inside(record).finding(record)
        kind, hide = type(record), self._inside(record)
        new = {
            name: hide.value_of(getattr(record, name), field_type(kind, name))
            for name in record.__struct_fields__
        }
        new |= {name: new[other] for name, other in getattr(record, "REDACTED_AS", {}).items()}
        if note := getattr(record, "REDACTION_NOTE", None):
            new["notes"] = (*new["notes"], note)
        return replace(record, **new)

    def _inside(self, record: Record) -> Redactor:
        """Return the redactor for the fields of a record, which may quote its SQL text."""
        quoted = getattr(record, "QUOTED", None)
        if quoted is None:
            return self
        sql, dialect = (attrgetter(name)(record) if name else self._dialect for name in quoted)
        return Redactor(self._key, dialect, (*self._net, *_literal_patterns(sql, dialect)))

    def value_of(self, value: Any, kind: Any) -> Any:
        """Return the value of a field of a type without literals and values."""
        if value is None:
            return None
        if isinstance(value, Record):
            return self.record(value)
        if isinstance(value, Listing):
            return self.listing(value)
        origin, arguments = get_origin(kind), get_args(kind)
        if origin is Annotated:
            text_kind = next((m for m in arguments[1:] if isinstance(m, TextKind)), None)
            plain = self.value_of(value, arguments[0])
            return self._text_of(plain, text_kind) if text_kind else plain
        if origin in {Union, UnionType}:
            return self._alternative(value, arguments)
        if origin is tuple:
            return tuple(self.value_of(item, arguments[0]) for item in value)
        if origin is Mapping:
            return {name: self.value_of(item, arguments[1]) for name, item in value.items()}
        return value

    def _alternative(self, value: Any, kinds: tuple[Any, ...]) -> Any:
        """Hide a value of the table, whatever its type, and other texts by their kind."""
        if any(TextKind.VALUE in get_args(kind) for kind in kinds):
            return HIDDEN
        for kind in kinds:
            base = get_args(kind)[0] if get_origin(kind) is Annotated else kind
            if getattr(base, "_is_protocol", False):
                return value  # A plan is no part of the document.
            if isinstance(value, get_origin(base) or base):
                return self.value_of(value, kind)
        return value

    def _text_of(self, text: str, kind: TextKind) -> str:
        match kind:
            case TextKind.SQL:
                return self.sql(text) if text else text
            case TextKind.SENTENCE:
                return self.text(text)
            case TextKind.ERROR:
                return text.split(":", 1)[0].split("'", 1)[0].strip()
            case TextKind.VALUE:
                return HIDDEN
            case TextKind.PATH:
                return self._path(text)
            case TextKind.NAME | TextKind.WORD:
                return text

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

    def finding(self, finding: Finding) -> Finding:
        """Hide the literals of a finding, also those of its rewrite.

        A statement that changes the layout of a table has none.
        """
        rewrite, message, fix = finding.rewrite, finding.message, finding.fix
        if rewrite is not None and not rewrite.startswith(_WITHOUT_LITERALS):
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
