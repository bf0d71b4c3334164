"""What rules leave of a predicate, and that it is never stronger than the predicate."""

from __future__ import annotations

import pytest

from planning.plans import planned
from support.memory_table import DataFile, MemoryTable, RowGroup
from whyscan.planning.plan.scan_plan import Depth
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.profiles.engine_names import ENGINES, default_profile
from whyscan.profiles.features import COMPUTED, ColumnRoles, Feature, part_of
from whyscan.profiles.prediction import predictions
from whyscan.profiles.rule import Rule, RuleEffect, RuleEvidence
from whyscan.profiles.weakened import normal, weakened
from whyscan.tree.rendering import to_sql
from whyscan.tree.types import BIGINT, BOOLEAN, DATE, DOUBLE, INT, STRING, TIMESTAMP, Field, Schema

COLUMNS = {
    "p": STRING,
    "a": INT,
    "b": BIGINT,
    "x": DOUBLE,
    "s": STRING,
    "d": DATE,
    "ts": TIMESTAMP,
    "ok": BOOLEAN,
}
SCHEMA = Schema(tuple(Field(name, kind) for name, kind in COLUMNS.items()))
ROLES = ColumnRoles(frozenset({("p",)}), frozenset())


def bound(sql):
    return bind(sql, SCHEMA, Session())


def condition(sql):
    return bound(sql).conjuncts[0].expression


def rule(effect, *concerns, **others):
    return Rule(
        id="ENGINE_RULE",
        concerns=frozenset(concerns),
        effect=effect,
        effect_text="it does so",
        source="its documentation",
        evidence=RuleEvidence.DOCUMENTED,
        **others,
    )


def left(sql, *rules):
    """What is left of each conjunct, as SQL."""
    result = weakened(bound(sql), rules, ROLES)
    return [to_sql(conjunct.expression) for _, _, conjunct in result.conjuncts]


@pytest.mark.parametrize(
    ("sql", "written"),
    [
        ("NOT (a = 1 AND b = 2)", "a <> 1 OR b <> 2"),
        ("NOT (a < 1 OR b IS NULL)", "a >= 1 AND b IS NOT NULL"),
        ("NOT (NOT a > 1)", "a > 1"),
        ("NOT (a BETWEEN 1 AND 2 AND b = 3)", "a < 1 OR a > 2 OR b <> 3"),
        ("NOT (a <=> 1)", "NOT a <=> 1"),
        ("NOT (s LIKE 'x%' AND (a = 1 OR b = 2))", "NOT s LIKE 'x%' OR (a <> 1 AND b <> 2)"),
    ],
)
def test_not_is_moved_to_the_conditions(sql, written):
    assert to_sql(normal(condition(sql))) == to_sql(bound(written).expression)


@pytest.mark.parametrize(
    ("sql", "features"),
    [
        ("a = 1", {Feature.EQUALITY, Feature.BARE, Feature.INTEGER, Feature.DATA}),
        ("p = 'x'", {Feature.PARTITION, Feature.STRING}),
        ("p = 'x' OR a = 1", {Feature.OR, Feature.OR_OF_COLUMNS, Feature.MIXED}),
        ("(a = 1 AND b = 2) OR a = 3", {Feature.OR_OF_ANDS}),
        ("a IN (1, 2, 3)", {Feature.LIST}),
        ("NOT a IN (1, 2, 3)", {Feature.NOT_IN_LIST, Feature.NEGATED}),
        ("s LIKE 'ab%'", {Feature.PREFIX}),
        ("s LIKE '%ab'", {Feature.PATTERN}),
        ("NOT s LIKE 'ab%'", {Feature.NOT_LIKE, Feature.PREFIX}),
        ("year(ts) = 1995", {Feature.FUNCTION, Feature.INSTANT}),
        ("CAST(ts AS DATE) = DATE '2020-01-01'", {Feature.CAST, Feature.CAST_TO_DATE}),
        ("a + 1 > 5", {Feature.ARITHMETIC}),
        ("coalesce(a, 0) = 1", {Feature.COALESCE}),
        ("a = b", {Feature.COLUMN_TO_COLUMN}),
        ("ok", {Feature.BARE_BOOLEAN, Feature.BOOLEAN}),
        ("a IS NULL", {Feature.IS_NULL}),
        ("a <=> 1", {Feature.NULL_SAFE_EQUALITY}),
    ],
)
def test_a_part_has_these_features(sql, features):
    part = part_of(normal(condition(sql)), ROLES)

    assert features <= part.features


def test_a_bare_column_is_not_computed():
    for sql in ("a = 1", "b > 1", "a IN (1, 2)", "s LIKE 'a%'", "d >= DATE '2020-01-01'"):
        assert not part_of(condition(sql), ROLES).features & COMPUTED, sql


def test_a_part_that_is_not_used_is_true_and_its_or_with_it():
    unused = rule(RuleEffect.NOT_USED, any_of=COMPUTED)

    assert left("upper(s) = 'A' AND a = 1", unused) == ["a = 1"]
    assert left("upper(s) = 'A' OR a = 1", unused) == []
    assert left("a = 1 OR (b = 2 AND upper(s) = 'A')", unused) == ["a = 1 OR b = 2"]


def test_a_long_list_becomes_its_range_and_a_short_one_stays():
    limit = rule(RuleEffect.RANGE, Feature.LIST, longer_than=2)

    assert left("a IN (5, 1, 3)", limit) == ["a BETWEEN 1 AND 5"]
    assert left("a IN (5, 1)", limit) == ["a IN (1, 5)"]


def test_only_columns_whose_null_is_rejected_are_not_null():
    rejecting = rule(RuleEffect.NOT_NULL, any_of=COMPUTED)

    assert left("upper(s) = 'A'", rejecting) == ["s IS NOT NULL"]
    assert left("coalesce(s, '') = ''", rejecting) == []


def test_a_part_that_stands_alone_takes_the_others_with_it():
    alone = rule(RuleEffect.ALONE, any_of=COMPUTED)

    assert left("a = 1 AND upper(s) = 'A'", alone) == []
    assert left("a = 1", alone) == ["a = 1"]


def test_a_conjunct_that_no_rule_concerns_is_the_same_object():
    predicate = bound("a = 1 AND NOT (b = 2 AND ok)")

    result = weakened(predicate, (), ROLES)

    assert [c is o for (_, _, c), o in zip(result.conjuncts, predicate.conjuncts, strict=True)] == [
        True,
        True,
    ]


def test_an_unsound_rule_is_a_note():
    note = rule(RuleEffect.NOT_USED, Feature.EQUALITY, unsound=True)

    result = weakened(bound("a = 1"), (note,), ROLES)

    assert [use.rule.id for use in result.uses] == ["ENGINE_RULE"]
    assert len(result.conjuncts) == 1


PREDICATES = (
    "a = 5",
    "a <> 5",
    "a IN (1, 5, 9)",
    "a NOT IN (5)",
    f"a IN ({', '.join(map(str, range(0, 2_000, 2)))})",
    "a + 1 = 6",
    "a = b",
    "upper(s) = 'M'",
    "s LIKE 'm%'",
    "s LIKE '%m'",
    "NOT s LIKE 'm%'",
    "p = 'x'",
    "upper(p) = 'X'",
    "p = 'x' OR a = 5",
    "(p = 'x' AND a = 5) OR (p = 'y' AND a = 7)",
    "NOT (p = 'x' OR a = 5)",
    "a = 5 AND upper(s) = 'M'",
    "a <=> 5",
    "a IS NULL",
    "NOT ok",
    "ok",
    "x > 3",
    "a > 2.5",
    "s = a",
    "CASE WHEN a > 5 THEN ok ELSE FALSE END",
)


def table(*, footers):
    return MemoryTable(
        {**COLUMNS},
        [
            DataFile(
                f"p={'xyz'[at % 3]}/{at}",
                {"p": "xyz"[at % 3]},
                [
                    RowGroup(
                        4,
                        {
                            "a": (at + half, at + half + 1),
                            "b": (at - 3, at - 2),
                            "x": (float(at), at + 1.0),
                            "s": ("klmnopqr"[at % 8], "klmnopqr"[at % 8] + "z"),
                            "ok": (at % 2 == 0, at % 3 == 0) if at % 2 <= at % 3 else (False, True),
                        },
                    )
                    for half in (0, 2)
                ],
            )
            for at in range(12)
        ],
        partitioned_by=("p",),
        footers_describe_files=footers,
    )


@pytest.mark.parametrize("footers", [False, True], ids=["log", "footers"])
@pytest.mark.parametrize("sql", PREDICATES)
def test_no_engine_reads_less_than_metadata_proves(sql, footers):
    snapshot = table(footers=footers)
    plan = planned(snapshot, sql, depth=Depth.ROW_GROUPS)
    profiles = [p for p in map(default_profile, ENGINES) if p.reads(snapshot.format)]

    for profile, prediction in zip(profiles, predictions(plan, profiles), strict=True):
        needed = {level.level: level.kept for level in plan.summary.levels}
        read = {level.level: level.kept for level in prediction.levels}
        assert read.keys() == needed.keys(), profile.name
        assert all(read[name] >= needed[name] for name in read), (profile.name, read, needed)
        assert (prediction.files | ~plan.evidence.judgement.kept).all()
        assert not any(level.at_least for level in prediction.levels)


@pytest.mark.parametrize("footers", [False, True], ids=["log", "footers"])
def test_an_engine_that_uses_everything_reads_what_metadata_proves(footers):
    plan = planned(table(footers=footers), "a = 5", depth=Depth.ROW_GROUPS)
    profiles = [p for p in map(default_profile, ENGINES) if p.reads(plan.snapshot.format)]

    for prediction in predictions(plan, profiles):
        assert [level.kept for level in prediction.levels] == [
            level.kept for level in plan.summary.levels
        ]
