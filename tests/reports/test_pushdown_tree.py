"""The pushdown contract: what a predicate is to metadata, as a whole and part by part."""

from __future__ import annotations

import pytest

from support.lakes import delta_users, users
from tables.delta.conftest import Lake as DeltaLake
from tables.delta.conftest import bounds
from tables.iceberg.by_hand import Lake
from whyscan.table import Table


def shape(node):
    """Nested tuples of class, operator and children."""
    word = node.operator or node.sql
    return (node.pushdown.value, word, *(shape(child) for child in node.children))


DE, AGE, HASH = ("exact", "country = 'DE'"), ("inexact", "age > 40"), "hash(age) = 1"
NOTHING = ("unsupported", HASH)


@pytest.mark.parametrize(
    ("where", "tree"),
    [
        ("country = 'DE'", DE),
        ("age > 40", AGE),
        (HASH, NOTHING),
        ("country = 'DE' AND country <> 'IT'", ("exact", "AND", DE, ("exact", "country <> 'IT'"))),
        ("country = 'DE' AND age > 40", ("inexact", "AND", DE, AGE)),
        (f"country = 'DE' AND {HASH}", ("inexact", "AND", DE, NOTHING)),
        (f"{HASH} AND {HASH}", ("unsupported", "AND", NOTHING, NOTHING)),
        ("country = 'DE' OR age > 40", ("inexact", "OR", DE, AGE)),
        (f"country = 'DE' OR {HASH}", ("unsupported", "OR", DE, NOTHING)),
        (
            f"age > 40 OR (country = 'DE' AND {HASH})",
            ("inexact", "OR", AGE, ("inexact", "AND", DE, NOTHING)),
        ),
        (
            f"NOT (country = 'DE' AND {HASH})",
            ("unsupported", "NOT", ("inexact", "AND", DE, NOTHING)),
        ),
        (
            f"NOT (country = 'DE' OR {HASH})",
            ("inexact", "NOT", ("unsupported", "OR", DE, NOTHING)),
        ),
        ("true", ("exact", "true")),
    ],
)
@pytest.mark.parametrize("table", [users, delta_users])
def test_an_and_may_drop_what_excludes_nothing_and_an_or_may_not(table, where, tree):
    assert shape(Table(table()).pushdown(where)) == tree


def test_a_column_without_statistics_is_unsupported(tmp_path):
    lake = DeltaLake(tmp_path / "t").create({"x": "integer", "y": "integer"})
    lake.commit(lake.add("a.parquet", bounds("x", 1, 5)))

    node = lake.table().pushdown("x > 3 AND y > 3")

    assert [child.pushdown.value for child in node.children] == ["inexact", "unsupported"]
    assert node.children[1].reason == "no file has statistics for what it names"


def partition(name, source, transform, number=1000):
    return {"source-id": source, "field-id": number, "name": name, "transform": transform}


def test_a_bucket_under_a_range_is_inexact_and_under_an_equality_too(tmp_path):
    lake = Lake(tmp_path / "t", {"k": "int"}, fields=[partition("b", 1, "bucket[4]")])
    lake.manifest([lake.file("a", {"k": (1, 9)}, partition={"b": 2})])
    table = Table(lake.commit().open())

    assert table.pushdown("k > 3").pushdown.value == "inexact"
    assert table.pushdown("k = 3").pushdown.value == "inexact"


@pytest.mark.parametrize(("specs", "expected"), [((1,), "exact"), ((0, 1), "inexact")])
def test_an_identity_partition_is_exact_if_every_live_spec_has_it(tmp_path, specs, expected):
    everywhere = {"spec-id": 0, "fields": []}
    by_p = {"spec-id": 1, "fields": [partition("p", 1, "identity")]}
    lake = Lake(tmp_path / "t", {"p": "int"}, specs=[everywhere, by_p])
    for spec in specs:
        entry = lake.file(f"{spec}", {"p": (1, 1)}, partition={"p": 1} if spec else {})
        lake.manifest([entry], spec=spec)

    assert Table(lake.commit().open()).pushdown("p = 1").pushdown.value == expected


def test_the_tree_is_printed_with_the_words_of_other_engines():
    text = str(Table(users()).pushdown(f"country = 'DE' AND (age > 40 OR {HASH})"))

    assert text == (
        """\
inexact: files are skipped, and it remains: the engine filters the rows once
more

predicate  country = 'DE' AND (age > 40 OR hash(age) = 1)

condition          class        Trino        Delta filter  DataFusion
AND                inexact      unenforced   partition     Inexact
  country = 'DE'   exact        enforced     partition     Exact
  OR               unsupported  unsupported  unused        Unsupported
    age > 40       inexact      unenforced   data          Inexact
    hash(age) = 1  unsupported  unsupported  unused        Unsupported

why
  country = 'DE' AND (age > 40 OR hash(age) = 1): an AND may be pruned without
    the part that excludes nothing: (age > 40 OR hash(age) = 1)
  country = 'DE': partition values alone decide it: nothing is left to check
  (age > 40 OR hash(age) = 1): a branch that excludes nothing may not be left
    out of an OR: hash(age) = 1
  age > 40: it can exclude files, and the rows of the others are checked again
  hash(age) = 1: no rule says how its values follow from these bounds

exact        partition values decide it, nothing remains for the engine
inexact      files are skipped, and it remains: the engine filters the rows once
             more
unsupported  nothing is skipped, and it remains: the engine filters the rows
"""
    )


def test_the_document_nests_as_the_tree_does():
    document = Table(users()).pushdown("country = 'DE' AND age > 40").to_dict()

    assert document["pushdown"] == "inexact"
    assert [child["sql"] for child in document["children"]] == ["country = 'DE'", "age > 40"]
    assert document["children"][0]["engines"]["trino"] == "enforced"
    assert "<table" in Table(users()).pushdown("age > 40")._repr_html_()
