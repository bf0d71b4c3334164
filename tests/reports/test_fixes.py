"""Findings and their fixes: each fires, each near-miss does not, and the fix does what it promised.

Where a fix changes the predicate it is asked again; where the table, it is written again.
"""

import math
import random
from datetime import date
from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from support.lakes import delta_users, one_file, prices, users
from support.memory_table import DataFile, MemoryTable, RowGroup
from support.reports import explained
from tables.delta.conftest import Lake as DeltaLake
from tables.delta.conftest import bounds
from tables.iceberg.by_hand import Lake as IcebergLake
from tables.iceberg.by_hand import encode_bound, summary
from whyscan.tree.types import BIGINT, DOUBLE, INT, STRING, TIMESTAMP_NTZ

ZOO = Path(__file__).parents[2].parent / "shared" / "zoo" / "delta-explain"
DAY = 86_400_000_000


def finding(snapshot, predicate, code, **question):
    """The finding of that code, None where it is not raised."""
    findings = explained(snapshot, predicate, **question)["findings"]
    return next((f for f in findings if f["code"] == code), None)


def files_level(snapshot, predicate, **question):
    document = explained(snapshot, predicate, **question)
    return next(level for level in document["levels"] if level["level"] == "files")


def kept(snapshot, predicate, **question):
    document = explained(snapshot, predicate, verbose=True, **question)
    return {f["path"] for f in document["files"] if f["verdict"] != "none"}


# The article that began it all.


@pytest.mark.skipif(not ZOO.exists(), reason="the zoo is not here")
@pytest.mark.parametrize(
    ("table", "total", "left", "pruned_by"),
    [
        ("test-table", 6, 1, {"partition": 4, "statistics": 1}),
        ("test-table-flat", 6, 4, {"partition": 0, "statistics": 2}),
        ("test-table-empty", 0, 0, {"partition": 0, "statistics": 0}),
    ],
)
def test_the_tables_of_the_article(table, total, left, pruned_by):
    snapshot = whyscan.open(str(ZOO / table)).snapshot
    predicate = {
        "test-table": "country = 'DE' AND age > 40",
        "test-table-flat": "age > 40",
        "test-table-empty": "id > 40",
    }[table]
    files = files_level(snapshot, predicate)

    assert (files["total"], files["kept"], files["pruned_by"]) == (total, left, pruned_by)


# The outcome as a whole.


def many(count, *, last):
    """Files of x = [0, 100] and one that lies elsewhere."""
    ends = [(0, 100)] * (count - 1) + [last]
    files = [DataFile(f"{i}.parquet", {}, [RowGroup(5, {"x": b})]) for i, b in enumerate(ends)]
    return MemoryTable({"x": INT}, files, footers_describe_files=False)


def test_one_file_of_ten_thousand_is_weak():
    predicate = "x < 150 AND x % 7 = 3"
    entry = finding(many(10_000, last=(200, 300)), predicate, "WEAK_PRUNING", depth="files")

    assert "1 of 10,000 files could be skipped" in entry["message"]
    assert entry["evidence"] == {"files": 10_000, "kept": 9_999, "reason": "STRADDLES"}


@pytest.mark.parametrize(
    ("predicate", "why"),
    [("x >= 0", "every row matches"), ("x = 250", "all but one file go")],
)
def test_reading_what_matches_is_not_weak(predicate, why):
    table = many(1_000, last=(200, 300))

    assert finding(table, predicate, "WEAK_PRUNING", depth="files") is None, why


def test_nothing_kept_names_the_conjunct_and_what_stays_without_it():
    entry = finding(delta_users(), "country = 'de' AND age > 40", "NOTHING_KEPT")

    assert "country = 'de' removes them all; without it 3 would stay" in entry["message"]
    assert entry["effect"] == {"unit": "files", "before": 0, "after": 3}
    assert files_level(delta_users(), "age > 40")["kept"] == 3


# Partitions.


def test_a_partition_that_the_predicate_implies_is_offered_and_changes_nothing():
    table = delta_users()
    entry = finding(table, "age > 60", "NO_PARTITION_FILTER")
    narrowed = f"age > 60 AND {entry['rewrite']}"

    assert entry["rewrite"] == "country = 'IT'"
    assert kept(table, narrowed) == kept(table, "age > 60")
    assert files_level(table, narrowed)["pruned_by"]["partition"] == entry["effect"]["after"] == 4


def test_many_implied_values_are_a_range():
    files = [
        DataFile(f"p={p}/a", {"p": p}, [RowGroup(5, {"x": (p * 10, p * 10 + 9)})])
        for p in range(40)
    ]
    table = MemoryTable({"p": INT, "x": INT}, files, ("p",), footers_describe_files=False)
    entry = finding(table, "x BETWEEN 105 AND 255", "NO_PARTITION_FILTER")
    narrowed = f"x BETWEEN 105 AND 255 AND {entry['rewrite']}"

    assert entry["rewrite"] == "p BETWEEN 10 AND 25"
    assert kept(table, narrowed) == kept(table, "x BETWEEN 105 AND 255")
    assert files_level(table, narrowed)["pruned_by"]["partition"] == entry["effect"]["after"] == 24


def test_a_partition_that_nothing_implies_is_only_named():
    entry = finding(delta_users(), "age > 40", "NO_PARTITION_FILTER")

    assert (entry["rewrite"], entry["effect"]) == (None, None)
    assert finding(delta_users(), "country = 'DE'", "NO_PARTITION_FILTER") is None


def by_day(tmp_path, days):
    """A file a day, partitioned by day(ts), without statistics."""
    field = {"source-id": 1, "field-id": 1000, "name": "ts_day", "transform": "day"}
    lake = IcebergLake(tmp_path / "days", {"ts": "timestamptz", "x": "long"}, [field])
    lake.manifest([lake.file(f"d{day}", partition={"ts_day": day}) for day in days])
    return lake.commit().open()


@pytest.mark.parametrize(
    "predicate",
    ["year(ts) = 1971", "date_trunc('month', ts) = '1971-03-01'", "to_date(ts) > '1971-05-01'"],
)
@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_a_function_of_the_partition_column_has_a_range_that_means_the_same(
    tmp_path, predicate, zone
):
    table = by_day(tmp_path, range(0, 730, 5))
    question = {"timezone": zone, "depth": "files"}
    entry = finding(table, predicate, "FUNCTION_ON_PARTITION", **question)

    assert entry["effect"]["before"] == 146
    assert kept(table, entry["rewrite"], **question) == kept(table, predicate, **question)
    assert len(kept(table, entry["rewrite"], **question)) == entry["effect"]["after"] < 146


@pytest.mark.parametrize(
    ("predicate", "why"),
    [
        ("ts >= '1971-01-01'", "a bare column"),
        ("hour(ts) = 5", "no range means the same"),
        ("year(ts) < 3000", "it would read as much"),
        ("year(ts) = 1971 OR x = 1", "another column"),
    ],
)
def test_no_range_is_offered_without_need_or_proof(tmp_path, predicate, why):
    table = by_day(tmp_path, range(0, 730, 50))

    assert finding(table, predicate, "FUNCTION_ON_PARTITION", depth="files") is None, why


def countries(tmp_path, *values):
    lake = DeltaLake(tmp_path / "countries")
    lake.create({"country": "string", "x": "long"}, ("country",))
    lake.commit(*(lake.add(f"c{v}", bounds("x", 0, 9), partition={"country": v}) for v in values))
    return lake.open()


def test_a_function_of_text_is_checked_on_every_partition_value(tmp_path):
    table = countries(tmp_path, "DE", "de", "IT", "US")
    entry = finding(table, "upper(country) = 'DE'", "FUNCTION_ON_PARTITION", depth="files")

    assert entry["rewrite"] == "country IN ('DE', 'de')"
    assert "checked on every partition value" in entry["fix"]
    assert entry["effect"] == {"unit": "files", "before": 4, "after": 2}
    assert len(kept(table, entry["rewrite"], depth="files")) == 2


def buckets(tmp_path, count):
    from mmh3 import hash as murmur

    field = {"source-id": 1, "field-id": 1000, "name": "x_bucket", "transform": f"bucket[{count}]"}
    lake = IcebergLake(tmp_path / "buckets", {"x": "long"}, [field])
    numbers = {n: (murmur(n.to_bytes(8, "little")) & 0x7FFFFFFF) % count for n in range(1000)}
    lake.manifest(
        [
            lake.file(f"b{b}", {"x": (0, 999)}, {"x": 0}, partition={"x_bucket": b})
            for b in range(count)
        ]
    )
    return lake.commit().open(), numbers


def test_a_short_range_on_a_bucket_is_a_list(tmp_path):
    table, bucket_of = buckets(tmp_path, 16)
    entry = finding(table, "x BETWEEN 5 AND 7", "RANGE_ON_BUCKET", depth="files")
    right = {bucket_of[n] for n in (5, 6, 7)}

    assert entry["rewrite"] == "x IN (5, 6, 7)"
    assert entry["effect"] == {"unit": "files", "before": 16, "after": len(right)}
    assert len(kept(table, entry["rewrite"], depth="files")) == len(right)


def test_a_long_range_on_a_bucket_has_no_remedy(tmp_path):
    table, _ = buckets(tmp_path, 16)
    entry = finding(table, "x > 500", "RANGE_ON_BUCKET", depth="files")

    assert (entry["severity"], entry["fix"]) == ("info", None)
    assert finding(table, "x = 5", "RANGE_ON_BUCKET", depth="files") is None


def evolved(tmp_path, spec):
    """Two files over two days each, under spec 0 (unpartitioned) or 1 (by day)."""
    field = {"source-id": 1, "field-id": 1000, "name": "day", "transform": "day"}
    specs = [{"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": [field]}]
    lake = IcebergLake(
        tmp_path / f"evolved{spec}",
        {"ts": "timestamp"},
        specs=specs,
        more={"default-spec-id": 1},
    )
    if spec:
        files = [
            lake.file(f"d{d}", {"ts": (d * DAY, d * DAY + 9)}, partition={"day": d})
            for d in range(4)
        ]
    else:
        files = [lake.file(f"d{d}", {"ts": (d * DAY, (d + 1) * DAY + 9)}) for d in (0, 2)]
    lake.manifest(files, spec=spec)
    return lake.commit().open()


def test_files_under_an_old_spec_are_counted_and_gone_once_rewritten(tmp_path):
    predicate = "ts >= TIMESTAMP_NTZ '1970-01-04 00:00:00'"
    entry = finding(evolved(tmp_path, 0), predicate, "OLD_SPEC", depth="files")

    assert "partitioned by day(ts)" in entry["message"]
    assert entry["effect"] == {"unit": "files under an old spec", "before": 1, "after": 0}
    assert finding(evolved(tmp_path, 1), predicate, "OLD_SPEC", depth="files") is None


def manifests(tmp_path, name, groups):
    """A manifest for each group of partition values."""
    field = {"source-id": 1, "field-id": 1000, "name": "p", "transform": "identity"}
    lake = IcebergLake(tmp_path / name, {"p": "long", "x": "long"}, [field])
    for at, group in enumerate(groups):
        ends = encode_bound(min(group), "long"), encode_bound(max(group), "long")
        lake.manifest(
            [lake.file(f"m{at}p{p}", partition={"p": p}) for p in group],
            summaries=[summary(*ends)],
        )
    return lake.commit().open()


def test_manifests_that_mix_partitions_tell_what_sorted_ones_would_spare(tmp_path):
    mixed = manifests(tmp_path, "mixed", [range(i, 100, 10) for i in range(10)])
    entry = finding(mixed, "p = 42", "MIXED_MANIFESTS", depth="files")
    tidy = manifests(tmp_path, "tidy", [range(i, i + 10) for i in range(0, 100, 10)])
    (level, *_) = explained(tidy, "p = 42", depth="files")["levels"]

    assert entry["effect"] == {"unit": "manifests", "before": 10, "after": 1}
    assert (level["level"], level["kept"]) == ("manifests", entry["effect"]["after"])
    assert finding(tidy, "p = 42", "MIXED_MANIFESTS", depth="files") is None


# Statistics.


def written(folder, columns, files, **configuration):
    """A table by delta-rs, one file a commit."""
    for part in files:
        deltalake.write_deltalake(
            str(folder),
            pa.table(dict(zip(columns, part, strict=True))),
            mode="append",
            configuration={k.replace("__", "."): v for k, v in configuration.items()},
        )
    return whyscan.open(str(folder)).snapshot


def test_a_column_beyond_the_budget_is_not_called_an_overlap(tmp_path):
    files = [([1, 2], [n * 10, n * 10 + 9]) for n in range(5)]
    few = {"delta__dataSkippingNumIndexedCols": "1"}
    table = written(tmp_path / "few", ("a", "b"), files, **few)
    document = explained(table, "b = 25")
    (entry,) = (f for f in document["findings"] if f["code"] == "BEYOND_STATISTICS_BUDGET")

    assert document["survivors"] == [{"reason": "NO_STATISTICS", "files": 5}]
    assert "it is column 2, and delta.dataSkippingNumIndexedCols is 1" in entry["message"]
    assert "('delta.dataSkippingNumIndexedCols' = '2')" in entry["rewrite"]
    assert entry["effect"] == {"unit": "files", "before": 5, "after": 1}

    more = {"delta__dataSkippingNumIndexedCols": "2"}
    again = written(tmp_path / "more", ("a", "b"), files, **more)
    assert files_level(again, "b = 25")["kept"] == entry["effect"]["after"]
    assert finding(again, "b = 25", "BEYOND_STATISTICS_BUDGET") is None


def test_columns_that_are_named_for_statistics_are_a_budget_too(tmp_path):
    lake = DeltaLake(tmp_path / "t")
    lake.create({"a": "long", "b": "long"}, properties={"delta.dataSkippingStatsColumns": "a"})
    lake.commit(lake.add("f", bounds("a", 1, 2)))
    entry = finding(lake.open(), "b = 1", "BEYOND_STATISTICS_BUDGET", depth="files")

    assert "('delta.dataSkippingStatsColumns' = 'a,b')" in entry["rewrite"]


def test_statistics_that_the_writer_did_not_record(tmp_path):
    lake = DeltaLake(tmp_path / "t")
    lake.create({"a": "long"})
    lake.commit(lake.add("f", bounds("a", 1, 2)), lake.add("g", {"numRecords": 5}))
    entry = finding(lake.open(), "a = 1", "NO_STATISTICS", depth="files")

    assert "1 of 2 files" in entry["message"]
    assert "the writer did not record them" in entry["message"]
    assert (entry["rewrite"], entry["effect"]) == (None, None)
    lake.commit(lake.remove("g"), lake.add("h", bounds("a", 7, 9)))
    assert finding(lake.open(), "a = 1", "NO_STATISTICS", depth="files") is None
    assert kept(lake.open(), "a = 1", depth="files") == {"f"}


@pytest.mark.parametrize("kind", ["boolean", "binary"])
def test_a_type_that_has_no_bounds_in_any_format(tmp_path, kind):
    lake = DeltaLake(tmp_path / "t")
    lake.create({"a": kind})
    lake.commit(lake.add("f", {"numRecords": 5}))
    predicate = {"boolean": "a = true", "binary": "a = X'00'"}[kind]
    entry = finding(lake.open(), predicate, "TYPE_WITHOUT_STATISTICS", depth="files")

    assert f"Delta keeps no bounds of type {kind}" in entry["message"]
    assert entry["fix"] is None


def iceberg_text(tmp_path, name, cut, **properties):
    """Two files whose values begin with the same 20 characters."""
    lake = IcebergLake(
        tmp_path / name, {"s": "string", "n": "long"}, more={"properties": properties}
    )
    head = "https://example.org/"
    files = {"a": (head + "apple", head + "apricot"), "b": (head + "melon", head + "mint")}
    lake.manifest(
        [
            lake.file(
                n, {"s": (low[:cut], high if cut > len(high) else _raised(high[:cut]))}, {"s": 0}
            )
            for n, (low, high) in files.items()
        ]
    )
    return lake.commit().open()


def _raised(text):
    return text[:-1] + chr(ord(text[-1]) + 1)


def test_bounds_that_differ_behind_the_stored_prefix(tmp_path):
    predicate = "s = 'https://example.org/avocado'"
    entry = finding(iceberg_text(tmp_path, "cut", 16), predicate, "TRUNCATED_BOUNDS", depth="files")

    assert entry["evidence"] == {"files": 2, "characters": 16}
    assert "('write.metadata.metrics.column.s' = 'truncate(64)')" in entry["rewrite"]

    longer = {"write.metadata.metrics.column.s": "truncate(64)"}
    again = iceberg_text(tmp_path, "whole", 64, **longer)
    assert finding(again, predicate, "TRUNCATED_BOUNDS", depth="files") is None
    assert files_level(again, predicate, depth="files")["kept"] == 0
    # What differs within the prefix is not the prefix's fault.
    cut = iceberg_text(tmp_path, "other", 16)
    assert finding(cut, "s > 'https'", "TRUNCATED_BOUNDS", depth="files") is None


@pytest.mark.parametrize(
    ("properties", "code", "why"),
    [
        ({"write.metadata.metrics.column.n": "none"}, "NO_STATISTICS", "column.n is none"),
        ({"write.metadata.metrics.default": "counts"}, "NO_STATISTICS", "default is counts"),
        (
            {"write.metadata.metrics.max-inferred-column-defaults": "1"},
            "BEYOND_STATISTICS_BUDGET",
            "it is column 2",
        ),
    ],
)
def test_iceberg_metrics_modes_are_shown(tmp_path, properties, code, why):
    table = iceberg_text(tmp_path, "t", 64, **properties)
    entry = finding(table, "n = 1", code, depth="files")

    assert why in entry["message"]
    assert "('write.metadata.metrics.column.n' = 'truncate(16)')" in entry["rewrite"]


def test_nan_tells_what_it_costs_and_goes_on_the_users_word():
    table = prices(DOUBLE, nan=True)
    entry = finding(table, "x > 1000", "NAN_UNCOUNTED")
    again = explained(table, "x > 1000", assume_no_nan=True)

    assert entry["effect"] == {"unit": "row groups", "before": 3, "after": 2}
    assert again["levels"][-1]["kept"] == 2
    assert finding(table, "x > 1000", "NAN_UNCOUNTED", assume_no_nan=True) is None


# How the predicate is written.


def test_a_number_against_text_partitions_is_checked_on_every_value(tmp_path):
    table = countries(tmp_path, "1", "2", "13")
    entry = finding(table, "country = 1", "LITERAL_TYPE", depth="files")

    assert entry["rewrite"] == "country = '1'"
    assert entry["effect"] == {"unit": "files", "before": 3, "after": 1}
    assert kept(table, entry["rewrite"], depth="files") == kept(table, "country = 1", depth="files")


def test_a_number_that_several_texts_are_has_no_rewrite(tmp_path):
    table = countries(tmp_path, "1", "01", "2")
    entry = finding(table, "country = 1", "LITERAL_TYPE", depth="files")

    assert entry["rewrite"] is None
    assert kept(table, "country = '1'", depth="files") < kept(table, "country = 1", depth="files")
    assert finding(table, "country = '1'", "LITERAL_TYPE", depth="files") is None


def test_a_number_against_a_column_of_text_keeps_every_file():
    table = one_file(STRING, RowGroup(5, {"x": ("10", "9")}))
    entry = finding(table, "x = 5", "LITERAL_TYPE")

    assert "x is string and is compared as bigint" in entry["message"]
    assert entry["evidence"] == {"files": 1}
    assert entry["rewrite"] is None


def test_an_or_over_both_axes_is_a_union_of_arms_that_share_no_row():
    table = delta_users()
    entry = finding(table, "country = 'DE' OR age > 50", "UNSPLITTABLE_OR")
    arms = [arm.removeprefix("SELECT ... WHERE ") for arm in entry["rewrite"].split(" UNION ALL ")]
    read = [kept(table, arm) for arm in arms]

    assert arms[0] == "country = 'DE'"
    assert entry["effect"] == {"unit": "files", "before": 6, "after": 4}
    assert read[0] | read[1] == kept(table, "country = 'DE' OR age > 50")
    assert len(read[0]) + len(read[1]) == entry["evidence"]["reads_of_arms"]


@pytest.mark.parametrize("predicate", ["age > 50 OR age < 20", "country = 'DE' AND age > 50"])
def test_an_or_on_one_axis_is_no_trouble(predicate):
    codes = {f["code"] for f in explained(delta_users(), predicate)["findings"]}

    assert not codes & {"UNSPLITTABLE_OR", "OR_ENDS_PRUNING"}


def test_an_or_with_a_branch_that_excludes_nothing_ends_pruning():
    table = delta_users()
    entry = finding(table, "age > 60 OR my_function(age) = 1", "OR_ENDS_PRUNING")

    assert "my_function(age) = 1 excludes no file" in entry["message"]
    assert entry["fix"] == "compare the bare column with a constant where the query allows it"
    assert (entry["evidence"], entry["rewrite"], entry["effect"]) == ({"files": 6}, None, None)
    assert len(kept(table, "age > 60 OR age = 1")) == 1


def test_a_branch_without_a_column_ends_pruning_and_has_no_fix():
    entry = finding(delta_users(), "age > 60 OR rand() < 2", "OR_ENDS_PRUNING")

    assert entry["fix"] is None


def test_a_bare_column_instead_of_an_unknown_function_prunes():
    table = delta_users()
    entry = finding(table, "my_function(age) > 60", "UNINTERPRETED")

    assert "compare the bare column" in entry["fix"]
    assert len(kept(table, "my_function(age) > 60")) == 6
    assert len(kept(table, "age > 60")) == 1
    assert finding(table, "age > 60", "UNINTERPRETED") is None


@pytest.mark.parametrize("predicate", ["x <> 5", "x NOT IN (5, 6)", "NOT (x = 5)"])
def test_a_negation_excludes_only_files_of_one_value(predicate):
    mixed = many(5, last=(5, 9))
    constant = many(5, last=(5, 5))

    entry = finding(mixed, predicate, "NEGATION_EXCLUDES_NOTHING", depth="files")
    assert (entry["fix"], entry["evidence"]) == (None, {"files": 5})
    assert finding(constant, predicate, "NEGATION_EXCLUDES_NOTHING", depth="files") is None
    assert finding(mixed, "x = 5", "NEGATION_EXCLUDES_NOTHING", depth="files") is None


# Layout.


def drawn(count):
    """Rows of (whole number, decimal-like double, text, year and day of a date), evenly spread."""
    rng = random.Random(14)
    day = date(2020, 1, 1).toordinal()
    return [
        (
            rng.randrange(1000),
            rng.random() * 1000,
            f"{rng.randrange(10**6):06d}",
            date.fromordinal(day + rng.randrange(1461)),
        )
        for _ in range(count)
    ]


def in_files(folder, rows, files=24):
    columns = ("x", "r", "s", "d")
    size = len(rows) // files
    parts = [rows[at : at + size] for at in range(0, len(rows), size)]
    return written(folder, columns, [tuple(zip(*part, strict=True)) for part in parts])


SORTED_HELPS = [
    ("x = 77", "x", "x"),
    ("x BETWEEN 100 AND 149", "x", "x"),
    ("x IN (5, 500, 995)", "x", "x"),
    ("r < 100", "r", "r"),
    ("s = '123456'", "s", "s"),
    ("s LIKE '12%'", "s", "s"),
    ("d >= DATE '2023-11-01'", "d", "d"),
    ("date_trunc('month', d) = DATE '2021-05-01'", "d", "d"),
    ("year(d) = 2021 AND d < DATE '2021-02-15'", "d", "d"),
    # Of two columns the one that spares more is named.
    ("x > 500 AND r < 20", "r", "r"),
]
SORTED_DOES_NOT_HELP = [
    *["s LIKE '%foo%'", "length(s) > 3", "x % 10 = 3", "x <> 77", "x >= 0", "x > 100"],
    *["r > 900", "x IS NULL OR x = 5", "s LIKE '_2%'", "x = 77 OR r > 5", "my_function(x) = 1"],
]


@pytest.fixture(scope="module")
def scattered(tmp_path_factory):
    return in_files(tmp_path_factory.mktemp("scattered") / "t", drawn(2_400))


@pytest.mark.parametrize(("predicate", "column", "by"), SORTED_HELPS)
def test_overlapping_bounds_give_what_a_sorted_table_would_read(
    scattered, tmp_path, predicate, column, by
):
    entry = finding(scattered, predicate, "WIDE_BOUNDS", depth="files")
    at = "xrsd".index(by)
    clustered = in_files(tmp_path / "t", sorted(drawn(2_400), key=lambda row: row[at]))

    assert f"by {column}: sorted by it, an estimated " in entry["fix"]
    assert entry["effect"]["before"] == len(kept(scattered, predicate, depth="files"))
    estimated = entry["evidence"]
    assert (
        estimated["estimated_files_at_least"]
        <= len(kept(clustered, predicate, depth="files"))
        <= estimated["estimated_files_at_most"]
        == entry["effect"]["after"]
    )
    assert finding(clustered, predicate, "WIDE_BOUNDS", depth="files") is None


@pytest.mark.parametrize("predicate", SORTED_DOES_NOT_HELP)
def test_no_clustering_is_advised_where_a_sorted_table_reads_as_much(scattered, predicate):
    assert finding(scattered, predicate, "WIDE_BOUNDS", depth="files") is None


def test_no_clustering_is_advised_where_next_to_nothing_is_read():
    wide = [DataFile(f"{n}", {}, [RowGroup(5, {"x": (0, 1000)})]) for n in range(6)]
    narrow = [DataFile(f"n{n}", {}, [RowGroup(5, {"x": (2000 + n, 2000 + n)})]) for n in range(294)]
    table = MemoryTable({"x": INT}, wide + narrow, footers_describe_files=False)

    assert files_level(table, "x = 77", depth="files")["kept"] == 6
    assert finding(table, "x = 77", "WIDE_BOUNDS", depth="files") is None


def test_no_clustering_is_advised_where_each_partition_is_one_file():
    files = [DataFile(f"p={p}", {"p": p}, [RowGroup(5, {"x": (0, 1000)})]) for p in range(20)]
    table = MemoryTable({"p": INT, "x": INT}, files, ("p",), footers_describe_files=False)

    assert finding(table, "x = 77", "WIDE_BOUNDS", depth="files") is None


@pytest.mark.parametrize(
    ("kind", "first", "last", "predicate"),
    [
        (BIGINT, -(2**63), 2**63 - 1, "x = 5"),
        (TIMESTAMP_NTZ, -(2**62), 2**62, "x = TIMESTAMP_NTZ '2024-03-01 12:00:00'"),
        (DOUBLE, -math.inf, math.inf, "x < 1.5"),
        (DOUBLE, -1.7e308, 1.7e308, "x <= 1e300"),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("error")
def test_bounds_of_any_size_are_estimated(kind, first, last, predicate):
    files = [DataFile(f"{n}", {}, [RowGroup(5, {"x": (first, last)})]) for n in range(40)]
    table = MemoryTable({"x": kind}, files, footers_describe_files=False)

    assert files_level(table, predicate, depth="files")["kept"] == 40


def depth_of(snapshot, name):
    from whyscan.planning.why.overlap_depth import overlap
    from whyscan.reports.file_bounds import file_bounds
    from whyscan.table import Table

    (column,) = file_bounds(Table(snapshot).plan(f"{name} IS NOT NULL"))
    return overlap(column.lower, column.upper).median


def test_the_rows_of_a_partition_stay_in_it():
    files = [
        DataFile(
            f"p={p}/{n}", {"p": p}, [RowGroup(5, {"x": (n, 9)}), RowGroup(5, {"x": (90, 99 + n)})]
        )
        for p in (1, 2)
        for n in range(5)
    ]
    table = MemoryTable({"p": INT, "x": INT}, files, ("p",))

    entry = finding(table, "p = 1 AND x > 97", "WIDE_BOUNDS")
    assert "cluster the table by x within its partitions" in entry["fix"]
    assert (entry["effect"]["before"], entry["effect"]["after"]) == (5, 2)


@pytest.mark.parametrize(
    ("ends", "ideal"),
    [
        ([(1, 1000)] * 24, 1),
        ([(1, 2)] * 24, 12),
        ([(n % 2, n % 2) for n in range(24)], 12),
        ([(n % 2 * 500, n % 2 * 500) for n in range(24)], 12),
        ([(0.5, 1.5)] * 24, 1),
        ([(date(2024, 1, 1), date(2024, 1, 4))] * 24, 6),
        # Of text no more values are known than its bounds.
        ([("DE", "IT")] * 24, 12),
    ],
)
def test_the_ideal_depth_goes_by_the_values_that_there_may_be(ends, ideal):
    from whyscan.planning.why.overlap_depth import overlap

    lower, upper = zip(*ends, strict=True)
    assert overlap(pa.array(lower), pa.array(upper)).ideal == ideal


def test_a_column_of_few_values_cannot_be_divided_further():
    files = [DataFile(f"{n}", {}, [RowGroup(5, {"x": (n % 2, n % 2)})]) for n in range(10)]
    table = MemoryTable({"x": INT}, files, footers_describe_files=False)

    assert depth_of(table, "x") == 5
    assert finding(table, "x % 2 = 0", "WIDE_BOUNDS", depth="files") is None


def test_small_files_would_be_few(tmp_path):
    table = written(tmp_path / "t", ("x",), [([n],) for n in range(32)])
    entry = finding(table, "x >= 0", "SMALL_FILES")
    deltalake.DeltaTable(str(tmp_path / "t")).optimize.compact()
    again = whyscan.open(str(tmp_path / "t")).snapshot

    assert entry["effect"] == {"unit": "files", "before": 32, "after": 1}
    assert files_level(again, "x >= 0")["kept"] == entry["effect"]["after"]
    assert finding(again, "x >= 0", "SMALL_FILES") is None


@pytest.mark.parametrize(("partitions", "after"), [(1, 1), (10, 10), (100, None)])
def test_small_files_of_different_partitions_stay_apart(partitions, after):
    files = [
        DataFile(f"{n}", {"p": n % partitions}, [RowGroup(5, {"x": (0, 9)})]) for n in range(100)
    ]
    table = MemoryTable({"p": INT, "x": INT}, files, ("p",), footers_describe_files=False)
    entry = finding(table, "x = 5", "SMALL_FILES", depth="files")

    assert (entry and entry["effect"]["after"]) == after
    if entry is not None:
        assert entry["fix"].endswith(", at least one in each partition") is (partitions > 1)


def test_large_files_are_not_small(tmp_path):
    lake = DeltaLake(tmp_path / "t")
    lake.create({"x": "long"})
    lake.commit(*(lake.add(f"f{n}", bounds("x", 0, 9), size=200_000_000) for n in range(40)))

    assert finding(lake.open(), "x = 5", "SMALL_FILES", depth="files") is None


# Engines, and the filters that they read.


def test_an_engine_that_reads_twice_as_much_is_found_and_its_fix_reads_what_it_says():
    more = finding(
        delta_users(), "age + 1 = 42", "ENGINE_READS_MORE", engines=["spark-delta"], depth="files"
    )

    assert more["message"].endswith(
        "reads 6 files where metadata proves 3: functions on a column prune nothing by its bounds"
    )
    assert (more["evidence"]["engine"], more["evidence"]["read"]) == ("spark-delta 4.4", 6)
    again = explained(delta_users(), more["rewrite"], engines=["spark-delta"], depth="files")
    assert again["engines"][0]["levels"][0]["kept"] == more["effect"]["after"] == 3


@pytest.mark.parametrize(
    ("predicate", "engines"),
    [("age = 41", ["spark-delta"]), ("age + 1 = 42", ["duckdb"]), ("age + 1 = 42", [])],
    ids=["no rule concerns it", "another engine", "no engine is named"],
)
def test_an_engine_that_reads_what_is_proven_is_not_found(predicate, engines):
    question = {"engines": engines, "depth": "files"}

    assert finding(delta_users(), predicate, "ENGINE_READS_MORE", **question) is None


def filtered(folder, *, bloom, dictionary=False):
    """Eight row groups of values in no order."""
    values = pa.array([n * 7_919 % 4_000 * 2 for n in range(4_000)], pa.int64())
    options = {"bloom_filter_options": {"k": {"ndv": 500, "fpp": 0.0001}}} if bloom else {}
    pq.write_table(
        pa.table({"k": values}),
        folder / "f.parquet",
        row_group_size=500,
        use_dictionary=dictionary,
        **options,
    )
    return whyscan.open(str(folder)).snapshot


EVERYWHERE = f"k IN ({', '.join(str(n) for n in range(0, 200, 2))})"
"""Values of all row groups."""


@pytest.mark.parametrize(
    ("predicate", "engines", "message"),
    [
        (EVERYWHERE, [], "remove none of 8 row groups"),
        ("k = 1001", ["pyarrow"], "no bloom filter is read by pyarrow"),
        ("k = 1001", [], None),
        ("k = 1001", ["pyarrow", "datafusion"], None),
    ],
)
def test_bloom_filters_that_remove_nothing_are_found(tmp_path, predicate, engines, message):
    table = filtered(tmp_path, bloom=True)

    entry = finding(table, predicate, "UNUSED_BLOOM_FILTERS", engines=engines, depth="pages")

    assert (entry is None) if message is None else (message in entry["message"])


def test_a_report_says_which_engines_use_the_filters_of_a_column(tmp_path):
    table = filtered(tmp_path, bloom=True)

    (line, *_) = explained(table, "k = 1001", depth="pages")["filters"]

    assert line["read_by"] == ["spark-parquet", "trino", "duckdb", "datafusion"]


def test_an_equality_on_a_column_of_many_values_wants_filters_and_they_remove_row_groups(tmp_path):
    (without := tmp_path / "without").mkdir()
    (with_filters := tmp_path / "with").mkdir()
    question = {"predicate": "k = 1001", "depth": "pages"}

    entry = finding(filtered(without, bloom=False), code="NO_BLOOM_FILTERS", **question)

    assert entry["evidence"] == {"row_groups": 8, "files": 1}
    after = explained(filtered(with_filters, bloom=True), **question)
    assert next(level["kept"] for level in after["levels"] if level["level"] == "row_groups") == 0
    assert {f["code"] for f in after["findings"]} <= {"NOTHING_KEPT"}


def test_a_column_of_few_values_has_dictionaries_and_wants_no_filters(tmp_path):
    table = filtered(tmp_path, bloom=False, dictionary=True)

    assert finding(table, "k = 1001", "NO_BLOOM_FILTERS", depth="pages") is None


def test_every_code_is_in_the_schema_and_no_finding_is_raised_on_a_good_question():
    from support.reports import validator
    from whyscan.reports.findings import Code

    codes = validator().schema["$defs"]["Code"]["enum"]
    assert set(codes) == set(Code)
    assert explained(users(), "country = 'DE' AND age > 40")["findings"] == []
