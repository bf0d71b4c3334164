"""The scalar reference against Spark itself, on sampled rows of every family.

All expressions over the same columns go through in one query. A row for which the reference
raises is kept from the expression, and must be NULL to its `try_` form.
"""

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from random import Random

import pytest

from pruning.functions import scalars
from pruning.functions.containment import value
from whyscan.tree.nodes import Operation
from whyscan.tree.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TINYINT,
    DecimalType,
    FloatType,
    StringType,
)

pytestmark = pytest.mark.spark

ROWS = 200
PRICE, RATE = DecimalType(7, 2), DecimalType(4, 3)
LONG, FINE = DecimalType(38, 20), DecimalType(20, 19)


@dataclass(frozen=True)
class Case:
    """An expression over columns a, b, c, and what it is on one row."""

    sql: str
    scalar: object
    tried: str | None = None

    def expected(self, rows):
        """One outcome a row, `Raised` among them."""
        for row in rows:
            try:
                yield self.scalar(*row)
            except scalars.Raised:
                yield scalars.Raised


def agree(spark, kinds, cases, rows=None):
    dice = Random(7)
    rows = rows or [tuple(value(dice, kind) for kind in kinds) for _ in range(ROWS)]
    outcomes = [list(case.expected(rows)) for case in cases]
    columns = [
        column
        for case, expected in zip(cases, outcomes, strict=True)
        for column in (guarded(case.sql, expected), case.tried or "NULL")
    ]
    answers = ask(spark, kinds, columns, rows)
    for case, expected, outcome, tried in zip(
        cases, outcomes, answers[::2], answers[1::2], strict=True
    ):
        for row, one, other, attempt in zip(rows, expected, outcome, tried, strict=True):
            if one is scalars.Raised:
                assert attempt is None, f"{case.tried} of {row} is {attempt} to Spark, not an error"
            else:
                assert same(one, other), f"{case.sql} of {row} is {other!r} to Spark, not {one!r}"


def guarded(sql: str, expected) -> str:
    failing = [i for i, outcome in enumerate(expected) if outcome is scalars.Raised]
    if not failing:
        return sql
    return f"CASE WHEN i IN ({', '.join(map(str, failing))}) THEN NULL ELSE {sql} END"


def ask(spark, kinds, columns, rows):
    """What Spark makes of each expression: a column of answers each."""
    schema = ", ".join(f"{name} {kind}" for name, kind in zip("abc", kinds, strict=False))
    table = spark.createDataFrame([(i, *row) for i, row in enumerate(rows)], f"i int, {schema}")
    named = (f"{sql} AS c{i}" for i, sql in enumerate(columns))
    answers = table.repartition(1).sortWithinPartitions("i").selectExpr(*named).collect()
    return [list(column) for column in zip(*answers, strict=True)]


def same(expected, actual) -> bool:
    if isinstance(expected, float) and isinstance(actual, float):
        return expected == actual or (math.isnan(expected) and math.isnan(actual))
    return expected == actual and (expected is None) == (actual is None)


TRIED = {
    Operation.ADD: "try_add(a, b)",
    Operation.SUBTRACT: "try_subtract(a, b)",
    Operation.MULTIPLY: "try_multiply(a, b)",
    Operation.DIVIDE: "try_divide(a, b)",
    Operation.REMAINDER: "try_mod(a, b)",
}
WHOLE = [operation for operation in Operation if operation is not Operation.DIVIDE]
FRACTIONAL = [operation for operation in Operation if operation is not Operation.QUOTIENT]

# The types of the operands, and the result of each operation as Spark types it.
ARITHMETIC = [
    (TINYINT, TINYINT, {o: BIGINT if o is Operation.QUOTIENT else TINYINT for o in WHOLE}),
    (INT, INT, {o: BIGINT if o is Operation.QUOTIENT else INT for o in WHOLE}),
    (BIGINT, BIGINT, dict.fromkeys(WHOLE, BIGINT)),
    (FLOAT, FLOAT, dict.fromkeys((Operation.ADD, Operation.SUBTRACT, Operation.MULTIPLY), FLOAT)),
    (DOUBLE, DOUBLE, dict.fromkeys(FRACTIONAL, DOUBLE)),
    (
        PRICE,
        RATE,
        {
            Operation.ADD: DecimalType(9, 3),
            Operation.SUBTRACT: DecimalType(9, 3),
            Operation.MULTIPLY: DecimalType(12, 5),
            Operation.DIVIDE: DecimalType(15, 7),
            Operation.QUOTIENT: BIGINT,
            Operation.REMAINDER: DecimalType(4, 3),
        },
    ),
    (
        LONG,
        RATE,
        {
            Operation.ADD: DecimalType(38, 19),
            Operation.MULTIPLY: DecimalType(38, 18),
            Operation.QUOTIENT: BIGINT,
        },
    ),
]


@pytest.mark.parametrize("operands", ARITHMETIC, ids=lambda case: f"{case[0]}-{case[1]}")
def test_arithmetic(spark, operands):
    left, right, kinds = operands
    cases = [
        Case(
            f"a {operation.value} b",
            lambda a, b, o=operation, k=kind: scalars.calculate(o, a, b, k),
            TRIED.get(operation),
        )
        for operation, kind in kinds.items()
    ]
    agree(spark, (left, right), cases)


# For each argument: the expression, the type of its result, its scalar and the constants in it.
NUMBERS = {
    TINYINT: [("abs(a)", TINYINT, scalars.absolute)],
    SMALLINT: [
        *((f"round(a, {n})", SMALLINT, scalars.half_up, n) for n in (1, 0, -1, -2)),
        *((f"bround(a, {n})", SMALLINT, scalars.half_even, n) for n in (0, -1)),
    ],
    INT: [
        ("-a", INT, scalars.negative),
        ("pmod(a, 7)", INT, scalars.pmod, 7),
        ("mod(a, -7)", INT, scalars.mod, -7),
        ("~a", INT, scalars.inverted),
        ("a & 12", INT, scalars.bits_and, 12),
    ],
    PRICE: [
        ("abs(a)", PRICE, scalars.absolute),
        ("floor(a)", DecimalType(6, 0), scalars.floor),
        ("round(a, 1)", DecimalType(7, 1), scalars.half_up, 1),
        ("round(a)", DecimalType(6, 0), scalars.half_up, 0),
        ("round(a, -2)", DecimalType(6, 0), scalars.half_up, -2),
        ("bround(a, 1)", DecimalType(7, 1), scalars.half_even, 1),
    ],
    LONG: [
        ("abs(a)", LONG, scalars.absolute),
        ("-a", LONG, scalars.negative),
        ("ceil(a)", DecimalType(19, 0), scalars.ceil),
    ],
    FLOAT: [("round(a, 1)", FLOAT, scalars.half_up, 1)],
    DOUBLE: [
        ("abs(a)", DOUBLE, scalars.absolute),
        ("sign(a)", DOUBLE, scalars.sign),
        ("floor(a)", BIGINT, scalars.floor),
        ("ceil(a)", BIGINT, scalars.ceil),
        *((f"round(a, {n})", DOUBLE, scalars.half_up, n) for n in (2, 0, -1)),
        ("bround(a, 0)", DOUBLE, scalars.half_even, 0),
        ("sqrt(a)", DOUBLE, scalars.sqrt),
    ],
}


@pytest.mark.parametrize("argument", NUMBERS, ids=str)
def test_functions_of_numbers(spark, argument):
    cases = [
        Case(sql, lambda a, s=scalar, c=tuple(constants), k=kind: s(a, *c, k))
        for sql, kind, scalar, *constants in NUMBERS[argument]
    ]
    agree(spark, (argument,), cases)


LOGARITHMS = {
    "exp": scalars.exp,
    "ln": scalars.logarithm(math.log),
    "log10": scalars.logarithm(math.log10),
    "log2": scalars.logarithm(math.log2),
    "power": lambda x, kind: scalars.power(x, 1.5, kind),
}


def test_logarithms_lie_within_a_few_last_places(spark):
    dice = Random(3)
    rows = [(value(dice, DOUBLE),) for _ in range(ROWS)]
    sql = [f"{name}(a, 1.5D)" if name == "power" else f"{name}(a)" for name in LOGARITHMS]
    for scalar, column in zip(LOGARITHMS.values(), ask(spark, (DOUBLE,), sql, rows), strict=True):
        for (row,), actual in zip(rows, column, strict=True):
            expected = scalar(row, DOUBLE)
            assert same(expected, actual) or abs(actual - expected) <= 4 * math.ulp(expected), row


CASTS = (TINYINT, BIGINT, PRICE, LONG, FINE, FLOAT, DOUBLE, BOOLEAN, STRING)
# Text that Spark and the reference's plain grammar agree on.
WRITTEN = ("0", " 12 ", "+3", "-7", "127", "128", "x", "", " ", "-")


@pytest.mark.parametrize("source", CASTS, ids=str)
def test_casts(spark, source):
    targets = [
        target
        for target in CASTS
        if not isinstance(target, StringType) or not isinstance(source, FloatType | DecimalType)
    ]
    cases = [
        Case(
            f"CAST(a AS {target})",
            lambda a, t=target: scalars.cast(a, source, t),
            f"TRY_CAST(a AS {target})",
        )
        for target in targets
    ]
    agree(spark, (source,), cases, [(t,) for t in WRITTEN] if source == STRING else None)


def test_texts_of_fractions_and_booleans(spark):
    texts = [("-7.25",), ("0.005",), (" 12.5 ",), ("99999.995",), ("x",)]
    numbers = [
        Case(f"CAST(a AS {t})", lambda a, t=t: scalars.cast(a, STRING, t), f"TRY_CAST(a AS {t})")
        for t in (PRICE, FLOAT, DOUBLE)
    ]
    agree(spark, (STRING,), numbers, texts)
    words = [(word,) for word in ("true", " F ", "yes", "N", "1", "0", "on", "")]
    boolean = Case("CAST(a AS BOOLEAN)", scalars.read_boolean, "TRY_CAST(a AS BOOLEAN)")
    agree(spark, (STRING,), [boolean], words)


SIMPLE = ("trim", "ltrim", "rtrim", "reverse", "length", "ascii", "octet_length")
PADS = ((-1, "x"), (5, "xy"), (5, ""))
TEXT = [
    *((f"{name}(a)", name, ()) for name in SIMPLE),
    *((f"left(a, {n})", "left", (n,)) for n in (-1, 0, 2)),
    *((f"right(a, {n})", "right", (n,)) for n in (-1, 0, 2, 9)),
    *(
        (f"substring(a, {at}, {n})", "substring", (at, n))
        for at in (-9, -2, 0, 1, 2)
        for n in (-1, 2, 8)
    ),
    *((f"translate(a, '{x}', '{y}')", "translate", (x, y)) for x, y in (("ap", "x"), ("p", ""))),
    *((f"repeat(a, {n})", "repeat", (n,)) for n in (-1, 2)),
    *((f"{pad}(a, {n}, '{p}')", pad, (n, p)) for pad in ("lpad", "rpad") for n, p in PADS),
    *((f"replace(a, '{x}', '{y}')", "replace", (x, y)) for x, y in (("a", "bb"), ("", "x"))),
    *(
        (f"{name}(a, '{part}')", name, (part,))
        for name in ("instr", "contains", "endswith", "startswith")
        for part in ("", "p", "pp")
    ),
]


def test_functions_of_text(spark):
    cases = [
        Case(sql, lambda a, f=scalars.TEXT[name], c=constants: f(a, *c))
        for sql, name, constants in TEXT
    ]
    agree(spark, (STRING,), cases)


def test_initcap_of_ascii(spark):
    rows = [(text,) for text in ("hELLO wORLD-x\ty", "a  b", " a", "", "1a")]
    agree(spark, (STRING,), [Case("initcap(a)", scalars.initcap)], rows)


LIKE = [
    ("a%", "\\"),
    ("%p", "\\"),
    ("_", "\\"),
    ("foo\\_%", "\\"),
    ("foo\\%", "\\"),
    ("%\\\\%", "\\"),
    ("fooa_%", "a"),
    ("", "\\"),
]


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\") + "'"


def test_like(spark):
    cases = [
        Case(
            f"a LIKE {quoted(pattern)} ESCAPE {quoted(escape)}",
            lambda a, p=pattern, e=escape: scalars.like(a, p, e),
        )
        for pattern, escape in LIKE
    ]
    agree(spark, (STRING,), cases)


@pytest.mark.parametrize("pattern", ["a\\b", "a\\"])
def test_an_escape_before_an_ordinary_character_is_refused(spark, pattern):
    with pytest.raises(Exception, match="INVALID_FORMAT"):
        spark.sql(f"SELECT 'ab' LIKE {quoted(pattern)}").collect()


@pytest.mark.parametrize("kind", [INT, DOUBLE, STRING], ids=str)
def test_extremes_skip_null_and_hold_nan_the_greatest(spark, kind):
    dice = Random(5)

    def row():
        return tuple(None if dice.random() < 0.3 else value(dice, kind) for _ in "abc")

    cases = [Case("least(a, b, c)", scalars.least), Case("greatest(a, b, c)", scalars.greatest)]
    agree(spark, (kind,) * 3, cases, [row() for _ in range(ROWS)])


def test_ascii_letters_map_one_by_one_whatever_stands_next_to_them(spark):
    dice = Random(11)
    rows = [(value(dice, STRING),) for _ in range(ROWS)]
    low, high = ask(spark, (STRING,), ["lower(a)", "upper(a)"], rows)
    for (text,), lowered, raised in zip(rows, low, high, strict=True):
        prefix = re.match(r"[\x00-\x7f]*", text)[0]
        assert lowered.startswith(prefix.lower()), text
        assert raised.startswith(prefix.upper()), text


def test_ilike_lowers_both_sides(spark):
    rows = [("\u212a",), ("\u017f",), ("\u0130x",), ("A",)]
    answers = ask(spark, (STRING,), ["a ILIKE 'k'", "a ILIKE 'i%'"], rows)
    assert answers == [[True, False, False, False], [False, False, True, False]]


@pytest.mark.parametrize(
    "sql",
    [
        "abs(CAST(-128 AS TINYINT))",
        "-CAST(-2147483648 AS INT)",
        "round(CAST(32767 AS SMALLINT), -1)",
        "CAST(-9223372036854775808 AS BIGINT) div -1",
        "1 div 0",
        "1.5D / 0.0D",
        "pmod(1, 0)",
    ],
)
def test_what_has_no_result_is_an_error(spark, sql):
    with pytest.raises(Exception, match=r"OVERFLOW|ZERO"):
        spark.sql(f"SELECT {sql}").collect()


def test_nan_and_infinities_in_casts(spark):
    columns = ["CAST(a AS DECIMAL(7, 2))", "TRY_CAST(a AS INT)", "CAST(a AS BOOLEAN)"]
    answers = ask(spark, (DOUBLE,), columns, [(math.nan,), (math.inf,), (1.005,)])
    assert answers == [[None, None, Decimal("1.01")], [None, None, 1], [True, True, True]]
