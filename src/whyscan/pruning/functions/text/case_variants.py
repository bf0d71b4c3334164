"""Which texts become a given text when case is ignored.

Spark compares `ILIKE` in lower case, others in upper case or case-folded. A text that any of them
may take for one that starts with the prefix starts with a spelling of it.
"""

from __future__ import annotations

MOST_SPELLINGS = 64
"""Spellings that are compared with bounds: of longer prefixes the first letters count."""

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
"""Letters beyond ASCII whose lower, upper or folded case starts with an ASCII letter."""


def spellings(prefix: str) -> tuple[str, ...]:
    """How texts may begin that start with the ASCII `prefix` when case is ignored.

    A letter beyond ASCII may stand for several of the prefix: nothing is said of what follows it.
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
