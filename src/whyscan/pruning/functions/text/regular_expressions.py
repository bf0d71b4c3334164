r"""`RLIKE`: the texts with which a match of an anchored regular expression begins.

| pattern | a match begins with |
|---|---|
| `^abc`, `\Aabc` | `abc`, and every text that begins with it matches |
| `^abc.*`, `^abcd?`, `^abc[0-9]$` | `abc` |
| `^(eu|us)-`, `^eu-|^us-` | one of `eu-`, `us-` |
| `abc`, `(?i)^abc`, `^abc|def` | anything |

Only syntax that means the same in Java, RE2 and Postgres is parsed. A pattern with a flag, a
look-around or a quotation is not parsed.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import product

from msgspec import Struct

MOST_BEGINNINGS = 64
LONGEST_PATTERN = 1_000
MOST_NESTED = 20

_QUANTIFIED = re.compile(r"[*+?{]")
_SPECIAL = frozenset(".[]{}()*+?^$|\\")
_UNREAD = re.compile(r"\(\?(?!:)|\\[QE]|\[\^?\]|&&")
_CLASS = re.compile(r"\[(?:[^\[\]\\]|\\.)*\]", re.DOTALL)


class Beginnings(Struct, frozen=True):
    """A match begins with one of `texts`. `complete`: every text that begins so matches."""

    texts: tuple[str, ...]
    complete: bool


class _Unread(Exception):
    """The pattern contains syntax that is not parsed."""


class _Branch(Struct):
    """An alternative: the texts it begins with, if it may go on, and if it is anchored."""

    texts: tuple[str, ...] = ("",)
    open: bool = True
    anchored: bool = False
    empty: bool = True
    """Only anchors were read so far."""

    def extend(self, more: tuple[str, ...]) -> None:
        self.empty = False
        if not self.open:
            return
        if len(self.texts) * len(more) > MOST_BEGINNINGS:
            self.open = False
        else:
            self.texts = tuple("".join(pair) for pair in product(self.texts, more))

    def close(self) -> None:
        self.open = self.empty = False


@cache
def beginnings(pattern: str) -> Beginnings | None:
    """How every match begins; None if it may begin with anything or the pattern is not parsed."""
    if len(pattern) > LONGEST_PATTERN or _UNREAD.search(pattern):
        return None
    try:
        branches, end = _alternatives(pattern, 0, 0)
    except _Unread:
        return None
    if end < len(pattern) or not all(branch.anchored for branch in branches):
        return None
    texts = tuple(dict.fromkeys(text for branch in branches for text in branch.texts))
    if len(texts) > MOST_BEGINNINGS:
        return None
    return Beginnings(texts, all(branch.open for branch in branches))


def _alternatives(pattern: str, at: int, depth: int) -> tuple[list[_Branch], int]:
    """The alternatives from a position to the end of the pattern or group."""
    if depth > MOST_NESTED:
        raise _Unread
    branches = [_Branch()]
    while at < len(pattern) and pattern[at] != ")":
        if pattern[at] == "|":
            branches.append(_Branch())
            at += 1
        else:
            at = _read(pattern, at, branches[-1], depth)
    return branches, at


def _read(pattern: str, at: int, branch: _Branch, depth: int) -> int:
    """Read one piece of the pattern with its quantifier; returns the position after it."""
    letter = pattern[at]
    if letter == "^" or pattern.startswith("\\A", at):
        behind = at + (1 if letter == "^" else 2)
        if _is_quantified(pattern, behind):
            raise _Unread
        if branch.empty:
            branch.anchored = True
        else:
            branch.close()
        return behind
    if letter == "(":
        return _read_group(pattern, at, branch, depth)
    texts, behind = _piece(pattern, at)
    return _quantified(pattern, behind, branch, texts)


def _piece(pattern: str, at: int) -> tuple[tuple[str, ...] | None, int]:
    """The text of a piece, None if it stands for several texts, and the position after it."""
    letter = pattern[at]
    if letter == "[":
        character_class = _CLASS.match(pattern, at)
        if character_class is None:
            raise _Unread
        return None, character_class.end()
    if letter == "\\":
        escaped = pattern[at + 1 : at + 2]
        if not escaped or not escaped.isascii():
            raise _Unread
        return (None if escaped.isalnum() or escaped == "_" else (escaped,)), at + 2
    if letter in ".$":
        return None, at + 1
    if letter in _SPECIAL:
        raise _Unread
    return (letter,), at + 1


def _read_group(pattern: str, at: int, branch: _Branch, depth: int) -> int:
    start = at + (3 if pattern.startswith("(?:", at) else 1)
    inner, end = _alternatives(pattern, start, depth + 1)
    if end >= len(pattern):
        raise _Unread
    behind = end + 1
    anchored = all(alternative.anchored for alternative in inner)
    if any(alternative.anchored for alternative in inner) and (
        not anchored or not branch.empty or _is_quantified(pattern, behind)
    ):
        raise _Unread
    branch.anchored = branch.anchored or anchored
    texts = tuple(dict.fromkeys(text for alternative in inner for text in alternative.texts))
    if len(texts) > MOST_BEGINNINGS:
        raise _Unread
    behind = _quantified(pattern, behind, branch, texts)
    if not all(alternative.open for alternative in inner):
        branch.close()
    return behind


def _quantified(pattern: str, at: int, branch: _Branch, texts: tuple[str, ...] | None) -> int:
    """Add a piece with its quantifier to a branch; returns the position after both."""
    end = _quantifier_end(pattern, at)
    if texts is None:
        branch.close()
    elif end == at:
        branch.extend(texts)
    elif pattern[at] == "+":
        branch.extend(texts)
        branch.close()
    else:
        branch.close()
    return end


def _is_quantified(pattern: str, at: int) -> bool:
    return _QUANTIFIED.match(pattern, at) is not None


def _quantifier_end(pattern: str, at: int) -> int:
    """The position after a quantifier, which may be lazy or possessive."""
    if not _is_quantified(pattern, at):
        return at
    if pattern[at] == "{":
        repetition = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}").match(pattern, at)
        if repetition is None:
            raise _Unread
        at = repetition.end() - 1
    at += 1
    return at + 1 if pattern[at : at + 1] in ("?", "+") else at
