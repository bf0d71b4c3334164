"""Zones by name, and both ways through their clocks, one value at a time."""

from __future__ import annotations

import pickle
from random import Random

import pytest

from pruning.functions.time import reference
from pruning.functions.time.cases import ZONES
from pruning.functions.time.reference import SECOND
from whyscan.errors import UsageError
from whyscan.tree import tzfile
from whyscan.tree.zones import find_zone, to_instant, to_wall, zone

YEARS_400 = 146_097 * 86_400 * SECOND


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("UTC", 0),
        ("Z", 0),
        ("GMT", 0),
        ("+02:00", 7200),
        ("+2:00", 7200),
        ("+2", 7200),
        ("-0530", -19_800),
        ("GMT+2", 7200),
        ("UTC+02:00", 7200),
        ("UT-1", -3600),
        ("Etc/GMT+2", -7200),
        ("EST", -18_000),
        ("PST", -28_800),
        ("Asia/Kathmandu", 19_800),
    ],
)
def test_names_are_those_that_spark_takes(name, seconds):
    assert to_wall(0, zone(name)) == seconds * SECOND


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Europe/Berln", "did you mean Europe/Berlin?"),
        ("america/new_york", "did you mean America/New_York?"),
        ("+19:00", "write it as Europe/Paris, UTC or +02:00"),
        ("../../etc/passwd", None),
    ],
)
def test_an_unknown_zone_is_a_usage_error_with_a_near_name(name, hint):
    with pytest.raises(UsageError) as caught:
        zone(name)

    assert name in caught.value.message
    assert hint is None or caught.value.hint == hint


def test_a_zone_travels_as_its_name():
    there = pickle.loads(pickle.dumps(zone("America/St_Johns")))

    assert there is zone("America/St_Johns")


@pytest.mark.parametrize("name", ZONES)
def test_both_ways_agree_with_the_reference(name):
    draw = Random(name)
    edges = [t * SECOND + d for t in zone(name).transitions for d in (-1, 0)][:300]
    plain = [draw.randrange(-62_000_000_000, 62_000_000_000) * SECOND for _ in range(200)]

    wrong = [
        value
        for value in [*edges, *plain]
        if abs(value) < 62_000_000_000 * SECOND
        and (
            to_wall(value, zone(name)) != reference.micros(reference.reading(value, name))
            or to_instant(value, zone(name)) != reference.instant_of(reference.wall_of(value), name)
        )
    ]

    assert wrong == []


@pytest.mark.parametrize("name", ZONES)
@pytest.mark.parametrize("cycles", [1, 20, 700])
def test_every_later_year_is_as_one_400_years_before(name, cycles):
    july = 20_000_000_000 * SECOND
    there = zone(name)

    assert to_wall(july + cycles * YEARS_400, there) == to_wall(july, there) + cycles * YEARS_400


def test_every_zone_of_the_database_can_be_read():
    odd = [name for name in tzfile.names() if find_zone(name) is None]

    assert odd == []


def clocks(name: str) -> list[list[int]]:
    """When a zone's changes come: in UTC, on the old clock, on the new, and on the later one."""
    content = tzfile.read(name)
    changes = list(zip(content.transitions, content.offsets, content.offsets[1:], strict=False))
    return [
        [t for t, _, _ in changes],
        [t + old for t, old, _ in changes],
        [t + new for t, _, new in changes],
        [t + max(old, new) for t, old, new in changes],
    ]


def test_changes_come_in_order_on_every_clock():
    """What the binary searches stand on."""
    unsorted = [
        name
        for name in sorted(tzfile.names())
        if any(points != sorted(set(points)) for points in clocks(name))
    ]

    assert unsorted == []
