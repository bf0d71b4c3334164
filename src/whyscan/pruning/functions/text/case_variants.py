"""The spellings of a text when case is ignored.

Spark compares `ILIKE` in lower case, other engines in upper case or case-folded. If any of them
finds that a text starts with the prefix, the text starts with one of these spellings.
"""

from __future__ import annotations

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
