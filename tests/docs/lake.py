"""The tables of the documentation's examples, beside the demo's: metadata alone, in `lake/`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from mmh3 import hash as murmur

from support.dbt_projects import RECENT, model, shop, write_project
from tables.delta.conftest import Lake as DeltaTable
from tables.delta.conftest import bounds
from tables.iceberg.by_hand import Lake as IcebergTable
from tables.iceberg.by_hand import encode_bound, summary

if TYPE_CHECKING:
    from pathlib import Path

DAY = 86_400_000_000
LARGE = 200_000_000
DELETED = {
    "storageType": "u",
    "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^",
    "offset": 4,
    "sizeInBytes": 40,
    "cardinality": 6,
}
WITH_DELETION_VECTORS = {
    "minReaderVersion": 3,
    "minWriterVersion": 7,
    "readerFeatures": ["deletionVectors"],
    "writerFeatures": ["deletionVectors"],
}
QUERIES = """\
query,times
SELECT id FROM sales WHERE month + 1 = 4,90
"SELECT user_id FROM clicks WHERE user_id BETWEEN 5 AND 7",31
SELECT count(id) FROM sales WHERE month = 7 AND id > 500,12
"SELECT * FROM users WHERE country = 'DE' AND age > 40",25
SELECT day FROM sales,1
"""


def write_lake(folder: Path) -> None:
    """All of them; each stands for one habit of real tables."""
    _readings(folder / "readings")
    _events(folder / "events")
    _codes(folder / "codes")
    _shops(folder / "shops")
    _accounts(folder / "accounts")
    _clicks(folder / "clicks")
    _orders(folder / "orders")
    _sensors(folder / "sensors")
    _pages(folder / "pages")
    _sales(folder / "sales")
    _calendar(folder / "calendar")
    _visits(folder / "visits")
    (folder.parent / "queries.csv").write_text(QUERIES, "utf-8")
    write_project(folder.parent / "shop", shop())
    last_month = model("recent", RECENT.replace(">= 11", ">= 12"), tags=["nightly"])
    write_project(folder.parent / "shop-main", [last_month, *shop()[1:]])


def _visits(folder: Path) -> None:
    """Users and pages in no order; only users have bloom filters. The one table with rows."""
    rows = 4_000
    columns = {
        "user_id": pa.array([n * 7_919 % rows * 2 for n in range(rows)], pa.int64()),
        "page": pa.array([n * 104_729 % 1_000_003 for n in range(rows)], pa.int64()),
    }
    folder.mkdir(parents=True)
    pq.write_table(
        pa.table(columns),
        folder / "part-0.parquet",
        row_group_size=500,
        use_dictionary=False,
        bloom_filter_options={"user_id": {"ndv": 500, "fpp": 0.01}},
    )


def _readings(folder: Path) -> None:
    """Many small files, and values spread over all of them."""
    table = DeltaTable(folder).create({"device": "long"})
    table.commit(*(table.add(f"part-{n:02}", bounds("device", n, n + 900)) for n in range(40)))


def _events(folder: Path) -> None:
    """Statistics of the first two columns only, and not in every file."""
    table = DeltaTable(folder).create(
        {"id": "long", "kind": "string", "amount": "long", "valid": "boolean"},
        properties={"delta.dataSkippingNumIndexedCols": "2"},
    )
    statistics = [bounds("id", n * 10, n * 10 + 9) for n in range(3)]
    uncounted = {"numRecords": 10, "minValues": {"id": 30}, "maxValues": {"id": 39}}
    nothing = {"numRecords": 10}
    upside_down = bounds("id", 59, 50)
    table.commit(
        *(
            table.add(f"part-{n}", stats, size=LARGE)
            for n, stats in enumerate([*statistics, uncounted, nothing, upside_down])
        )
    )


def _codes(folder: Path) -> None:
    """Numbers, and a writer that wrote text for their bounds."""
    table = DeltaTable(folder).create({"code": "long"})
    recorded = [bounds("code", 0, 9), bounds("code", "ten", "twenty"), bounds("code", 30, 39)]
    table.commit(*(table.add(f"part-{n}", s, size=LARGE) for n, s in enumerate(recorded)))


def _shops(folder: Path) -> None:
    """A number that is kept as text, as partition and as column."""
    table = DeltaTable(folder).create({"region": "string", "zip": "string"}, ("region",))
    table.commit(
        *(
            table.add(f"region={n}/part-0", bounds("zip", "10115", "9"), partition={"region": n})
            for n in ("1", "2", "13")
        )
    )


def _accounts(folder: Path) -> None:
    """Rows were deleted, and the bounds are from before."""
    table = DeltaTable(folder).create({"balance": "long"}, protocol=WITH_DELETION_VECTORS)
    loose = bounds("balance", 40, 60) | {"tightBounds": False}
    table.commit(
        table.add("part-0", loose, deletionVector=DELETED),
        table.add("part-1", bounds("balance", 70, 90)),
    )


def _clicks(folder: Path) -> None:
    """Partitioned by a hash."""
    field = {"source-id": 1, "field-id": 1000, "name": "user_bucket", "transform": "bucket[16]"}
    table = IcebergTable(folder, {"user_id": "long"}, [field])
    buckets = {(murmur(n.to_bytes(8, "little")) & 0x7FFFFFFF) % 16 for n in range(1000)}
    table.manifest(
        [
            table.file(
                f"bucket-{b}", {"user_id": (0, 999)}, {"user_id": 0}, partition={"user_bucket": b}
            )
            for b in sorted(buckets)
        ]
    )
    table.commit()


def _orders(folder: Path) -> None:
    """Partitioned by day since last week; older files are not."""
    field = {"source-id": 1, "field-id": 1000, "name": "day", "transform": "day"}
    specs = [{"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": [field]}]
    more = {
        "default-spec-id": 1,
        "properties": {"write.target-file-size-bytes": "134217728", "owner": "sales"},
        "refs": {"main": {"snapshot-id": 1, "type": "branch"}},
    }
    table = IcebergTable(folder, {"ts": "timestamp"}, specs=specs, more=more)
    first = 20_000  # 2024-10-04
    old = [(first + n) * DAY for n in (0, 3)]
    table.manifest(
        [
            table.file(f"old-{n}", {"ts": (begin, begin + 3 * DAY + 9)}, {"ts": 0})
            for n, begin in enumerate(old)
        ]
    )
    table.manifest(
        [
            table.file(
                f"day-{day}",
                {"ts": (day * DAY, (day + 1) * DAY - 1)},
                {"ts": 0},
                partition={"day": day},
            )
            for day in range(first + 6, first + 10)
        ],
        spec=1,
    )
    counts = {"operation": "append", "added-data-files": "6", "total-data-files": "6"}
    table.commit(**{"timestamp-ms": 1_728_900_000_000, "summary": counts})


def _sensors(folder: Path) -> None:
    """Every manifest has some of every site."""
    field = {"source-id": 1, "field-id": 1000, "name": "site", "transform": "identity"}
    table = IcebergTable(folder, {"site": "long", "value": "double"}, [field])
    for at in range(10):
        sites = range(at, 100, 10)
        ends = encode_bound(min(sites), "long"), encode_bound(max(sites), "long")
        table.manifest(
            [
                table.file(
                    f"m{at}-site-{site}",
                    {"value": (0.0, 9.5)},
                    {"value": 0},
                    partition={"site": site},
                )
                for site in sites
            ],
            summaries=[summary(*ends)],
        )
    table.commit()


def _pages(folder: Path) -> None:
    """Addresses that begin alike, with bounds cut after 16 characters."""
    table = IcebergTable(folder, {"url": "string"})
    lower = "https://example.org/"[:16]
    upper = lower[:-1] + chr(ord(lower[-1]) + 1)
    table.manifest([table.file(f"part-{n}", {"url": (lower, upper)}, {"url": 0}) for n in (0, 1)])
    table.commit()


def _sales(folder: Path) -> None:
    """Two files a month; the ids of each reach across all of them."""
    table = DeltaTable(folder).create({"month": "integer", "id": "long"}, ("month",))
    table.commit(
        *(
            table.add(
                f"month={month}/part-{part}",
                bounds("id", part, 1000 + month),
                partition={"month": str(month)},
                size=LARGE,
            )
            for month in range(1, 13)
            for part in range(2)
        )
    )


def _calendar(folder: Path) -> None:
    """A file a month, by its number, the number as text, and a name."""
    table = DeltaTable(folder).create(
        {"month": "integer", "code": "string", "id": "long", "name": "string"}
    )
    table.commit(*(table.add(f"part-{m:02}", _month(m)) for m in range(1, 13)))


def _month(month: int) -> dict[str, Any]:
    low = {"month": month, "code": str(month), "id": 10 * month, "name": "April"}
    high = {**low, "id": 10 * month + 9, "name": "September"}
    nulls = dict.fromkeys(low, 0)
    return {"numRecords": 10, "minValues": low, "maxValues": high, "nullCount": nulls}
