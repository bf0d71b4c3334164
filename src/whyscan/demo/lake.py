"""The lake of the demo: small tables in a folder, the same on every machine."""

from __future__ import annotations

import shutil
from decimal import Decimal
from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.demo import events
from whyscan.demo.archive import write_archive, write_file
from whyscan.demo.delta_log import Action, add_action, stats_of, write_log
from whyscan.errors import StorageError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa

MARKER = ".whyscan-demo"
TABLES = (
    "months",
    "campaigns",
    "users",
    "users-flat",
    "users-delta",
    "prices",
    "prices-double",
    "archive",
)

QUERIES = "queries.csv"
LOG = """\
started,times,query
2026-03-02 06:00:00,720,SELECT count(*) FROM users_flat WHERE country = 'DE'
2026-03-02 07:10:00,48,"SELECT id, age FROM users WHERE upper(country) = 'DE' AND age > 40"
2026-03-02 07:30:00,48,"SELECT id, age FROM users WHERE country = 'DE' AND age > 40"
2026-03-03 06:00:00,30,"SELECT avg(panel_voltage) FROM archive WHERE mission = 'artemis-2' AND \
date_format(at, 'yyyy-MM-dd') = '2024-03-01'"
2026-03-03 08:00:00,24,SELECT at FROM archive WHERE panel_voltage < 24.5
2026-03-03 09:00:00,96,SELECT sum(amount) FROM months WHERE month = 1
2026-03-04 06:00:00,12,"SELECT sum(m.amount) FROM months m JOIN campaigns c ON m.month = c.month \
WHERE c.name = 'spring'"
2026-03-04 07:00:00,6,SELECT * FROM prices WHERE price > 1000
2026-03-04 08:00:00,1,SELECT * FORM prices
"""
"""The query log of the demo: time, number of runs and text; one text is not valid SQL."""

SEED = 7
MONTHS = 12
ORDERS_A_MONTH = 50
CAMPAIGNS = (("spring", (3, 5)), ("winter", (1, 12)))
PRICES = ((100, 900), (800, 1500), (1200, 2000))
PRICES_A_GROUP = 50


class User(Struct, frozen=True):
    """One row of the users table; `file` is the position of its file in the partition."""

    country: str
    age: int
    file: int


def _users(country: str, *files: Sequence[int]) -> list[User]:
    return [User(country, age, at) for at, ages in enumerate(files) for age in ages]


USERS = [
    *_users("DE", (40, 45, 50, 60), (20, 25, 27, 30, 35)),
    *_users("IT", (41, 52, 65), (22, 24, 33, 36, 38)),
    *_users("US", (31, 44, 55), (18, 21, 26, 29)),
]

# The same rows in the order of arrival: every file has rows of several countries.
FLAT = (
    (18, 24, 27, 29),
    (20, 21, 31, 33, 35),
    (30, 36, 38, 55),
    (22, 41, 50),
    (40, 44, 52, 60, 65),
    (25, 26, 45),
)


def write_lake(folder: Path, *, force: bool, medium: bool = False) -> None:
    """Write every table into `folder`; tables of an earlier demo are replaced.

    A medium lake has the events as well, whose files stand in their logs alone.
    """
    try:
        _prepare_folder(folder, force=force)
        _write_months(folder / "months")
        _write_campaigns(folder / "campaigns")
        _write_partitioned(folder / "users")
        _write_flat(folder / "users-flat")
        _write_delta(folder / "users-delta")
        _write_prices(folder)
        write_archive(folder / "archive")
        (folder / QUERIES).write_text(LOG, "utf-8")
        if medium:
            events.write_events(folder)
    except OSError as error:
        raise StorageError(
            f"cannot write the demo to {folder}: {error.strerror}",
            hint="name another folder: whyscan demo FOLDER",
        ) from error


def _prepare_folder(folder: Path, *, force: bool) -> None:
    """Prepare the folder. Only files that an earlier demo wrote are removed."""
    foreign = folder.exists() and not (folder / MARKER).exists()
    if foreign and not folder.is_dir():
        raise UsageError(f"{folder} is a file", hint="name a folder: whyscan demo FOLDER")
    if foreign and any(folder.iterdir()) and not force:
        raise UsageError(
            f"{folder} is there and holds something else",
            hint="name another folder, or --force to write the demo's tables into it",
        )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARKER).write_text("written by whyscan demo\n", "utf-8")
    for name in (*TABLES, *events.TABLES):
        if (folder / name).exists():
            shutil.rmtree(folder / name)
    (folder / events.QUERIES).unlink(missing_ok=True)


def _write_months(root: Path) -> None:
    """Write the orders of a year, one Hive partition per month."""
    from random import Random

    import pyarrow as pa

    dice = Random(SEED)  # noqa: S311 - a demo's data, not a secret
    for month in range(1, MONTHS + 1):
        first = (month - 1) * ORDERS_A_MONTH
        orders = pa.table(
            {
                "id": pa.array(range(first, first + ORDERS_A_MONTH), pa.int64()),
                "amount": pa.array(
                    [dice.randint(5, 500) for _ in range(ORDERS_A_MONTH)], pa.int32()
                ),
            }
        )
        write_file(root / f"month={month}" / "part-0.parquet", orders)


def _write_campaigns(root: Path) -> None:
    """Write the months of advertising campaigns, one file per campaign."""
    import pyarrow as pa

    for at, (name, months) in enumerate(CAMPAIGNS):
        rows = {"name": pa.array([name] * len(months)), "month": pa.array(months, pa.int32())}
        write_file(root / f"part-{at}.parquet", pa.table(rows))


def _write_partitioned(root: Path) -> None:
    """Write the users with one Hive partition per country and two files in each."""
    for path, users in _files_of_users().items():
        write_file(root / path, _ages_table([user.age for user in users]))


def _files_of_users() -> dict[str, list[User]]:
    files: dict[str, list[User]] = {}
    for user in USERS:
        files.setdefault(f"country={user.country}/part-{user.file}.parquet", []).append(user)
    return files


def _write_flat(root: Path) -> None:
    """Write the same users into six files without partitions."""
    import pyarrow as pa

    countries = {user.age: user.country for user in USERS}
    for at, ages in enumerate(FLAT):
        names = pa.array([countries[age] for age in ages], pa.string())
        write_file(root / f"part-{at}.parquet", _ages_table(ages).append_column("country", names))


def _write_delta(root: Path) -> None:
    """Write the same users as a Delta table, one commit per country."""
    import pyarrow.compute as pc

    commits: dict[str, list[Action]] = {}
    for path, users in _files_of_users().items():
        rows = _ages_table([user.age for user in users])
        ends = {name: pc.min_max(rows[name]).as_py() for name in rows.column_names}
        stats = stats_of(rows.num_rows, {name: (e["min"], e["max"]) for name, e in ends.items()})
        country = users[0].country
        size = write_file(root / path, rows)
        commits.setdefault(country, []).append(add_action(path, {"country": country}, size, stats))
    kinds = {"id": "long", "age": "integer", "country": "string"}
    write_log(root, kinds, "country", list(commits.values()))


def _ages_table(ages: Sequence[int]) -> pa.Table:
    import pyarrow as pa

    ids = [1000 + age for age in ages]
    return pa.table({"id": pa.array(ids, pa.int64()), "age": pa.array(ages, pa.int32())})


def _write_prices(folder: Path) -> None:
    """Write files with three row groups, one with prices as decimals and one as doubles."""
    import pyarrow as pa

    decimals = [pa.array(_spread(*ends), pa.decimal128(10, 2)) for ends in PRICES]
    doubles = [prices.cast(pa.float64()) for prices in decimals]
    for name, groups in {"prices": decimals, "prices-double": doubles}.items():
        tables = [pa.table({"price": prices}) for prices in groups]
        write_file(folder / name / "part-0.parquet", *tables)


def _spread(low: int, high: int) -> list[Decimal]:
    """Return prices from low to high, both included."""
    step = Decimal(high - low) / (PRICES_A_GROUP - 1)
    inner = [(low + step * i).quantize(Decimal("0.01")) for i in range(1, PRICES_A_GROUP - 1)]
    return [Decimal(low), *inner, Decimal(high)]
