"""LIKE and ILIKE."""

import pyarrow as pa
import pytest
from hypothesis import given

from pruning.functions import scalars
from pruning.functions.containment import check, seeds, some
from whyscan.pruning.functions import like
from whyscan.pruning.interval import between
from whyscan.pruning.mask import materialise
from whyscan.pruning.truth import ANY, to_boolean
from whyscan.tree.nodes import Like
from whyscan.tree.types import STRING

PATTERNS = [
    ("", None),
    ("%", None),
    ("%%", None),
    ("a%", None),
    ("app%", None),
    ("app_", None),
    ("%p", None),
    ("a%l_", None),
    ("_", None),
    ("\u00e9%", None),
    ("\U0001f600_%", None),
    ("foo\\_%", "\\"),
    ("foo\\%", "\\"),
    ("foo\\_bar", "\\"),
    ("a\\\\%", "\\"),
    ("fooa_%", "a"),
    ("foo\\_%", None),
]


@pytest.mark.parametrize(("pattern", "escape"), PATTERNS)
@some
@given(seed=seeds)
def test_like(pattern, escape, seed):
    node = Like(None, pattern, escape, ignore_case=False)
    check(
        lambda x: to_boolean(like(x, node)),
        scalars.strict(lambda text: scalars.like(text, pattern, escape)),
        (STRING,),
        seed,
    )


@pytest.mark.parametrize(
    "pattern", ["", "%", "APP%", "k%", "KI%", "i%", "%S", "_", "\u00e9%", "a\u0130%"]
)
@some
@given(seed=seeds)
def test_ilike(pattern, seed):
    node = Like(None, pattern, "\\", ignore_case=True)
    check(
        lambda x: to_boolean(like(x, node)),
        scalars.strict(lambda text: scalars.like(text.lower(), pattern.lower(), "\\")),
        (STRING,),
        seed,
        exact=False,
    )


@pytest.mark.parametrize("pattern", ["a\\b", "a\\", "%\\"])
def test_an_escape_before_an_ordinary_character_may_be_anything(pattern):
    node = Like(None, pattern, "\\", ignore_case=False)
    assert like(bounds("a", "b"), node) is ANY


def bounds(lower: str, upper: str):
    return between(STRING, pa.array([lower.encode()]), pa.array([upper.encode()]))


# Pattern, bounds, may be TRUE, may be FALSE.
RANGES = [
    ("foo\\_%", ("foo_a", "foo_z"), True, False),
    ("foo\\_%", ("fooA", "fooZ"), False, True),
    ("ab%", ("aa", "abz"), True, True),
    ("ab%", ("ac", "b"), False, True),
    ("ab%c", ("ab", "ab\u65e5"), True, True),
    ("ab", ("ab", "ab"), True, False),
    ("ab", ("ac", "ad"), False, True),
    ("%", ("a", "b"), True, False),
]


@pytest.mark.parametrize(("pattern", "ends", "true", "false"), RANGES)
def test_the_text_before_a_wildcard_is_a_range(pattern, ends, true, false):
    truth = like(bounds(*ends), Like(None, pattern, "\\", ignore_case=False))
    masks = [materialise(mask, 1).to_pylist() for mask in (truth.true, truth.false)]
    assert masks == [[true], [false]]


def test_the_kelvin_sign_is_a_k_to_ilike():
    truth = like(bounds("\u212a", "\u212a"), Like(None, "k", "\\", ignore_case=True))
    assert materialise(truth.true, 1).to_pylist() == [True]
