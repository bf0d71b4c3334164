"""Trino, by its documentation: a filter becomes one set of values for each column."""

from whyscan.planning.plan.evidence import FILES, MANIFESTS, PAGES, ROW_GROUPS
from whyscan.profiles.features import Feature
from whyscan.profiles.rule import Alternative, EngineRules, Rule, RuleEffect, RuleEvidence
from whyscan.tables.snapshot import FilterKind

_DOMAINS = (
    "https://github.com/trinodb/trino/blob/master/core/trino-main/src/main/java/io/trino/"
    "sql/planner/DomainTranslator.java"
)
_PUSHDOWN = "https://trino.io/docs/current/optimizer/pushdown.html"

RULES = (
    Rule(
        id="TRINO_OR_OF_COLUMNS",
        concerns=frozenset({Feature.OR_OF_COLUMNS}),
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.NOT_USED,
        effect_text="an OR across columns is no set of values of one column",
        source=_DOMAINS,
        evidence=RuleEvidence.DOCUMENTED,
    ),
    Rule(
        id="TRINO_FUNCTION",
        any_of=frozenset({Feature.FUNCTION, Feature.BOOLEAN_CALL}),
        unless=frozenset({Feature.PARTITION}),
        but_not=frozenset({"year", "date_trunc", "trunc"}),
        effect=RuleEffect.NOT_USED,
        effect_text="a function is not unwrapped to a range of its column",
        source=_PUSHDOWN,
        evidence=RuleEvidence.DOCUMENTED,
        instead=(Alternative.RANGE_OF_COLUMN,),
    ),
    Rule(
        id="TRINO_ARITHMETIC",
        any_of=frozenset({Feature.ARITHMETIC, Feature.CASE, Feature.NOT_INTERPRETED}),
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.NOT_USED,
        effect_text="arithmetic on a column is no set of its values",
        source=_DOMAINS,
        evidence=RuleEvidence.DOCUMENTED,
        instead=(Alternative.RANGE_OF_COLUMN,),
    ),
    Rule(
        id="TRINO_COLUMNS_COMPARED",
        concerns=frozenset({Feature.COLUMN_TO_COLUMN}),
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.NOT_USED,
        effect_text="a comparison of two columns is no set of values of one",
        source=_DOMAINS,
        evidence=RuleEvidence.DOCUMENTED,
    ),
    Rule(
        id="TRINO_PATTERN",
        any_of=frozenset({Feature.PATTERN, Feature.NOT_LIKE, Feature.CASE_BLIND}),
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.NOT_USED,
        effect_text="only a pattern that begins with text becomes a range",
        source=_DOMAINS,
        evidence=RuleEvidence.DOCUMENTED,
    ),
    Rule(
        id="TRINO_DOMAIN_COMPACTION",
        concerns=frozenset({Feature.LIST}),
        longer_than=1_000,
        effect=RuleEffect.RANGE,
        effect_text="more than 1,000 values become one range",
        source="https://trino.io/docs/current/connector/iceberg.html",
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
    filters=frozenset({FilterKind.BLOOM}),
    rules=RULES,
    common=True,
)
