"""Who is credited with a container that goes: partition, statistics, join, limit, in this order."""

from __future__ import annotations

import json

import pytest

from planning.plans import planned
from support.formats import page, text
from support.lakes import delta_users, users
from support.reports import valid
from tables.iceberg.by_hand import Lake, encode_bound, summary
from whyscan.planning.plan.scan_plan import Depth
from whyscan.planning.rows.limit import limited
from whyscan.planning.rows.topk import SortKey, top
from whyscan.reports.document import to_json
from whyscan.reports.report import make_report
from whyscan.tree.nodes import Column
from whyscan.tree.types import INT

AGES = SortKey(Column(("age",), INT), descending=True, nulls_first=False)


def reported(plan, *, verbose=False):
    document = json.loads(to_json(make_report(plan, verbose=verbose)))
    return valid(document)


def pruned_by(plan, level="files"):
    return next(x["pruned_by"] for x in reported(plan)["levels"] if x["level"] == level)


@pytest.mark.parametrize(
    ("predicate", "joined", "credited"),
    [
        ("country = 'DE' AND age > 40", (), {"partition": 4, "statistics": 1}),
        ("country = 'DE' AND age > 40", (0,), {"partition": 0, "statistics": 3, "join": 2}),
        ("country = 'DE' AND age > 40", (1,), {"partition": 4, "statistics": 0, "join": 1}),
        ("country = 'DE' AND age > 40", (0, 1), {"partition": 0, "statistics": 0, "join": 5}),
        # Only together do two conditions on one column exclude [20, 35] and [22, 38].
        ("age IN (19, 50) AND age > 18", (0,), {"partition": 0, "statistics": 0, "join": 2}),
        ("age > 100 AND age > 70", (0,), {"partition": 0, "statistics": 6}),
    ],
)
def test_a_join_is_credited_with_what_the_statement_alone_would_read(predicate, joined, credited):
    assert pruned_by(planned(delta_users(), predicate, joined)) == credited


def test_a_file_that_a_join_left_unopened_is_credited_to_the_join():
    plan = planned(users(), "country = 'DE' AND age > 40", joined=(0,))

    assert pruned_by(plan) == {"partition": 0, "statistics": 1, "join": 4}
    assert pruned_by(plan, "row_groups") == {"partition": 0, "statistics": 1}
    assert [scan.path for scan in plan] == ["country=DE/a.parquet"]


def test_row_groups_of_opened_files_are_credited_to_the_join_as_well():
    plan = planned(users(), "country = 'DE' AND age > 40", joined=(0,), full=True)

    assert pruned_by(plan) == {"partition": 0, "statistics": 3, "join": 2}
    assert pruned_by(plan, "row_groups") == {"partition": 0, "statistics": 3, "join": 2}


IDENTITY = {"source-id": 1, "field-id": 1000, "name": "p", "transform": "identity"}


@pytest.mark.parametrize(
    ("joined", "full", "manifests", "files"),
    [
        ((), False, {"partition": 2, "statistics": 0}, {"partition": 5, "statistics": 1}),
        (
            (1,),
            False,
            {"partition": 1, "statistics": 0, "join": 1},
            {"partition": 3, "statistics": 1, "join": 2},
        ),
        # Opened, the files of the second manifest fall to their own statistics.
        (
            (1,),
            True,
            {"partition": 1, "statistics": 0, "join": 1},
            {"partition": 3, "statistics": 2, "join": 1},
        ),
    ],
)
def test_files_of_a_manifest_that_stays_closed_are_credited_with_it(
    tmp_path, joined, full, manifests, files
):
    lake = Lake(tmp_path / "t", {"p": "int", "x": "int"}, [IDENTITY])
    bounds = {1: [(1, 5), (6, 9)], 2: [(1, 5), (6, 9)], 3: [(1, 5)] * 3}
    for p, ends in bounds.items():
        kept = [
            lake.file(f"{p}{at}", {"x": e}, {"x": 0}, partition={"p": p})
            for at, e in enumerate(ends)
        ]
        lake.manifest(kept, summaries=[summary(encode_bound(p, "int"), encode_bound(p, "int"))])
    plan = planned(
        lake.commit().open(), "p < 3 AND p < 2 AND x > 5", joined, full=full, depth=Depth.FILES
    )

    assert pruned_by(plan, "manifests") == manifests
    assert pruned_by(plan) == files
    assert plan.summary.files_kept == 1


def test_a_conjunct_from_a_join_is_marked_in_the_report():
    conjuncts = reported(planned(delta_users(), "country = 'DE' AND age > 40", (1,)))["conjuncts"]

    assert [c.get("joined", False) for c in conjuncts] == [False, True]


def test_a_limit_is_credited_with_what_nothing_speaks_against():
    plan = limited(planned(delta_users(), "country = 'DE'"), 5)

    files = {f["path"]: f for f in reported(plan, verbose=True)["files"]}
    assert pruned_by(plan) == {"partition": 4, "statistics": 0, "limit": 1}
    assert pruned_by(plan, "row_groups") == {"partition": 0, "statistics": 0, "limit": 1}
    left_out = files["country=DE/a.parquet"]
    assert (left_out["verdict"], left_out["pruned_by"]) == ("none", "limit")
    assert left_out["evidence"] == "others are sure to have 5 matching rows"
    assert left_out["pruned_by_conjuncts"] == []
    assert files["country=US/a.parquet"]["pruned_by"] == "partition"


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        (lambda plan: limited(plan, 0), "no row of it is needed"),
        (lambda plan: limited(plan, 1), "others are sure to have 1 matching row"),
        (
            lambda plan: top(plan, AGES, 3),
            "others are sure to have 3 matching rows before the first of its own",
        ),
    ],
)
def test_the_evidence_says_why_a_limit_does_without_a_file(reason, why):
    files = reported(reason(planned(delta_users(), "age > 0")), verbose=True)["files"]

    assert {f["evidence"] for f in files if f["pruned_by"] == "limit"} == {why}


def test_every_format_tells_of_joins_and_limits():
    plan = limited(planned(delta_users(), "country = 'DE' AND age > 10", joined=(0,)), 5)
    report = make_report(plan, verbose=True)

    assert "country = 'DE' removed 4 by join, 1 removed by limit" in " ".join(text(report).split())
    assert 'class="join"' in page(report)
    assert '<li><i class="swatch limit">' in page(report)


def test_what_a_predicate_matches_and_who_removes_what_are_the_same_with_a_limit():
    plan = planned(delta_users(), "country = 'DE' AND age > 10")
    whole, first = reported(plan), reported(limited(plan, 1))

    for part in ("rows_matched", "conjuncts", "mechanisms", "statistics"):
        assert first[part] == whole[part], part
    assert first["rows_matched"] == {"at_least": 9, "at_most": 9}


def test_a_limit_makes_no_finding_of_how_much_the_predicate_leaves():
    whole = planned(delta_users(), "age > 0", depth=Depth.FILES)
    codes = {f["code"] for f in reported(limited(whole, 1))["findings"]}

    assert "WEAK_PRUNING" not in codes
    assert "NOTHING_KEPT" not in {f["code"] for f in reported(limited(whole, 0))["findings"]}
