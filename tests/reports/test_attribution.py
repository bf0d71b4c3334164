"""Who removed what: overlap of the mechanisms, and the parts of a mixed condition."""

import pytest

from support.lakes import delta_users, users
from support.reports import explained
from tables.iceberg.by_hand import Lake, encode_bound, summary

BOTH = "country = 'DE' AND age > 40"


def share(files, size, rows):
    return {"files": files, "bytes": size, "rows": rows}


def test_the_overlap_of_partition_and_statistics_is_what_each_removes_alone():
    document = explained(delta_users(), BOTH)

    assert document["mechanisms"] == {
        "partition": share(4, 1900, 15),
        "statistics": share(3, 1700, 14),
        "both": share(2, 1100, 9),
    }
    (files, *_) = document["levels"]
    credited = files["pruned_by"]
    removed = 4 + 3 - 2
    assert credited["partition"] + credited["statistics"] == removed


@pytest.mark.parametrize("predicate", [BOTH, "age > 40 AND country = 'DE'"])
def test_the_overlap_does_not_depend_on_the_order(predicate):
    assert explained(delta_users(), predicate)["mechanisms"]["both"]["files"] == 2


def test_footers_that_stayed_closed_may_add_to_what_statistics_remove():
    shares = explained(users(), BOTH)["mechanisms"]

    assert shares["partition"]["files"] == 4
    assert shares["statistics"] == {**share(1, 600, 5), "at_least": True}
    assert shares["both"] == {**share(0, 0, 0), "at_least": True}
    assert explained(users(), BOTH, full=True)["mechanisms"]["both"]["files"] == 2


def test_files_of_closed_manifests_are_the_partitions(tmp_path):
    identity = {"source-id": 1, "field-id": 1000, "name": "p", "transform": "identity"}
    lake = Lake(tmp_path / "t", {"p": "long", "x": "long"}, [identity])
    for value in (1, 2):
        ends = encode_bound(value, "long")
        lake.manifest(
            [lake.file(f"f{value}", {"x": (0, 5)}, partition={"p": value})],
            summaries=[summary(ends, ends)],
        )
    document = explained(lake.commit().open(), "p = 1 AND x < 3", depth="files")

    # The list counts files and rows, and knows no bytes.
    assert document["mechanisms"]["partition"] == share(1, None, 10)
    assert document["conjuncts"][0]["alone"] == share(1, None, 10)
    assert document["mechanisms"]["statistics"]["at_least"] is True


def test_a_mixed_or_is_explained_by_its_branches():
    (conjunct,) = explained(delta_users(), "country = 'DE' OR age > 40")["conjuncts"]

    assert conjunct["operator"] == "OR"
    parts = [
        (p["sql"], p["bucket"], p["pushdown"], p["files_kept"], p["alone"]["files"])
        for p in conjunct["parts"]
    ]
    assert parts == [
        ("country = 'DE'", "partition-safe", "exact", 2, 4),
        ("age > 40", "stats-safe", "inexact", 3, 3),
    ]


def test_the_branches_of_a_hive_table_come_from_its_footers():
    (conjunct,) = explained(users(), "country = 'DE' OR age > 40")["conjuncts"]

    assert [(p["files_kept"], p["alone"]["files"]) for p in conjunct["parts"]] == [(2, 4), (3, 3)]


def test_parts_nest():
    text = "country = 'DE' OR (age > 40 AND NOT (age > 50 OR country = 'US'))"
    (conjunct,) = explained(delta_users(), text)["conjuncts"]
    inner = conjunct["parts"][1]

    assert (inner["operator"], [p["operator"] for p in inner["parts"]]) == ("AND", [None, "NOT"])
    assert inner["parts"][1]["parts"][0]["operator"] == "OR"


def test_a_plain_condition_has_no_parts():
    (conjunct,) = explained(delta_users(), "age > 40")["conjuncts"]

    assert (conjunct["operator"], conjunct["parts"]) == (None, [])


def test_a_great_many_branches_are_not_listed_one_by_one():
    text = " OR ".join(f"(age = {n} AND country = 'DE')" for n in range(40))
    (conjunct,) = explained(delta_users(), text)["conjuncts"]

    assert (conjunct["operator"], conjunct["parts"]) == (None, [])


def test_a_branch_that_excludes_nothing_ends_the_pruning_of_an_or_and_not_of_an_and():
    (either,) = explained(delta_users(), "age > 90 OR my_function(age) = 1")["conjuncts"]
    first, second = explained(delta_users(), "age > 90 AND my_function(age) = 1")["conjuncts"]

    assert either["pushdown"] == "unsupported"
    assert either["why"].endswith("may not be left out of an OR: my_function(age) = 1")
    assert (first["pushdown"], second["pushdown"]) == ("inexact", "unsupported")
    assert first["alone"]["files"] == 6
