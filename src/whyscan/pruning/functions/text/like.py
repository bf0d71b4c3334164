"""`LIKE`: the literal text before the first wildcard is a range of strings.

| pattern | TRUE possible | FALSE possible |
|---|---|---|
| no wildcard | the text lies between the bounds | the interval is not that one point |
| `prefix%` | a text with the prefix may lie between them | not all texts have the prefix |
| `prefix…` | likewise | always |

A single point is matched with the whole pattern.
"""

from __future__ import annotations

from enum import Enum
from itertools import takewhile
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.pruning.comparison import compare
from whyscan.pruning.functions.text.letter_case import lowered
from whyscan.pruning.functions.text.utf8 import CHARACTER
from whyscan.pruning.interval import Interval, between, equal, less_equal
from whyscan.pruning.mask import Mask, Vector, all_of, any_of, both, keep, may, opposite, surely
from whyscan.pruning.truth import ANY, Truth
from whyscan.tree.nodes import Comparator
from whyscan.tree.types import STRING, StringType

if TYPE_CHECKING:
    from whyscan.tree.nodes import Like

ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
LONGEST_PATTERN = 100
"""The greatest number of tokens that is matched with points: long patterns need much memory."""


class Wildcard(Enum):
    """A wildcard of a pattern."""

    SINGLE = "_"
    MANY = "%"


WILDCARDS: dict[str, Wildcard] = {wildcard.value: wildcard for wildcard in Wildcard}

Token: TypeAlias = str | Wildcard
"""One literal character, or a wildcard."""


class LikePattern(Struct, frozen=True):
    """A parsed pattern. `complete`: the tokens are the whole pattern."""

    tokens: tuple[Token, ...]
    complete: bool = True

    @property
    def prefix(self) -> bytes:
        literal = takewhile(lambda token: isinstance(token, str), self.tokens)
        return "".join(str(token) for token in literal).encode()

    @property
    def rest(self) -> tuple[Token, ...]:
        return self.tokens[len(self.prefix.decode()) :]


def like(x: Interval, expression: Like) -> Truth:
    """`x LIKE pattern`; `ILIKE` compares both in lower case."""
    if not isinstance(x.type, StringType):
        return ANY
    if not expression.ignore_case:
        return _matches(x, parsed(expression.pattern, expression.escape))
    # Spark lowers the pattern before it parses it: an upper-case escape no longer escapes.
    pattern = parsed(expression.pattern.translate(ASCII_LOWER), expression.escape)
    if pattern is None:
        return ANY
    lowered_match = _matches(lowered(STRING, x), _ascii(pattern))
    return lowered_match.only_if(true=lambda: _may_begin_with(x, _ascii(pattern).prefix.decode()))


def _may_begin_with(x: Interval, prefix: str) -> Mask:
    """Some text may start with a spelling of the prefix."""
    return any_of(starts_with(x, start.encode()).true for start in spellings(prefix))


def starts_with(x: Interval, prefix: bytes) -> Truth:
    """x starts with the prefix: FALSE is impossible if both bounds start with it."""
    text = pa.scalar(prefix, pa.binary())

    def cut(end: Vector) -> Vector:
        return pc.binary_slice(end, 0, len(prefix))

    def all_do() -> Mask:
        return all_of(surely(lambda e: equal(cut(e), text), end) for end in (x.lower, x.upper))

    return Truth(
        lambda: both(
            x.value,
            may(lambda end: less_equal(cut(end), text), x.lower),
            may(less_equal, text, x.upper),
        ),
        lambda: both(x.value, opposite(not prefix or all_do())),
        lambda: x.null,
        lambda: x.raises,
    )


def parsed(text: str, escape: str | None) -> LikePattern | None:
    """The parsed pattern; None for an escape that Spark refuses.

    Spark refuses an escape before an ordinary character and at the end.
    """
    tokens: list[Token] = []
    characters = iter(text)
    for character in characters:
        if character == escape:
            escaped = next(characters, None)
            if escaped is None or escaped not in ("_", "%", escape):
                return None
            tokens.append(escaped)
        else:
            tokens.append(WILDCARDS.get(character, character))
    return LikePattern(tuple(tokens))


def _ascii(pattern: LikePattern) -> LikePattern:
    """The pattern up to its first letter outside ASCII: lower case is only known for ASCII."""
    tokens = tuple(takewhile(lambda t: isinstance(t, Wildcard) or t.isascii(), pattern.tokens))
    return LikePattern(tokens, complete=len(tokens) == len(pattern.tokens))


def _matches(x: Interval, pattern: LikePattern | None) -> Truth:
    if pattern is None:
        return ANY
    if pattern.complete and not pattern.rest:
        return compare(Comparator.EQUAL, x, _text_point(pattern.prefix))
    prefixed = starts_with(x, pattern.prefix)
    only_prefix = pattern.complete and all(token is Wildcard.MANY for token in pattern.rest)
    matched = None if only_prefix else _matched_points(x, pattern)
    return Truth(
        lambda: both(prefixed.true, may(lambda matches: matches, matched)),
        lambda: prefixed.false if only_prefix else both(x.value, may(pc.invert, matched)),
        lambda: x.null,
        lambda: x.raises,
    )


def _text_point(text: bytes) -> Interval:
    point = pa.scalar(text, pa.binary())
    return between(STRING, point, point)


def _matched_points(x: Interval, pattern: LikePattern) -> Vector | None:
    """Whether the pattern matches, for points; unknown elsewhere."""
    single = x.point()
    if single is False or not pattern.complete or len(pattern.tokens) > LONGEST_PATTERN:
        return None
    expression = "".join(_byte_pattern(token) for token in pattern.tokens)
    return pc.match_substring_regex(keep(single, x.lower), pattern=f"(?s)^{expression}$")


def _byte_pattern(token: Token) -> str:
    match token:
        case Wildcard.SINGLE:
            return CHARACTER
        case Wildcard.MANY:
            return ".*"
        case str():
            return "".join(f"\\x{byte:02x}" for byte in token.encode())


MOST_SPELLINGS = 64
"""The greatest number of spellings: only the first letters of longer prefixes are used."""

OTHER_LETTERS = {
    "a": "\u1e9a",
    "f": "\ufb00\ufb01\ufb02\ufb03\ufb04",
    "h": "\u1e96",
    "i": "\u0130\u0131",
    "j": "\u01f0",
    "k": "\u212a",
    "s": "\u00df\u017f\u1e9e\ufb05\ufb06",
    "t": "\u1e97",
    "w": "\u1e98",
    "y": "\u1e99",
}
"""Letters outside ASCII whose lower, upper or folded case starts with an ASCII letter."""


def spellings(prefix: str) -> tuple[str, ...]:
    """How a text may begin if it starts with the ASCII `prefix` when case is ignored.

    Spark compares `ILIKE` in lower case, other engines in upper case or case-folded.
    A letter outside ASCII may stand for several letters of the prefix, so its spelling ends there.
    """
    ended: list[str] = []
    open_ = [""]
    for letter in prefix:
        cases = dict.fromkeys((letter.lower(), letter.upper()))
        others = OTHER_LETTERS.get(letter.lower(), "")
        if len(ended) + len(open_) * (len(cases) + len(others)) > MOST_SPELLINGS:
            break
        ended += [start + other for start in open_ for other in others]
        open_ = [start + case for start in open_ for case in cases]
    return (*open_, *ended)
