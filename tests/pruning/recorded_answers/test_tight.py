"""What bounds decide: the verdict on one container, for each function that prunes."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pruning.recorded_answers.rows import COLUMNS, SCHEMA
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.pruning.containers import Containers
from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.interval import Interval
from whyscan.pruning.mask import tally
from whyscan.tree import arrow
from whyscan.tree.types import DATE
from whyscan.tree.zones import zone

DAY = 86_400_000_000
MARCH = 19_783  # 2024-03-01
MARCH_TIMES = (MARCH * DAY, MARCH * DAY + DAY - 1)
LATER_TIMES = (MARCH * DAY + DAY, MARCH * DAY + 2 * DAY)
MARCH_2024 = {"year": (2024, 2024), "month": (3, 3)}
MARCH_TEXT = {"ys": ("2024", "2024"), "ms": ("03", "03")}
WHOLE_YEARS = {"year": (2022, 2023), "month": (1, 12), "day": (1, 31)}

# The predicate, the bounds of its columns without NULLs, the verdict.
CASES = [
    ("i & 12 = 4", {"i": (4, 4)}, "all"),
    ("i & 12 = 4", {"i": (8, 8)}, "none"),
    ("i & 12 = 16", {"i": (-9, 99)}, "none"),
    ("i & j >= 8", {"i": (0, 7), "j": (-5, 5)}, "none"),
    ("i | j < 8", {"i": (8, 9), "j": (0, 3)}, "none"),
    ("i | j < 16", {"i": (8, 9), "j": (0, 3)}, "all"),
    ("i ^ j > 31", {"i": (0, 20), "j": (3, 31)}, "none"),
    ("~i = -8", {"i": (8, 12)}, "none"),
    ("positive(i) > 30", {"i": (0, 30)}, "none"),
    ("nanvl(x, 0D) > 3", {"x": (0.0, 3.0)}, "none"),
    ("make_date(year, month, day) = DATE '2024-03-01'", {**MARCH_2024, "day": (1, 1)}, "all"),
    ("make_date(year, month, day) = DATE '2024-03-01'", {**MARCH_2024, "day": (2, 2)}, "none"),
    ("make_date(year, month, day) >= DATE '2024-03-01'", WHOLE_YEARS, "none"),
    ("make_date(year, month, day) >= DATE '2024-03-01'", {"year": (2023, 2023)}, "none"),
    ("make_date(year, month, day) = DATE '2024-03-15'",
     {"year": (2024, 2024), "month": (4, 4)}, "none"),
    ("make_date(year, month, 1) = d", {**MARCH_2024, "d": (MARCH + 1, MARCH + 9)}, "none"),
    ("to_date(concat(year, '-', month, '-', day)) = DATE '2024-03-15'",
     {**MARCH_2024, "day": (15, 15)}, "all"),
    ("to_date(concat_ws('-', ys, ms, ds)) = DATE '2024-03-15'",
     {**MARCH_TEXT, "ds": ("16", "16")}, "none"),
    ("to_date(concat_ws('-', ys, ms, ds)) = DATE '2024-03-15'",
     {**MARCH_TEXT, "ds": ("15", "15")}, "all"),
    ("concat_ws('-', ys, ms) >= '2024-03'", {"ys": ("2023", "2023"), "ms": ("01", "12")}, "none"),
    ("try_to_date(s) = DATE '2024-03-01'", {"s": ("2024-03-02", "2024-03-02")}, "none"),
    ("try_to_timestamp(d) < TIMESTAMP '2024-03-01 00:00:00'", {"d": (MARCH, MARCH + 9)}, "none"),
    ("s ILIKE 'abc%'", {"s": ("d", "z")}, "none"),
    ("s ILIKE 'abc%'", {"s": ("ABD", "ABZ")}, "none"),
    ("s ILIKE 'abc%'", {"s": ("ABC-1", "ABC-2")}, "all"),
    ("s ILIKE 'k%'", {"s": ("m", "z")}, "none"),
    ("s ILIKE 'k%'", {"s": ("m", "\u3000")}, "some"),
    ("s ILIKE 'abc'", {"s": ("b", "z")}, "none"),
    ("s RLIKE '^abc'", {"s": ("b", "z")}, "none"),
    ("s RLIKE '^abc'", {"s": ("abc", "abcz")}, "all"),
    ("s RLIKE '^abc-[0-9]+$'", {"s": ("abd", "z")}, "none"),
    ("s RLIKE '^abc-[0-9]+$'", {"s": ("abc-", "abc-z")}, "some"),
    ("s RLIKE '^(abc|eu-)'", {"s": ("abd", "et")}, "none"),
    ("s RLIKE '^(abc|eu-)'", {"s": ("abd", "ev")}, "some"),
    ("s RLIKE '^eu-(west|north)-1$'", {"s": ("eu-o", "eu-v")}, "none"),
    ("regexp_like(s, '^eu-')", {"s": ("us-a", "us-z")}, "none"),
    ("s NOT RLIKE '^abc'", {"s": ("abc", "abcz")}, "none"),
    ("s RLIKE '(?i)^abc'", {"s": ("b", "z")}, "some"),
    ("substr(s, 5) = '1'", {"s": ("abc-2", "abc-9")}, "none"),
    ("substring(s, 4, 1) = '-'", {"s": ("abc-2", "abc-9")}, "all"),
    ("substring(s, 2, 3) = 'bc-'", {"s": ("abd", "abz")}, "none"),
    ("substr(s, 5) = '1'", {"s": ("abc-2", "abd-9")}, "some"),
    ("split_part(s, '-', 1) = 'eu'", {"s": ("us-east-1", "us-west-2")}, "none"),
    ("split_part(s, '-', 2) = 'east'", {"s": ("us-west-1", "us-west-2")}, "none"),
    ("split_part(s, '-', 2) = 'west'", {"s": ("us-west-1", "us-west-2")}, "all"),
    ("substring_index(s, '-', 1) = 'eu'", {"s": ("us-east-1", "us-west-2")}, "none"),
    ("substring_index(s, '-', 2) = 'us-west'", {"s": ("us-west-1", "us-west-2")}, "all"),
    ("ltrim(s) = 'abc'", {"s": ("b", "c")}, "none"),
    ("ltrim(s) = 'abc'", {"s": ("  bx", "  by")}, "none"),
    ("ltrim(s) = 'abc'", {"s": ("  ", "c")}, "some"),
    ("rtrim(s) = 'abc'", {"s": ("b", "c")}, "none"),
    ("trim(s) = 'abc'", {"s": ("b", "c")}, "none"),
    ("trim(s) = 'b'", {"s": ("b", "c")}, "some"),
    ("ice.system.days(ts) = DATE '2024-03-01'", {"ts": MARCH_TIMES}, "all"),
    ("system.days(ts) = DATE '2024-03-01'", {"ts": LATER_TIMES}, "none"),
    ("system.hours(n) < 24", {"n": (DAY, 2 * DAY)}, "none"),
    ("system.months(d) = 650", {"d": (MARCH, MARCH + 30)}, "all"),
    ("system.years(d) = 53", {"d": (MARCH, MARCH + 30)}, "none"),
    ("system.bucket(16, i) = 16", {"i": (0, 99)}, "none"),
    ("system.truncate(10, i) = 20", {"i": (20, 29)}, "all"),
    ("system.truncate(10, i) = 20", {"i": (30, 39)}, "none"),
    ("system.truncate(2, s) = 'ab'", {"s": ("ab", "abz")}, "all"),
    ("system.truncate(2, s) = 'ab'", {"s": ("ac", "az")}, "none"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "bounds", "verdict"), CASES)
def test_bounds_decide(text: str, bounds: dict[str, tuple], verdict: str) -> None:
    statistics = {
        (name,): Interval(
            kind,
            *(arrow.array([end], kind) for end in bounds.get(name, (None, None))),
            null=name not in bounds and kind != DATE,
        )
        for name, kind in COLUMNS.items()
    }
    containers = Containers(1, pa.array([3]), statistics=statistics)
    expression = bind(text, SCHEMA, Session(timezone="UTC")).expression
    truth = evaluate(expression, containers, zone("UTC"))
    others = tally(truth.false, 1) + tally(truth.null, 1) + tally(truth.raises, 1)
    exact = "none" if not tally(truth.true, 1) else "some" if others else "all"
    assert exact == verdict
