"""DataFusion, and delta-rs, which plans and reads Delta tables with it."""

from whyscan.planning.plan.evidence import FILES, ROW_GROUPS
from whyscan.profiles.features import COMPUTED, Feature
from whyscan.profiles.rule import Alternative, EngineRules, Rule, RuleEffect, RuleEvidence

_PEERS = "docs/peers.md"
_PRUNING = "https://docs.rs/datafusion/latest/datafusion/physical_optimizer/pruning/"

PRUNING_PREDICATE = (
    Rule(
        id="DATAFUSION_IN_LIMIT",
        concerns=frozenset({Feature.LIST}),
        longer_than=20,
        effect=RuleEffect.NOT_USED,
        effect_text="an IN list of more than 20 values is not checked against statistics",
        source="https://github.com/apache/datafusion/issues/8609",
        evidence=RuleEvidence.DOCUMENTED,
        instead=(Alternative.RANGE_BESIDE_LIST, Alternative.SHORTER_LISTS),
    ),
    Rule(
        id="DATAFUSION_COMPUTED",
        any_of=COMPUTED,
        unless=frozenset({Feature.CAST_TO_DATE, Feature.CAST_OF_NUMBER, Feature.PARTITION}),
        but_not=frozenset({"year"}),
        effect=RuleEffect.NOT_USED,
        effect_text="functions and arithmetic on a column are not checked against statistics",
        source=_PRUNING,
        evidence=RuleEvidence.DOCUMENTED,
        instead=(Alternative.RANGE_OF_COLUMN,),
    ),
    Rule(
        id="DATAFUSION_NESTED",
        concerns=frozenset({Feature.NESTED}),
        effect=RuleEffect.NOT_USED,
        effect_text="fields of structs are not checked against statistics",
        source=_PEERS,
        evidence=RuleEvidence.DOCUMENTED,
    ),
    Rule(
        id="DATAFUSION_COLUMNS_COMPARED",
        concerns=frozenset({Feature.COLUMN_TO_COLUMN}),
        effect=RuleEffect.NOT_USED,
        effect_text="two columns are not compared by their statistics",
        source=_PRUNING,
        evidence=RuleEvidence.DOCUMENTED,
    ),
)

DELTA_RS_FILES = (
    Rule(
        id="DELTA_RS_PARTITION_FUNCTION",
        any_of=COMPUTED | {Feature.PREFIX, Feature.PATTERN, Feature.NOT_LIKE},
        concerns=frozenset({Feature.PARTITION}),
        effect=RuleEffect.NOT_USED,
        effect_text="functions and LIKE on partition columns prune nothing",
        source=_PEERS,
        evidence=RuleEvidence.DOCUMENTED,
    ),
)

DATAFUSION = EngineRules(
    name="datafusion",
    title="DataFusion",
    formats={
        "hive": frozenset({FILES, ROW_GROUPS}),
        "parquet": frozenset({FILES, ROW_GROUPS}),
    },
    versions=("55.0.0", "54.1.0"),
    measured=("55.0.0",),
    package="datafusion",
    rules=PRUNING_PREDICATE,
)
DELTA_RS = EngineRules(
    name="delta-rs",
    title="delta-rs",
    formats={"delta": frozenset({FILES, ROW_GROUPS})},
    versions=("1.6.6", "1.5.0"),
    measured=("1.6.6",),
    package="deltalake",
    rules=(*DELTA_RS_FILES, *PRUNING_PREDICATE),
)
