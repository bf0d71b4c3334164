"""What a match begins with, against a matcher of regular expressions and Unicode's tables."""

from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.dice import tried
from whyscan.pruning.functions.text.like import MOST_SPELLINGS, OTHER_LETTERS, spellings
from whyscan.pruning.functions.text.regular_expressions import beginnings

PIECES = (
    "^", "^", "a", "b", "ab", "|", "(", "(?:", ")", "*", "+", "?", "{0}", "{1,2}", "{2}", ".", "$",
    "[ab]", "[^a]", "\\.", "\\d", "\\A", "*?", "(?i)", "(?m)", "(?=a)", "]", "}", "\n", "\\",
    "b|^a",
)  # fmt: skip
patterns = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
texts = st.lists(st.text("abAB.\n", max_size=5), min_size=1, max_size=12)


@tried(1500)
@given(patterns, texts)
def test_every_match_begins_as_it_is_said(pattern, written):
    prefixes = beginnings(pattern)
    if prefixes is None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            matcher = re.compile(pattern)
        except re.error:
            return
    for text in (*written, *(start + end for start in prefixes.texts for end in ("", "a", "\nb"))):
        matches, starts = matcher.search(text) is not None, text.startswith(prefixes.texts)
        assert starts or not matches, f"{pattern!r} matches {text!r}, which begins otherwise"
        assert matches or not (starts and prefixes.complete), f"{pattern!r} does not match {text!r}"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("^abc", (("abc",), True)),
        ("\\Aabc", (("abc",), True)),
        ("^abc$", (("abc",), False)),
        ("^ab?c", (("a",), False)),
        ("^ab+c", (("ab",), False)),
        ("^a\\.b", (("a.b",), True)),
        ("^(eu|us)-", (("eu-", "us-"), True)),
        ("^eu|^us", (("eu", "us"), True)),
        ("(^eu|^us)", (("eu", "us"), True)),
        ("^(a|b)(c|d)e*", (("ac", "ad", "bc", "bd"), False)),
        ("^(a(b|c)|d)", (("ab", "ac", "d"), True)),
    ],
)
def test_a_pattern_is_read(pattern, expected):
    prefixes = beginnings(pattern)
    assert (prefixes.texts, prefixes.complete) == expected


@pytest.mark.parametrize(
    "pattern",
    [
        "abc",
        "^abc|def",
        "(?i)^abc",
        "(?m)^abc",
        "^\\Qa.b\\E",
        "a*^b",
        "(^a)?b",
        "^(a",
        "^a)",
        "^*a",
    ],
)
def test_a_pattern_is_not_read(pattern):
    assert beginnings(pattern) is None


def test_letters_beyond_ascii_are_those_of_unicode():
    expected: dict[str, set[str]] = {}
    for number in range(0x80, 0x110000):
        letter = chr(number)
        cases = (letter.lower(), letter.upper().lower(), letter.casefold(), letter.title().lower())
        for case in cases:
            if case[:1].isascii():
                expected.setdefault(case[0], set()).add(letter)
    assert {letter: set(others) for letter, others in OTHER_LETTERS.items()} == expected


@tried(300)
@given(
    st.text("abkisf-1", max_size=8),
    st.text("abkiIKsfF-1\u212a\u0130\u017f\u00df\ufb01", max_size=8),
)
def test_a_text_of_another_case_begins_with_a_spelling(prefix, text):
    same = (text.lower().startswith(prefix), text.upper().startswith(prefix.upper()))
    if any(same) or text.casefold().startswith(prefix):
        assert text.startswith(spellings(prefix))
    assert len(spellings(prefix)) <= MOST_SPELLINGS
