"""Functions of text."""

import pyarrow as pa
import pytest
from hypothesis import given

from pruning.functions import scalars
from pruning.functions.containment import check, seeds, some
from whyscan.pruning.functions import apply
from whyscan.pruning.interval import between, of_literal
from whyscan.tree.nodes import Call, Literal
from whyscan.tree.types import BOOLEAN, INT, STRING
from whyscan.tree.zones import zone

UTC = zone("UTC")


def literal(value):
    return of_literal(Literal(value, INT if isinstance(value, int) else STRING))


def calling(function, kind, constants, place=0):
    """The call with constants around its one argument."""

    def call(x):
        arguments = [literal(c) for c in constants]
        arguments.insert(place, x)
        return apply(Call(function, (), kind), arguments, UTC)

    return call


PADS = ((-1, "x"), (5, "xy"), (5, ""))
PARTS = ("", "a", "p", "pp", "app", "appl", "\u00e9", "\u65e5")

# Function, result, constants, the place of the argument among them, exact on points.
CASES = [
    *((name, STRING, (), 0, True) for name in ("trim", "ltrim", "rtrim", "reverse")),
    *((name, INT, (), 0, True) for name in ("length", "octet_length", "ascii")),
    *((name, STRING, (), 0, False) for name in ("lower", "upper")),
    *(("left", STRING, (n,), 0, True) for n in (-1, 0, 1, 2, 3)),
    *(("right", STRING, (n,), 0, True) for n in (-1, 0, 2, 9)),
    *(("substring", STRING, (at, n), 0, True) for at in (-9, -2, 0, 1, 2) for n in (-1, 0, 2, 5)),
    *(("repeat", STRING, (n,), 0, True) for n in (-1, 0, 2)),
    *(("lpad", STRING, pad, 0, True) for pad in PADS),
    *(("rpad", STRING, pad, 0, True) for pad in PADS),
    *(("replace", STRING, pair, 0, True) for pair in (("a", "bb"), ("", "x"), ("p", ""))),
    *(("instr", INT, (part,), 0, True) for part in PARTS),
    *(("contains", BOOLEAN, (part,), 0, True) for part in PARTS),
    *(("endswith", BOOLEAN, (part,), 0, True) for part in PARTS),
    *(("startswith", BOOLEAN, (part,), 0, True) for part in PARTS),
    *(
        ("translate", STRING, (old, new), 0, True)
        for old, new in (("", "x"), ("ap", "x"), ("app", "xyz"), ("p", ""))
    ),
]


@pytest.mark.parametrize(("function", "result", "constants", "place", "exact"), CASES)
@some
@given(seed=seeds)
def test_functions_of_text(function, result, constants, place, exact, seed):
    def scalar(x):
        arguments = list(constants)
        arguments.insert(place, x)
        return scalars.TEXT[function](*arguments)

    rule = calling(function, result, constants, place)
    check(rule, scalars.strict(scalar), (STRING,), seed, exact=exact)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("<%s>", "a"), b"<a>"),
        (("%s-%05d", "a", 7), b"a-00007"),
        (("%d", "a"), None),  # Spark raises
        (("%x", 7), None),
        (("%s", None), None),  # Spark writes 'null'
        (("%s",), None),
    ],
)
def test_format_string_writes_what_java_and_python_write(arguments, text):
    result = apply(Call("format_string", (), STRING), [literal(a) for a in arguments], UTC)
    if text is None:
        assert (result.lower, result.upper, result.raises) == (None, None, True)
    else:
        assert (result.lower.as_py(), result.upper.as_py(), result.raises) == (text, text, False)


def test_translate_to_nul_is_unknown_because_spark_removes_the_letter():
    arguments = [literal(a) for a in ("abc", "ab", "x\0")]
    result = apply(Call("translate", (), STRING), arguments, UTC)
    assert not result.lower.is_valid
    assert not result.upper.is_valid


@pytest.mark.parametrize("count", [2, 3])
@some
@given(seed=seeds)
def test_concat(count, seed):
    kinds = (STRING,) * count
    joined = scalars.strict(lambda *parts: "".join(parts))
    check(lambda *xs: apply(Call("concat", (), STRING), xs, UTC), joined, kinds, seed)


@some
@given(seed=seeds)
def test_concat_behind_a_constant_rises_with_the_rest(seed):
    rule = calling("concat", STRING, ("id-",), 1)
    check(rule, scalars.strict(lambda x: "id-" + x), (STRING,), seed)


@pytest.mark.parametrize(
    ("text", "expected"), [("hELLO wORLD-x\ty", b"Hello World-x\ty"), ("", b""), ("\u00e9a", None)]
)
def test_initcap_of_ascii(text, expected):
    assert calling("initcap", STRING, ())(literal(text)).lower.as_py() == expected


def bounds(lower: str, upper: str):
    return between(STRING, pa.scalar(lower.encode()), pa.scalar(upper.encode()))


@pytest.mark.parametrize("constants", [("",), ("", "")])
@pytest.mark.parametrize("place", [0, 1])
def test_an_empty_text_before_or_behind_changes_no_bounds(constants, place):
    interval = calling("concat", STRING, constants, place)(bounds("apple", "pear"))

    assert (interval.lower.as_py(), interval.upper.as_py()) == (b"apple", b"pear")


def test_a_range_behind_a_constant_keeps_both_ends():
    interval = calling("concat", STRING, ("id-",), 1)(bounds("10", "20"))
    assert (interval.lower.as_py(), interval.upper.as_py()) == (b"id-10", b"id-20")


def test_upper_keeps_no_more_than_the_shared_prefix():
    interval = calling("upper", STRING, ())(bounds("apple", "apricot"))
    assert (interval.lower.as_py(), interval.upper.as_py()) == (b"AP", b"AP\xff")


@pytest.mark.parametrize(
    ("text", "upper", "lower"),
    [
        ("a\u00fcZ", "A\u00dcZ", "a\u00fcz"),
        ("\u00c0\u00d6\u00d8\u00de", "\u00c0\u00d6\u00d8\u00de", "\u00e0\u00f6\u00f8\u00fe"),
        ("stra\u00dfe", None, None),
        ("\u0130", None, None),
    ],
)
def test_a_point_of_western_letters_has_one_capital_each(text, upper, lower):
    for function, expected in (("upper", upper), ("lower", lower)):
        interval = calling(function, STRING, ())(bounds(text, text))
        point = interval.lower.as_py() == interval.upper.as_py()
        assert point is (expected is not None)
        assert not point or interval.lower.as_py() == expected.encode()


def test_a_cut_upper_bound_is_cut_no_further_than_a_character():
    cut = between(STRING, pa.scalar(b"a"), pa.scalar(b"\xc3\xff"))
    interval = calling("left", STRING, (1,))(cut)
    assert interval.upper.as_py() >= "\u00e9".encode()


@pytest.mark.parametrize("count", [150, 100_000])
def test_a_long_prefix_is_bounded_all_the_same(count):
    text = "\u00e9" * 140 + "z"
    interval = calling("left", STRING, (count,))(bounds(text, text))
    assert interval.lower.as_py() <= text.encode() <= interval.upper.as_py()


def test_repeat_does_not_fill_the_memory():
    interval = calling("repeat", STRING, (2**31 - 1,))(bounds("ab", "ab"))
    assert interval.upper.as_py() is None
