"""Polars: its own Parquet reader, below `scan_parquet`, `scan_delta` and `scan_iceberg`."""

from whyscan.planning.plan.evidence import FILES, MANIFESTS, ROW_GROUPS
from whyscan.profiles.features import COMPUTED, Feature
from whyscan.profiles.rule import Alternative, EngineRules, Rule, RuleEffect, RuleEvidence

_PEERS = "docs/peers.md"

RULES = (
    Rule(
        id="POLARS_IN_RANGE",
        concerns=frozenset({Feature.LIST}),
        longer_than=100,
        effect=RuleEffect.RANGE,
        effect_text="a list of more than 100 values becomes one range",
        source=_PEERS,
        evidence=RuleEvidence.DOCUMENTED,
        instead=(Alternative.SHORTER_LISTS,),
    ),
    Rule(
        id="POLARS_LIKE",
        any_of=frozenset({Feature.PREFIX, Feature.PATTERN, Feature.NOT_LIKE, Feature.CASE_BLIND}),
        effect=RuleEffect.NOT_USED,
        effect_text="LIKE is not checked against statistics",
        source=_PEERS,
        evidence=RuleEvidence.DOCUMENTED,
    ),
    Rule(
        id="POLARS_DOUBLE_ORDER",
        concerns=frozenset({Feature.FLOAT, Feature.ORDER}),
        effect=RuleEffect.NOT_USED,
        effect_text="> and >= on doubles are not checked against statistics, because of NaN",
        source=_PEERS,
        evidence=RuleEvidence.DOCUMENTED,
    ),
    Rule(
        id="POLARS_COMPUTED",
        any_of=COMPUTED,
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.NOT_USED,
        effect_text="functions on a column are not checked against statistics",
        source=_PEERS,
        evidence=RuleEvidence.DOCUMENTED,
        instead=(Alternative.RANGE_OF_COLUMN,),
    ),
)

POLARS = EngineRules(
    name="polars",
    title="Polars",
    formats={
        "delta": frozenset({FILES, ROW_GROUPS}),
        "iceberg": frozenset({MANIFESTS, FILES, ROW_GROUPS}),
        "hive": frozenset({FILES, ROW_GROUPS}),
        "parquet": frozenset({FILES, ROW_GROUPS}),
    },
    versions=("2.1.0",),
    measured=("2.1.0",),
    package="polars",
    rules=RULES,
)
