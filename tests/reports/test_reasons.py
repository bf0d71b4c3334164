"""Each reason for which a file survives, on a table of a real format, with its evidence."""

import pytest

from support.lakes import one_file, prices
from support.memory_table import RowGroup
from support.reports import explained
from tables.delta.conftest import Lake as DeltaLake
from tables.delta.conftest import bounds
from tables.iceberg.by_hand import Lake as IcebergLake
from whyscan.tree.types import DOUBLE, INT


@pytest.fixture
def delta(tmp_path):
    return DeltaLake(tmp_path / "delta")


@pytest.fixture
def iceberg(tmp_path):
    def lake(columns, fields=(), **more):
        return IcebergLake(tmp_path / "iceberg", columns, list(fields), **more)

    return lake


def why(snapshot, predicate, **question):
    """The reason and the evidence of each file, by name, and the counts agree."""
    document = explained(snapshot, predicate, verbose=True, depth="files", **question)
    lines = {f["path"].rpartition("/")[2]: (f["reason"], f["evidence"]) for f in document["files"]}
    counts = {s["reason"]: s["files"] for s in document["survivors"]}
    reasons = [reason for reason, _ in lines.values() if reason is not None]
    assert counts == {reason: reasons.count(reason) for reason in reasons}
    return lines


def test_bounds_on_both_sides_straddle(delta):
    delta.create({"x": "long"}).commit(delta.add("a", bounds("x", 40, 60)))

    assert why(delta.open(), "x = 45") == {"a": ("STRADDLES", "x [40, 60] against x = 45")}


def create(delta, columns, *actions, **about):
    delta.create(columns, **about)
    delta.commit(*actions)
    return delta.open()


def test_bounds_inside_the_condition_match_all(delta):
    table = create(delta, {"x": "long"}, delta.add("a", bounds("x", 40, 60)))

    assert why(table, "x > 39") == {"a": ("MATCHES_ALL", "x [40, 60]: every row matches")}


def test_a_file_that_goes_names_what_removed_it(delta):
    table = create(delta, {"x": "long", "y": "long"}, delta.add("a", bounds("x", 40, 60, rows=5)))
    document = explained(table, "y = 1 AND x > 70 AND x > 65", verbose=True, depth="files")
    (line,) = document["files"]

    assert (line["pruned_at"], line["pruned_by"]) == ("files", "statistics")
    assert line["pruned_by_conjuncts"] == [1, 2]
    assert line["evidence"] == "x [40, 60] excluded by x > 70"


def test_a_file_that_only_conjuncts_together_remove_names_none(delta):
    table = create(delta, {"x": "long"}, delta.add("a", bounds("x", 40, 60)))
    (line,) = explained(table, "x < 45 AND x > 50", verbose=True, depth="files")["files"]

    assert line["pruned_by_conjuncts"] == []
    assert line["evidence"] == "x [40, 60] excluded by the conjuncts together"


def test_a_column_without_bounds_has_no_statistics(delta):
    table = create(delta, {"x": "long"}, delta.add("a", {"numRecords": 5}))

    assert why(table, "x = 45") == {"a": ("NO_STATISTICS", "no bounds of x for x = 45")}


def test_bounds_cut_by_delta_could_exclude_in_full(delta):
    head = "https://example.org/a/very/long/"
    stats = bounds("s", head, head + "\U0010ffff")
    table = create(delta, {"s": "string"}, delta.add("a", stats))

    assert len(head) == 32
    reason, evidence = why(table, f"s = '{head}x'")["a"]
    assert reason == "TRUNCATED_BOUND"
    assert "cut off after 32 characters" in evidence
    # Whatever they end with, both bounds begin with the same characters.
    assert why(table, "s > 'https://example.org/a'")["a"][0] == "MATCHES_ALL"


def test_bounds_cut_by_iceberg_could_exclude_in_full(iceberg):
    lake = iceberg({"s": "string"})
    lake.manifest([lake.file("a", {"s": ("abcdefghijklmnop", "abcdefghijklmnoq")}, {"s": 0})])
    lake.manifest([lake.file("b", {"s": ("abc", "xyz")}, {"s": 0})])
    reasons = why(lake.commit().open(), "s = 'abcdefghijklmnop1'")

    assert {name: reason for name, (reason, _) in reasons.items()} == {
        "a": "TRUNCATED_BOUND",
        "b": "STRADDLES",
    }


def test_uncounted_nulls_leave_is_null_open(delta):
    statistics = {"numRecords": 5, "minValues": {"x": 1}, "maxValues": {"x": 3}}
    counted = statistics | {"nullCount": {"x": 2}}
    table = create(delta, {"x": "long"}, delta.add("a", statistics), delta.add("b", counted))
    reasons = why(table, "x IS NULL")

    assert reasons["a"] == ("NULLS_UNKNOWN", "x [1, 3], NULLs not counted, against x IS NULL")
    assert reasons["b"][0] == "STRADDLES"


def test_uncounted_nulls_keep_a_file_from_matching_whole(delta):
    statistics = {"numRecords": 5, "minValues": {"x": 1}, "maxValues": {"x": 3}}
    table = create(delta, {"x": "long"}, delta.add("a", statistics))

    assert why(table, "x < 9")["a"][0] == "NULLS_UNKNOWN"


def test_an_unknown_function_is_named_with_the_reason(delta):
    table = create(delta, {"x": "long"}, delta.add("a", bounds("x", 40, 60)))
    reason, evidence = why(table, "my_function(x) = 1")["a"]

    assert reason == "UNINTERPRETED"
    assert evidence == "my_function(x) = 1: the function my_function is not known"


def test_a_range_on_a_bucket_is_lossy(iceberg):
    bucket = {"source-id": 1, "field-id": 1000, "name": "x_bucket", "transform": "bucket[4]"}
    lake = iceberg({"x": "long"}, [bucket])
    lake.manifest([lake.file("a", {"x": (1, 9)}, {"x": 0}, partition={"x_bucket": 1})])
    table = lake.commit().open()

    assert why(table, "x > 5") == {"a": ("TRANSFORM_LOSSY", "x [1, 9] against x > 5")}
    assert why(table, "x IN (5, 6, 7, 8)")["a"][0] == "STRADDLES"


def test_a_file_from_before_the_partition_has_an_old_spec(iceberg):
    day = {"source-id": 1, "field-id": 1000, "name": "day", "transform": "day"}
    specs = [{"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": [day]}]
    lake = iceberg({"ts": "timestamp", "x": "long"}, specs=specs, more={"default-spec-id": 1})
    lake.manifest([lake.file("old", {"ts": (0, 10**15)}, {"ts": 0})])
    lake.manifest([lake.file("new", {"ts": (0, 10**9)}, {"ts": 0}, partition={"day": 0})], spec=1)
    reasons = why(lake.commit().open(), "ts >= TIMESTAMP '1970-01-01 00:10:00'")

    assert reasons["old"][0] == "OLD_SPEC"
    assert reasons["old"][1].startswith("written under spec 0; ts [1970-01-01T00:00:00")
    assert reasons["new"][0] == "STRADDLES"


def test_uncounted_nan_is_possible():
    reasons = why(one_file(DOUBLE, RowGroup(5, {"x": (1.0, 9.0)}, nan=True)), "x > 1000")

    assert reasons == {
        "part-0.parquet": ("NAN_POSSIBLE", "x [1.0, 9.0] and maybe NaN, against x > 1000")
    }


def test_text_compared_as_a_number_does_not_match_in_type(delta):
    table = create(delta, {"s": "string"}, delta.add("a", bounds("s", "10", "9")))
    reasons = why(table, "s = 5")

    assert reasons == {"a": ("TYPE_MISMATCH", "s [10, 9], compared as bigint, against s = 5")}
    assert why(table, "s = '5'")["a"][0] == "STRADDLES"


def test_bounds_are_loose_where_rows_were_deleted(delta):
    vector = {
        "storageType": "u",
        "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^",
        "offset": 4,
        "sizeInBytes": 40,
        "cardinality": 6,
    }
    table = create(
        delta,
        {"x": "long"},
        delta.add("a", bounds("x", 40, 60) | {"tightBounds": False}, deletionVector=vector),
        delta.add("b", bounds("x", 40, 60)),
        protocol={
            "minReaderVersion": 3,
            "minWriterVersion": 7,
            "readerFeatures": ["deletionVectors"],
            "writerFeatures": ["deletionVectors"],
        },
    )
    reasons = why(table, "x = 45")

    assert reasons["a"] == (
        "DELETE_VECTOR_LOOSE",
        "x [40, 60] from before rows were deleted, against x = 45",
    )
    assert reasons["b"][0] == "STRADDLES"


def test_a_file_stays_for_its_row_group_that_is_hardest_to_remove():
    groups = RowGroup(5), RowGroup(5, {"x": (1, 9)}), RowGroup(5, {"x": (20, 30)})

    assert why(one_file(INT, *groups), "x > 5")["part-0.parquet"][0] == "STRADDLES"
    assert why(one_file(INT, *groups), "x > 10")["part-0.parquet"][0] == "STRADDLES"
    assert why(one_file(INT, RowGroup(5)), "x > 10")["part-0.parquet"][0] == "NO_STATISTICS"


def test_files_of_manifests_that_are_ruled_out_go_at_that_level(iceberg):
    from tables.iceberg.by_hand import encode_bound, summary

    identity = {"source-id": 1, "field-id": 1000, "name": "p", "transform": "identity"}
    lake = iceberg({"p": "long", "x": "long"}, [identity])
    for value in (1, 2):
        lake.manifest(
            [
                lake.file(f"{value}{name}", {"x": ends}, partition={"p": value})
                for name, ends in {"a": (0, 5), "b": (6, 9)}.items()
            ],
            summaries=[summary(encode_bound(value, "long"), encode_bound(value, "long"))],
        )
    document = explained(lake.commit().open(), "p = 1 AND x < 3", verbose=True, depth="files")

    assert {f["path"][-2:]: f["pruned_at"] for f in document["files"]} == {
        "1a": None,
        "1b": "files",
        "2a": "manifests",
        "2b": "manifests",
    }


def test_all_reasons_are_documented_in_words():
    from whyscan.planning.why.reason_codes import Reason
    from whyscan.reports.words import REASONS

    assert list(REASONS) == list(Reason)
    assert all(f"| {reason} |" in (Reason.__doc__ or "") for reason in Reason)


def test_reasons_of_row_groups_are_counted_in_files():
    assert why(prices(), "x > 1000")["part-0.parquet"][0] == "STRADDLES"
