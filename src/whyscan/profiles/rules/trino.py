"""Trino: a filter becomes one set of values for each column."""

from typing import TypedDict

from whyscan.planning.plan.evidence import FILES, MANIFESTS, PAGES, ROW_GROUPS
from whyscan.profiles.features import COMPUTED, Feature
from whyscan.profiles.rule import MATRIX, Alternative, EngineRules, Rule, RuleEffect, RuleEvidence
from whyscan.tables.snapshot import FilterKind

_DOMAINS = (
    "https://github.com/trinodb/trino/blob/master/core/trino-main/src/main/java/io/trino/"
    "sql/planner/DomainTranslator.java"
)
_PUSHDOWN = "https://trino.io/docs/current/optimizer/pushdown.html"

_LISTED = frozenset({"delta", "hive", "parquet"})
"""Formats of which Trino evaluates every condition on partition values."""
_ICEBERG = frozenset({"iceberg"})
_LAKES = frozenset({"delta", "iceberg"})
_INSTANTS = frozenset({Feature.INSTANT, Feature.WALL_CLOCK})
_COMPUTED = (COMPUTED - {Feature.CAST}) | {Feature.LOSSY_CAST, Feature.CAST_TO_TEXT}
_PATTERNS = frozenset({Feature.PATTERN, Feature.NOT_LIKE, Feature.CASE_BLIND})
_UNWRAPPED = frozenset({"year", "date_trunc", "trunc"})
"""Functions that become ranges of their column."""


class _Measured(TypedDict):
    evidence: RuleEvidence
    test: str


_MEASURED: _Measured = {"evidence": RuleEvidence.MEASURED, "test": MATRIX}

RULES = (
    Rule(
        id="TRINO_OR_OF_COLUMNS",
        concerns=frozenset({Feature.OR_OF_COLUMNS}),
        unless=frozenset({Feature.PARTITION}),
        formats=_LISTED,
        effect=RuleEffect.COLUMN_BY_COLUMN,
        effect_text="of an OR across columns only what each branch says of one column is used",
        source=_DOMAINS,
        **_MEASURED,
    ),
    Rule(
        id="TRINO_ICEBERG_OR_OF_COLUMNS",
        concerns=frozenset({Feature.OR_OF_COLUMNS}),
        formats=_ICEBERG,
        effect=RuleEffect.COLUMN_BY_COLUMN,
        effect_text="of an OR across columns only what each branch says of one column is used",
        source=_DOMAINS,
        **_MEASURED,
    ),
    Rule(
        id="TRINO_YEAR_OF_INSTANT",
        functions=frozenset({"year"}),
        any_of=_INSTANTS,
        formats=_LAKES,
        effect=RuleEffect.NOT_USED,
        effect_text="year of a timestamp with time zone is not unwrapped to a range",
        source=_PUSHDOWN,
        instead=(Alternative.RANGE_OF_COLUMN,),
        **_MEASURED,
    ),
    Rule(
        id="TRINO_COMPUTED",
        any_of=_COMPUTED,
        unless=frozenset({Feature.PARTITION}),
        formats=_LISTED,
        but_not=_UNWRAPPED,
        effect=RuleEffect.NOT_USED,
        effect_text="a function or arithmetic is not unwrapped to a range of its column",
        source=_PUSHDOWN,
        instead=(Alternative.RANGE_OF_COLUMN,),
        **_MEASURED,
    ),
    Rule(
        id="TRINO_ICEBERG_COMPUTED",
        any_of=_COMPUTED,
        formats=_ICEBERG,
        but_not=_UNWRAPPED,
        effect=RuleEffect.NOT_USED,
        effect_text="a function or arithmetic leaves out no file, not even of a partition column",
        source=_PUSHDOWN,
        instead=(Alternative.RANGE_OF_COLUMN,),
        **_MEASURED,
    ),
    Rule(
        id="TRINO_COLUMNS_COMPARED",
        concerns=frozenset({Feature.COLUMN_TO_COLUMN}),
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.NOT_USED,
        effect_text="a comparison of two columns is no set of values of one",
        source=_DOMAINS,
        **_MEASURED,
    ),
    Rule(
        id="TRINO_PATTERN",
        any_of=_PATTERNS,
        unless=frozenset({Feature.PARTITION}),
        formats=_LISTED,
        effect=RuleEffect.NOT_USED,
        effect_text="only a pattern that begins with text becomes a range",
        source=_DOMAINS,
        **_MEASURED,
    ),
    Rule(
        id="TRINO_ICEBERG_PATTERN",
        any_of=_PATTERNS,
        formats=_ICEBERG,
        effect=RuleEffect.NOT_USED,
        effect_text="only a pattern that begins with text becomes a range",
        source=_DOMAINS,
        **_MEASURED,
    ),
    Rule(
        id="TRINO_DELTA_INSTANT",
        any_of=frozenset({Feature.INSTANT}),
        formats=frozenset({"delta"}),
        levels=frozenset({ROW_GROUPS}),
        unless=frozenset({Feature.IS_NULL, Feature.IS_NOT_NULL}),
        effect=RuleEffect.NOT_USED,
        effect_text="timestamps with time zone are not compared with statistics of row groups",
        source=_PUSHDOWN,
        **_MEASURED,
    ),
    Rule(
        id="TRINO_DAY_OF_INSTANT",
        concerns=frozenset({Feature.CAST_TO_DATE, Feature.INSTANT}),
        formats=_LAKES,
        effect=RuleEffect.AT_LEAST,
        effect_text="a day of a timestamp with time zone is unwrapped from a cast, not from a "
        "function",
        source=_PUSHDOWN,
        instead=(Alternative.RANGE_OF_COLUMN,),
        **_MEASURED,
    ),
    Rule(
        id="TRINO_DELTA_NESTED",
        concerns=frozenset({Feature.NESTED}),
        formats=frozenset({"delta"}),
        effect=RuleEffect.NOT_USED,
        effect_text="fields of structs leave out nothing",
        source=_PUSHDOWN,
        **_MEASURED,
    ),
    Rule(
        id="TRINO_LIST_OF_INSTANTS",
        concerns=frozenset({Feature.LIST, Feature.BARE}),
        any_of=_INSTANTS,
        formats=frozenset({"hive", "parquet"}),
        longer_than=1,
        effect=RuleEffect.NOT_USED,
        effect_text="a list of timestamps is not compared with statistics",
        source=_PUSHDOWN,
        **_MEASURED,
    ),
    Rule(
        id="TRINO_BOOLEAN_NULL",
        concerns=frozenset({Feature.BOOLEAN, Feature.IS_NULL}),
        formats=frozenset({"hive", "parquet"}),
        effect=RuleEffect.NOT_USED,
        effect_text="of booleans with both values it is not known whether some are NULL",
        source=_DOMAINS,
        **_MEASURED,
    ),
    Rule(
        id="TRINO_ICEBERG_IN_LIMIT",
        concerns=frozenset({Feature.LIST}),
        longer_than=200,
        formats=_ICEBERG,
        effect=RuleEffect.NOT_USED,
        effect_text="an IN list of more than 200 values is not checked against bounds",
        source="https://github.com/apache/iceberg/issues/1588",
        instead=(Alternative.RANGE_BESIDE_LIST, Alternative.SHORTER_LISTS),
        **_MEASURED,
    ),
    Rule(
        id="TRINO_DOMAIN_COMPACTION",
        concerns=frozenset({Feature.LIST}),
        longer_than=1_000,
        formats=_LISTED,
        effect=RuleEffect.RANGE,
        effect_text="more than 1,000 values become one range",
        source="https://trino.io/docs/current/connector/hive.html",
        evidence=RuleEvidence.DOCUMENTED,
        instead=(Alternative.SHORTER_LISTS,),
    ),
)

TRINO = EngineRules(
    name="trino",
    title="Trino",
    formats={
        "delta": frozenset({FILES, ROW_GROUPS, PAGES}),
        "iceberg": frozenset({MANIFESTS, FILES, ROW_GROUPS}),
        "hive": frozenset({FILES, ROW_GROUPS, PAGES}),
        "parquet": frozenset({FILES, ROW_GROUPS, PAGES}),
    },
    versions=("484", "483", "476"),
    measured=dict.fromkeys(("delta", "iceberg", "hive", "parquet"), ("476",)),
    filters=frozenset({FilterKind.BLOOM}),
    rules=RULES,
    common=True,
)
