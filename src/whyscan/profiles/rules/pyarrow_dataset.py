"""PyArrow's datasets: of Parquet files, and of a Delta table by way of delta-rs."""

from whyscan.planning.plan.evidence import FILES, ROW_GROUPS
from whyscan.profiles.features import COMPARED, COMPUTED, Feature
from whyscan.profiles.rule import MATRIX, Alternative, EngineRules, Rule, RuleEffect, RuleEvidence

_DATASETS = "https://arrow.apache.org/docs/python/dataset.html"

RULES = (
    Rule(
        id="PYARROW_DECIMAL",
        concerns=frozenset({Feature.DECIMAL, Feature.CAST_OF_NUMBER}),
        effect=RuleEffect.NOT_USED,
        effect_text="a decimal of other digits than the column has is not checked",
        source=_DATASETS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="PYARROW_IN_LIMIT",
        concerns=frozenset({Feature.LIST}),
        unless=frozenset({Feature.PARTITION}),
        longer_than=50,
        effect=RuleEffect.NOT_USED,
        effect_text="a list of more than 50 values is not checked against statistics",
        source=_DATASETS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
        instead=(Alternative.RANGE_BESIDE_LIST, Alternative.SHORTER_LISTS),
    ),
    Rule(
        id="PYARROW_COMPUTED",
        any_of=COMPUTED,
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.ONE_VALUE_OR_NULL,
        effect_text="functions on a column are not checked against statistics",
        source=_DATASETS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
        instead=(Alternative.RANGE_OF_COLUMN,),
    ),
    Rule(
        id="PYARROW_COLUMNS_COMPARED",
        concerns=frozenset({Feature.COLUMN_TO_COLUMN}),
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.ONE_VALUE_OR_NULL,
        effect_text="two columns are not compared by their statistics",
        source=_DATASETS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="PYARROW_LIKE",
        any_of=frozenset({Feature.PREFIX, Feature.PATTERN, Feature.EXACT, Feature.CASE_BLIND}),
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.ONE_VALUE_OR_NULL,
        effect_text="LIKE is not checked against statistics",
        source=_DATASETS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="PYARROW_NOT_IN",
        concerns=frozenset({Feature.NOT_IN_LIST}),
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.ONE_VALUE,
        effect_text="NOT IN is checked only against columns that have one value",
        source=_DATASETS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="PYARROW_SOME_NULL",
        any_of=COMPARED,
        levels=frozenset({ROW_GROUPS}),
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.WITHOUT_NULL,
        effect_text="the bounds of a column with some NULL are not used",
        source=_DATASETS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
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
    measured={"delta": ("26.0.1",), "hive": ("26.0.1",), "parquet": ("26.0.1",)},
    package="pyarrow",
    rules=RULES,
)
