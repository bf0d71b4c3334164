"""Engines by the names that users write."""

from __future__ import annotations

import pytest

from whyscan.errors import UsageError
from whyscan.profiles.engine_names import ENGINES, common_profiles, named_profiles


def named(*names):
    return [f"{profile.name}@{profile.version}" for profile in named_profiles(names)]


def test_a_version_may_be_a_line_or_exact():
    assert named("pyiceberg@0.12", "pyiceberg@0.12.0") == ["pyiceberg@0.12.0"]
    assert named("duckdb@1.5.5", "DuckDB@1.4") == ["duckdb@1.5.5", "duckdb@1.4.4"]


def test_another_patch_of_a_line_keeps_its_number():
    assert named("duckdb@1.5.1") == ["duckdb@1.5.1"]


def test_without_a_version_it_is_the_installed_one():
    from importlib.metadata import version

    assert named("pyarrow") == [f"pyarrow@{version('pyarrow')}"]
    assert named("trino") == ["trino@484"]


def test_all_are_all():
    assert len(named("all", "trino")) == len(ENGINES)


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("Snowflake", "Snowflake was never run, so it has no profile", "docs/engines.md lists"),
        ("presto", "unknown engine 'presto'", "one of spark-delta, spark-iceberg"),
        ("trino@9", "unknown version '9' of trino", "one of 484, 483, 476"),
        ("pyiceberg@new", "unknown version 'new' of pyiceberg", "one of 0.12.0"),
        ("pyiceberg@", "unknown version '' of pyiceberg", "one of 0.12.0"),
    ],
)
def test_an_unknown_engine_or_version_is_one_line_with_those_that_are_there(name, message, hint):
    with pytest.raises(UsageError) as error:
        named_profiles([name])

    assert str(error.value).startswith(message)
    assert error.value.hint.startswith(hint)


def test_common_engines_read_the_format():
    assert [p.name for p in common_profiles("delta")] == ["spark-delta", "trino", "duckdb"]
    assert [p.name for p in common_profiles("iceberg")] == ["spark-iceberg", "trino", "duckdb"]


def test_rule_ids_are_unique_and_measured_rules_name_their_test():
    rules = {id(rule): rule for engine in ENGINES for rule in engine.rules}.values()
    ids = [rule.id for rule in rules]

    assert sorted(ids) == sorted(set(ids))
    assert [rule.id for rule in rules if rule.evidence == "measured" and not rule.test] == []
