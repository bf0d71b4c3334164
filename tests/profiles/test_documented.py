"""The page on engines lists every rule of the engines that were not run."""

from __future__ import annotations

from pathlib import Path

from whyscan.profiles.rules.documented import DOCUMENTED_RULES

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"
ENGINES = ("Athena", "BigQuery", "Snowflake", "Redshift", "ClickHouse", "StarRocks")


def row(rule):
    return f"| {rule.engine} | {rule.effect_text} | [`{rule.id}`]({rule.source}) |"


def test_the_page_lists_every_rule():
    text = PAGE.read_text("utf-8")

    assert [row(rule) for rule in DOCUMENTED_RULES if row(rule) not in text] == []


def test_every_engine_that_cannot_be_run_has_a_rule():
    assert {rule.engine for rule in DOCUMENTED_RULES} == set(ENGINES)
    assert {str(rule.evidence) for rule in DOCUMENTED_RULES} == {"documented"}
