"""Plans as a server prints them: a condition that comes out went in, whatever values hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_table import MemoryTable
from whyscan.predicate.types import BIGINT, DATE, STRING
from whyscan.spark.plan_text import UnreadableError, read_plan
from whyscan.spark.printed_filters import conditions_of
from whyscan.spark.workload.event_logs.catalyst import text_of

TABLE = MemoryTable({"id": BIGINT, "s": STRING, "p": STRING, "day": DATE}, [], ("p",))

FILES = """== Physical Plan ==
* Filter (3)
+- * ColumnarToRow (2)
   +- Scan parquet  (1)


(1) Scan parquet 
Output [3]: [id#1L, s#2, p#3]
Batched: true
Location: InMemoryFileIndex [file:/lake/t]
PartitionFilters: [isnotnull(p#3), (p#3 = VALUE)]
PushedFilters: [IsNotNull(id), GreaterThan(id,5), EqualTo(s,VALUE)]
ReadSchema: struct<id:bigint,s:string>

(2) ColumnarToRow [codegen id : 1]
Input [3]: [id#1L, s#2, p#3]

(3) Filter [codegen id : 1]
Input [3]: [id#1L, s#2, p#3]
Condition : ((isnotnull(s#2) AND (id#1L > 5)) AND (s#2 = VALUE))

"""  # noqa: W291 - as Spark prints it

ICEBERG = """== Physical Plan ==
* Filter (2)
+- BatchScan lake.db.t (1)


(1) BatchScan lake.db.t
Output [4]: [id#1L, s#2, p#3, day#4]
IcebergScan(table=lake.db.t, schemaId=0, snapshotId=77, branch=null, filters=day = 19725, \
p = 'VALUE', id > 5, runtimeFilters=, groupedBy=)

(2) Filter [codegen id : 1]
Input [4]: [id#1L, s#2, p#3, day#4]
Condition : (id#1L > 5)

"""


def conditions(text):
    (scan,) = read_plan(text).scans
    return scan, conditions_of(scan, TABLE, "UTC")


def test_files_at_a_place_with_the_conditions_above_and_on_partitions():
    scan, found = conditions(FILES.replace("VALUE", "a, b"))

    assert (scan.index, scan.place) == ("InMemoryFileIndex", "file:/lake/t")
    assert found.columns == ("id", "s", "p")
    assert set(found.read) == {"`id` > 5", "`s` = 'a, b'", "`p` = 'a, b'"}
    assert found.stayed == ()


def test_an_iceberg_scan_with_the_filters_that_it_took_over():
    scan, found = conditions(ICEBERG.replace("VALUE", "x"))

    assert (scan.table, scan.snapshot) == ("lake.db.t", 77)
    assert set(found.read) == {"`id` > 5", "`p` = 'x'", "`day` = DATE '2024-01-03'"}


HOSTILE = [
    "a)]\nPushedFilters: []",
    "a)]\nReadSchema: struct<id:bigint>\n\n(7) Foo\nBar: [",
    "a)]\nReadSchema: struct<id:bigint>\n\n(2) ColumnarToRow\nInput [1]: [",
    (
        "a)]\n\n===== Subqueries =====\n\n"
        "Subquery:1 Hosting operator id = 1 Hosting Expression = x\n"
        "Foo (4)\n\n\n(4) Foo\nBar: ["
    ),
    "a))\n\n",
    "a', id > 7, p = 'b",
    "a', runtimeFilters=",
    "]",
]
VALUES = st.one_of(
    st.text("ab ,()#='\n[]:12", max_size=12),
    st.sampled_from(HOSTILE),
    st.tuples(st.sampled_from(HOSTILE), st.text("a)]'\n", max_size=4)).map("".join),
).filter(lambda value: not any(f"{name}#" in value for name in ("id", "s", "p", "day")))


@given(VALUES)
def test_every_condition_that_is_read_was_asked(value):
    for text in (FILES, ICEBERG):
        try:
            scan, found = conditions(text.replace("VALUE", value))
        except UnreadableError:
            continue
        asked = {f"`{name}` = {text_of(value)}" for name in ("s", "p")}
        asked |= {"`id` > 5", "`day` = DATE '2024-01-03'"}
        asked |= {f"`{name}` IS NOT NULL" for name in ("s", "p")}
        assert set(found.read) <= asked
        assert scan.place in {"file:/lake/t", None}


@pytest.mark.parametrize(
    "text", ["", "== Parsed Logical Plan ==\n", FILES.replace("(2) ColumnarToRow", "(5) Other")]
)
def test_what_is_no_plan_is_said_to_be_none(text):
    with pytest.raises(UnreadableError):
        read_plan(text)


def test_lists_that_spark_has_cut_off_are_no_conditions():
    cut = FILES.replace("(s#2 = VALUE)", "s#2 INSET a, b, ... 17 more fields").replace("VALUE", "x")

    _, found = conditions(cut)

    assert set(found.read) == {"`p` = 'x'"}
    assert [stayed.why for stayed in found.stayed] == [
        "as the server prints it, it is not sure what it means"
    ]


def test_a_type_that_the_table_does_not_have_is_not_compared_with():
    other = FILES.replace("id:bigint", "id:string").replace("VALUE", "x")

    _, found = conditions(other)

    assert "`id` > 5" not in found.read


def test_conditions_above_a_projection_are_those_of_the_scan():
    """As Delta reads files with a deletion vector, with a filter of its own next to them."""
    text = FILES.replace("VALUE", "x").replace(
        "* Filter (3)\n+- * ColumnarToRow (2)\n   +- Scan parquet  (1)",
        "* Filter (5)\n+- * Project (4)\n   +- * Filter (3)\n      +- * ColumnarToRow (2)\n"
        "         +- Scan parquet  (1)",
    )
    text = text.replace("(id#1L > 5)", "(__delta_internal_is_row_deleted#9 = 0)").rstrip("\n") + (
        "\n\n(4) Project [codegen id : 1]\nOutput [1]: [id#1L]\nInput [1]: [id#1L]\n\n"
        "(5) Filter [codegen id : 1]\nInput [1]: [id#1L]\nCondition : (id#1L < 9)\n\n"
    )

    _, found = conditions(text)

    assert set(found.read) == {"`id` < 9", "`s` = 'x'", "`p` = 'x'"}
    assert found.stayed == ()


def test_dynamic_pruning_shows_a_scan_again_and_a_subquery_another():
    text = FILES.replace("VALUE", "x").rstrip("\n") + (
        "\n\n===== Subqueries =====\n\n"
        "Subquery:1 Hosting operator id = 1 Hosting Expression = p#3 IN dynamicpruning#9\n"
        "Scan parquet  (4)\n\n\n(4) Scan parquet \nOutput [1]: [id#6L]\n"
        "Location: InMemoryFileIndex [file:/lake/u]\n\n"
        "Subquery:2 Hosting operator id = 3 Hosting Expression = Subquery subquery#7, [id=#8]\n"
        "Scan parquet  (5)\n\n\n(5) Scan parquet \nOutput [1]: [id#7L]\n"
        "Location: InMemoryFileIndex [file:/lake/v, ... 2 entries]\n\n\n"
    )

    found = read_plan(text).scans

    assert [(scan.place, scan.nested) for scan in found] == [("file:/lake/t", False), (None, True)]
