"""A year of events as two Delta tables, without their data: what planning sees of a terabyte.

`events` is partitioned by day, and every hour wrote one file. `events-streamed` holds a year as a
streaming job writes it: a small file every half an hour, no partitions, and some rows are late.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from whyscan.demo.delta_log import Action, add_action, stats_of, write_log

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

EVENTS, STREAMED = "events", "events-streamed"
TABLES = (EVENTS, STREAMED)

QUERIES = "events.csv"
LOG = """\
started,times,query
2026-01-05 06:00:00,720,SELECT kind FROM events WHERE user_id = 48151
2026-01-05 07:00:00,365,SELECT sum(amount) FROM events WHERE day = DATE '2025-06-03'
2026-01-05 08:00:00,96,"SELECT kind FROM events WHERE date_format(day, 'yyyy-MM') = '2025-06'"
2026-01-05 09:00:00,48,"SELECT country, sum(amount) FROM events WHERE at >= TIMESTAMP \
'2025-06-03 06:00:00' AND at < TIMESTAMP '2025-06-03 09:00:00' GROUP BY country"
2026-01-05 10:00:00,24,SELECT max(amount) FROM events_streamed WHERE user_id = 48151
2026-01-05 11:00:00,12,SELECT count(*) FROM events_streamed WHERE at >= TIMESTAMP '2025-12-24'
"""
"""The query log of the events: time, number of runs and text."""

SEED = 11
START = datetime(2025, 1, 1)  # noqa: DTZ001 - the table's clock is UTC
DAYS = 365
USERS = 2_000_000
ROWS_AN_HOUR = 1_400_000
BYTES_A_ROW = 91
LATE = timedelta(hours=3)
COUNTRIES = ("AR", "AT", "AU", "UY", "US", "ZA")
KINDS = ("cart", "click", "search", "view")
COLUMNS = {
    "at": "timestamp",
    "user_id": "long",
    "country": "string",
    "kind": "string",
    "amount": "double",
}


def write_events(folder: Path) -> None:
    """Write the logs of both tables, and a query log about them."""
    from random import Random

    dice = Random(SEED)  # noqa: S311 - a demo's data, not a secret
    days = [START + timedelta(days=number) for number in range(DAYS)]
    by_day = [_a_day_by_hours(day, dice) for day in days]
    write_log(folder / EVENTS, {"day": "date"} | COLUMNS, "day", by_day)
    streamed = [_a_day_as_it_came(day, dice) for day in days]
    write_log(folder / STREAMED, COLUMNS, "", streamed)
    (folder / QUERIES).write_text(LOG, "utf-8")


def _a_day_by_hours(day: datetime, dice: Random) -> list[Action]:
    partition = {"day": f"{day:%Y-%m-%d}"}
    hours = [day + timedelta(hours=hour) for hour in range(24)]
    return [
        _file(f"day={day:%Y-%m-%d}/part-{hour:%H}.parquet", partition, hour, hour, 60, dice)
        for hour in hours
    ]


def _a_day_as_it_came(day: datetime, dice: Random) -> list[Action]:
    batches = [day + timedelta(minutes=30 * batch) for batch in range(48)]
    return [
        _file(f"part-{at:%Y%m%d-%H%M}.parquet", {}, at - LATE * dice.random(), at, 30, dice)
        for at in batches
    ]


def _file(
    path: str, partition: dict[str, str], low: datetime, start: datetime, minutes: int, dice: Random
) -> Action:
    """Return the log entry of a file: rows from `low` until so many minutes after `start`."""
    rows = int(ROWS_AN_HOUR * minutes / 60 * dice.uniform(0.8, 1.2))
    ends: dict[str, tuple[Any, Any]] = {
        "at": (_instant(low), _instant(start + timedelta(minutes=minutes, seconds=-1))),
        "user_id": (dice.randint(1, 40), USERS - dice.randint(1, 40)),
        "country": (dice.choice(COUNTRIES[:3]), dice.choice(COUNTRIES[3:])),
        "kind": (KINDS[0], KINDS[-1]),
        "amount": (0.0, round(dice.uniform(2_000, 9_999), 2)),
    }
    return add_action(path, partition, rows * BYTES_A_ROW, stats_of(rows, ends))


def _instant(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}.000Z"
