"""Thousands of damaged tables: each is a typed error or an answer that agrees with itself.

The same mutants every time; `make fuzz` looks for others.
"""

from __future__ import annotations

from collections import Counter

import pytest

from fuzz.victims import Case, victims
from fuzz.watch import Watch

SEED = "suite"
AT_LEAST = 5_000
# How many mutants of each file of a table; the most expensive tables are first, so that two workers
# end together.
PER_FILE = {
    "delta-log": 30,
    "iceberg": 100,
    "delta-checkpoint": 60,
    "parquet-arrow": 800,
    "delta-parts": 50,
    "delta-v2-json": 50,
    "delta-v2-parquet": 70,
    "parquet-pages": 250,
    "parquet-rust": 600,
    "parquet-duckdb": 500,
    "hive": 600,
    "iceberg-fast": 80,
    "iceberg-v1": 80,
    "iceberg-v3": 150,
    "iceberg-gz": 150,
    "iceberg-deflate": 40,
    "iceberg-snappy": 40,
    "iceberg-zstandard": 40,
}
OF_THE_ZOO = 8
UNREAD = 10


def cases(name: str) -> list[Case]:
    mutants = []
    for at, target in enumerate(victims()[name].targets):
        count = UNREAD if target.unread else PER_FILE[name]
        mutants += [Case(name, at, SEED, number) for number in range(count)]
    return mutants


def counted_words(watch: Watch, mutants: list[Case]) -> Counter[str]:
    words: Counter[str] = Counter()
    for outcome in watch.run(mutants):
        assert outcome.why is None, f"{outcome.case}\n{outcome.why}"
        words[outcome.word] += 1
    assert words.total() == len(mutants)
    return words


def test_there_are_thousands():
    assert sum(len(cases(name)) for name in PER_FILE) >= AT_LEAST


def test_every_table_of_our_own_is_damaged():
    own = {name for name in victims() if not name.startswith("zoo:")}
    assert own == PER_FILE.keys()


@pytest.mark.parametrize("name", PER_FILE)
def test_a_damaged_table_is_an_error_or_an_answer(watch, name):
    words = counted_words(watch, cases(name))
    assert words["answer"] < words.total(), "no damage at all was noticed"


zoo = [name for name in victims() if name.startswith("zoo:")]


@pytest.mark.skipif(not zoo, reason="there is no zoo")
def test_damaged_tables_of_real_engines_are_errors_or_answers(watch):
    mutants = [
        Case(name, number % len(victims()[name].targets), SEED, number)
        for name in zoo[::12]
        for number in range(OF_THE_ZOO)
    ]
    counted_words(watch, mutants)


TROUBLES = {
    "os.abort()": "exit code -6",
    "sum(iter(int, 1))": "it has no end",
    "sys.exit(3)": "exit code 3",
    "from fuzz.worker import limit; limit(); bytearray(1 << 40)": "MemoryError",
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_what_ended_the_worker_is_named(monkeypatch, trouble):
    if "iter" in trouble:
        monkeypatch.setattr("fuzz.watch.CPU_SECONDS", 1)
    begin = "import faulthandler, os, sys; faulthandler.enable(); sys.stdin.readline()"
    watch = Watch("-c", f"{begin}; {trouble}")
    case = Case("hive", 0, SEED, 0)
    [first, second] = watch.run([case, case])
    watch.close()
    assert (first.case, first.word, second.word) == (case, "bad", "bad")
    assert TROUBLES[trouble] in first.why
