"""The calendar, against Python's own over a whole cycle of 400 years and far beyond it."""

from datetime import date, timedelta

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from whyscan.pruning.transforms.gregorian import floor_divide, month_of, month_start

EPOCH = date(1970, 1, 1)
CYCLE = 146_097


def test_every_day_of_a_cycle_lies_in_its_month():
    days = range(-CYCLE // 2, CYCLE // 2)
    dates = [EPOCH + timedelta(n) for n in days]

    found = month_of(pa.array(days, pa.int64())).to_pylist()

    assert found == [(d.year - 1970) * 12 + d.month - 1 for d in dates]


def test_every_month_of_a_cycle_starts_on_its_first():
    months = range(-2_400, 2_400)
    firsts = [date(1970 + n // 12, n % 12 + 1, 1) for n in months]

    found = month_start(pa.array(months, pa.int64())).to_pylist()

    assert found == [(d - EPOCH).days for d in firsts]


@given(st.integers(-(2**31), 2**31 - 1), st.integers(-10_000, 10_000))
def test_the_calendar_repeats_after_400_years(day, cycles):
    one, later = (month_of(pa.scalar(d)).as_py() for d in (day, day + cycles * CYCLE))

    assert later - one == cycles * 4_800


@given(st.integers(-(2**63), 2**63 - 1), st.integers(1, 10**12))
def test_division_rounds_down(value, divisor):
    assert floor_divide(pa.scalar(value), divisor).as_py() == value // divisor
