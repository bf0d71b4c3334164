"""Naming a version: one way at a time, and only ways that the format has."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from whyscan.errors import UsageError
from whyscan.tables.time_travel import Travel, moment

NEW_YEAR = 1_704_067_200_000_000

MOMENTS = {
    "a date is its midnight in UTC": "2024-01-01",
    "a time without a zone is in UTC": "2024-01-01 00:00:00",
    "a zone is honoured": "2024-01-01T01:00:00+01:00",
    "a naive datetime is in UTC": datetime(2024, 1, 1),  # noqa: DTZ001 - what is tested
    "an aware one is itself": datetime(2024, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))),
    "UTC is UTC": datetime(2024, 1, 1, tzinfo=UTC),
}


@pytest.mark.parametrize("text", MOMENTS.values(), ids=MOMENTS.keys())
def test_a_moment_in_microseconds(text: str | datetime) -> None:
    assert moment(text) == NEW_YEAR


@pytest.mark.parametrize("text", ["yesterday", "12:00", "2024-13-01", ""])
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a timestamp"):
        moment(text)


def test_two_ways_at_once_are_refused() -> None:
    with pytest.raises(UsageError, match="version and ref name different versions"):
        Travel(version=1, ref="main")


def test_a_format_refuses_ways_that_it_does_not_have() -> None:
    with pytest.raises(UsageError, match="Delta tables have no ref"):
        Travel(ref="main").require_only("version", "as_of", format_name="Delta")
    Travel(version=1).require_only("version", format_name="Delta")
    assert Travel().ways() == ()
