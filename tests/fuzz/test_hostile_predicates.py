"""Predicates that grow, nest or reach beyond what types hold: an answer, or one line and a hint.

The partition columns `s` and `k` have exact values, on which DuckDB runs what the interpreter
leaves open.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fuzz.command_worker import Run, word_of


def nested(before, middle, behind, depth):
    return before * depth + middle + behind * depth


ANSWERED = {
    "a pattern a thousand deep": "s rlike '" + nested("(", "a", ")", 1_000) + "'",
    "a repeated pattern a thousand deep": "s rlike '" + nested("(", "a", ")+", 1_000) + "'",
    "a pattern that backtracks": "s rlike '(a+)+$'",
    "a million brackets": "s rlike '" + r"\\[" * 300_000 + "'",
    "a million groups": "s rlike '" + "(a|b)" * 200_000 + "'",
    "counted repetitions": "s rlike '((a{1000}){1000}){1000}'",
    "repeat of a column": "repeat(s, 1000000000) = 'a'",
    "repeat of a literal": "repeat('s', 1000000000) = s",
    "repeat of repeat": nested("repeat(", "s", ", 10000)", 4) + " = 'a'",
    "lpad": "lpad(s, 2000000000, 'x') = 'a'",
    "a long pad": "lpad(s, 1000, '" + "x" * 3_000_000 + "') = 'a'",
    "a long pad of a literal": "lpad('s', 9999, '" + "x" * 3_000_000 + "') = s",
    "space": "space(2000000000) = s",
    "array_repeat": "size(array_repeat(s, 2000000000)) = k",
    "sequence": "size(sequence(1, 1000000000000)) = k",
    "replace of literals": nested("replace(", "'a'", ", 'a', 'aa')", 60) + " = s",
    "replace of a column": nested("replace(", "s", ", 'a', 'aa')", 60) + " = 'x'",
    "regexp_replace": nested("regexp_replace(", "s", ", 'a', 'aa')", 60) + " = 'x'",
    "concat": nested("concat(", "s", ", s)", 90) + " = 'x'",
    "translate": "translate(s, '" + "a" * 100_000 + "', '" + "b" * 100_000 + "') = 'x'",
    "a printed width": "format_string('%01000000000d', 1) = s",
    "a hint of megabytes": "/*+ " + "x " * 1_000_000 + " */ k = 1",
    "many comments": "k = 1 " + "/* x */ " * 100_000,
    "ORs": " OR ".join(f"k = {i}" for i in range(50_000)),
    "a list": "k IN (" + ", ".join(map(str, range(50_000))) + ")",
    "a list of calls": "k IN (" + ", ".join(f"abs({i})" for i in range(5_000)) + ")",
    "CASE arms": "CASE " + " ".join(f"WHEN k = {i} THEN {i}" for i in range(1_000)) + " END = 1",
    "a LIKE pattern": "s LIKE '" + "%a" * 50_000 + "'",
    "NaN to an integer": "floor(cast('NaN' as double)) > k",
    "infinity to an integer": "ceil(cast('inf' as double)) > k",
    "months beyond a date": "d > add_months(DATE '2024-01-01', 9999999999999)",
    "days beyond a date": "d > date_add(DATE '2024-01-01', 2147483647)",
    "an interval": "d > current_date - interval 99999999999999999999 days",
    "zero in a text": "s = '\0'",
}

REFUSED = {
    "ten thousand parentheses": (nested("(", "k = 1", ")", 10_000), "nests too deep"),
    "a hundred thousand minus signs": ("k = " + "- " * 100_000 + "1", "nests too deep"),
    "a long sum": ("k" + " + 1" * 20_000 + " = 3", "more than 100 operators in a row"),
    "a long concatenation": ("s" + " || s" * 20_000 + " = 'a'", "concat does not take"),
    "a year beyond a date": ("d > DATE '9999999-01-01'", "as date"),
    "half a character": ("s = '\udcff'", "not UTF-8"),
    "a name of a million letters": ("`" + "a" * 1_000_000 + "` = 1", "unknown column"),
    "a path without an end": ("a" + ".b" * 20_000 + " = 1", "nests too deep"),
    "a number without an end": ("k = " + "9" * 100_000, "38 digits"),
    "nothing": ("", "the predicate is empty"),
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile") / "t"
    for text in ("a" * 33 + "b", "b"):
        for number in (1, 2):
            place = folder / f"s={text}" / f"k={number}"
            place.mkdir(parents=True)
            rows = pa.table({"id": [1, 2], "d": pa.array([1, 2], pa.date32())})
            pq.write_table(rows, place / "a.parquet")
    return folder


def explained(commands, table, text):
    file = table.parent / "predicate.sql"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    word = text if "\udcff" in text else f"@{file}"
    return commands.command("explain", table, "-w", word, cwd=table.parent)


@pytest.mark.parametrize("text", ANSWERED.values(), ids=ANSWERED.keys())
def test_a_predicate_that_grows_is_answered_in_little_room(commands, table, text):
    said = explained(commands, table, text)

    assert (said.why, said.word) == (None, "answer")


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_a_predicate_beyond_a_limit_is_one_line(commands, table, text, message):
    said = explained(commands, table, text)

    assert said.why is None
    assert said.word.startswith("refused: ")
    assert message in said.word


def nothing(number):
    return Run(number, "", "")


@pytest.mark.parametrize(
    "run",
    [
        Run(3, "", "error: whyscan itself failed: KeyError: 'a'\nhint: this is a bug\n"),
        Run(3, "half a report", "error: no\n"),
        Run(4, "", "error: no\n"),
        Run(3, "", "Traceback\nerror: no\n"),
        Run(3, "", "error: " + "a" * 3_000 + "\n"),
        nothing(0),
        nothing(-11),
    ],
)
def test_the_judge_sees_what_is_no_refusal(run):
    with pytest.raises(AssertionError):
        word_of(run)
