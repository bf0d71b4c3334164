"""Which predicates on the source of a generated partition column its values decide alone."""

from __future__ import annotations

import pytest

from support.reports import explain

DAY = "CAST(x AS DATE)"
WALL = "TIMESTAMP_NTZ"
CASES = [
    # source, generated columns, partition value, predicate, class
    ("timestamp_ntz", {"d": ("date", DAY)}, ["2024-03-05"], f"x >= {WALL}'2024-03-01'", "exact"),
    ("timestamp_ntz", {"d": ("date", DAY)}, ["2024-03-05"], "x IS NULL", "exact"),
    (
        "timestamp_ntz",
        {"d": ("date", DAY)},
        ["2024-03-05"],
        f"x >= {WALL}'2024-03-01 12:00'",
        "inexact",
    ),
    (
        "timestamp",
        {"d": ("date", DAY)},
        ["2024-03-05"],
        "x >= TIMESTAMP'2024-03-01 00:00:00Z'",
        "inexact",
    ),
    ("date", {"d": ("date", DAY)}, ["2024-03-05"], "x = DATE'2024-03-01'", "exact"),
    ("date", {"d": ("date", "trunc(x, 'MM')")}, ["2024-03-01"], "x < DATE'2024-03-01'", "exact"),
    ("date", {"d": ("date", "trunc(x, 'MM')")}, ["2024-03-01"], "x < DATE'2024-03-02'", "inexact"),
    (
        "date",
        {"y": ("integer", "YEAR(x)"), "m": ("integer", "MONTH(x)")},
        ["2024", "3"],
        "x >= DATE'2024-03-01'",
        "exact",
    ),
    ("date", {"y": ("integer", "YEAR(x)")}, ["2024"], "x >= DATE'2024-03-01'", "inexact"),
    ("date", {"m": ("integer", "MONTH(x)")}, ["3"], "x >= DATE'2024-03-01'", "inexact"),
    (
        "timestamp_ntz",
        {"t": ("timestamp", "date_trunc('DAY', x)")},
        ["2024-03-05T08:00:00.000000Z"],
        f"x >= {WALL}'2024-03-01'",
        "inexact",
    ),
    (
        "date",
        {"f": ("string", "date_format(x, 'yyyy-MM')")},
        ["2024-03"],
        "x >= DATE'2024-03-01'",
        "inexact",
    ),
    # An empty string is recorded as NULL.
    ("string", {"p": ("string", "SUBSTRING(x, 1, 2)")}, ["ab"], "x IS NULL", "inexact"),
    ("long", {"p": ("long", "x")}, ["5"], "x = 7", "exact"),
    ("string", {"p": ("string", "x")}, ["5"], "x = ''", "inexact"),
]


@pytest.mark.parametrize(("source", "columns", "values", "predicate", "expected"), CASES)
def test_a_generated_column_decides_where_no_zone_had_a_say(
    lake, source, columns, values, predicate, expected
):
    lake.create(
        {"x": source} | {name: kind for name, (kind, _) in columns.items()},
        tuple(columns),
        about={n: {"delta.generationExpression": text} for n, (_, text) in columns.items()},
    )
    lake.commit(lake.add("f", partition=dict(zip(columns, values, strict=True))))

    report = explain(lake.open(), predicate, depth="files").to_dict()

    (conjunct,) = report["conjuncts"]
    assert (conjunct["pushdown"], conjunct["bucket"]) == (expected, "partition-safe")
