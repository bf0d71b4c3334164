"""PyArrow's datasets: of Parquet files, and of a Delta table by way of delta-rs."""

from whyscan.planning.plan.evidence import FILES, ROW_GROUPS
from whyscan.profiles.features import COMPUTED, Feature
from whyscan.profiles.rule import Alternative, EngineRules, Rule, RuleEffect, RuleEvidence

_DATASETS = "https://arrow.apache.org/docs/python/dataset.html"

RULES = (
    Rule(
        id="PYARROW_COMPUTED",
        any_of=COMPUTED,
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.NOT_USED,
        effect_text="functions on a column are not checked against statistics",
        source=_DATASETS,
        evidence=RuleEvidence.DOCUMENTED,
        instead=(Alternative.RANGE_OF_COLUMN,),
    ),
    Rule(
        id="PYARROW_COLUMNS_COMPARED",
        concerns=frozenset({Feature.COLUMN_TO_COLUMN}),
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.NOT_USED,
        effect_text="two columns are not compared by their statistics",
        source=_DATASETS,
        evidence=RuleEvidence.DOCUMENTED,
    ),
    Rule(
        id="PYARROW_LIKE",
        any_of=frozenset({Feature.PREFIX, Feature.PATTERN, Feature.NOT_LIKE, Feature.CASE_BLIND}),
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.NOT_USED,
        effect_text="LIKE is not checked against statistics",
        source=_DATASETS,
        evidence=RuleEvidence.DOCUMENTED,
    ),
)

PYARROW = EngineRules(
    name="pyarrow",
    title="PyArrow",
    formats={
        "delta": frozenset({FILES, ROW_GROUPS}),
        "hive": frozenset({FILES, ROW_GROUPS}),
        "parquet": frozenset({FILES, ROW_GROUPS}),
    },
    versions=("26.0.1", "25.0.0", "24.0.0"),
    measured=("26.0.1",),
    package="pyarrow",
    rules=RULES,
)
