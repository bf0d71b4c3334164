"""PyIceberg, whose filters are made of columns, values and a few operators."""

from whyscan.planning.plan.evidence import FILES, MANIFESTS, ROW_GROUPS
from whyscan.profiles.features import COMPUTED, Feature
from whyscan.profiles.rule import MATRIX, Alternative, EngineRules, Rule, RuleEffect, RuleEvidence

_VISITORS = "https://github.com/apache/iceberg-python/blob/main/pyiceberg/expressions/visitors.py"
_EXPRESSIONS = "https://py.iceberg.apache.org/reference/pyiceberg/expressions/"

RULES = (
    Rule(
        id="PYICEBERG_FRACTION",
        concerns=frozenset({Feature.INTEGER, Feature.CAST_OF_NUMBER}),
        effect=RuleEffect.NOT_USED,
        effect_text="a fraction beside an integer column is cut off, and rows are lost",
        source=_EXPRESSIONS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
        unsound=True,
    ),
    Rule(
        id="PYICEBERG_NOT_LIKE",
        concerns=frozenset({Feature.NOT_LIKE}),
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.NOT_USED,
        effect_text="NOT LIKE is not checked against bounds",
        source=_VISITORS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="PYICEBERG_COMPUTED",
        any_of=COMPUTED,
        unless=frozenset({Feature.CAST_OF_NUMBER}),
        effect=RuleEffect.NOT_USED,
        effect_text="a filter cannot have functions, casts or arithmetic",
        source=_EXPRESSIONS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
        instead=(Alternative.RANGE_OF_COLUMN,),
    ),
    Rule(
        id="PYICEBERG_COLUMNS_COMPARED",
        concerns=frozenset({Feature.COLUMN_TO_COLUMN}),
        effect=RuleEffect.NOT_USED,
        effect_text="a filter cannot compare two columns",
        source=_EXPRESSIONS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="PYICEBERG_PATTERN",
        any_of=frozenset({Feature.PATTERN, Feature.CASE_BLIND}),
        effect=RuleEffect.NOT_USED,
        effect_text="only a pattern that begins with text can be in a filter",
        source=_EXPRESSIONS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="PYICEBERG_IN_LIMIT",
        concerns=frozenset({Feature.LIST}),
        longer_than=200,
        levels=frozenset({MANIFESTS, FILES}),
        effect=RuleEffect.NOT_USED,
        effect_text="an IN list of more than 200 values is not checked against bounds",
        source="https://github.com/apache/iceberg-python/issues/4003",
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
        instead=(Alternative.RANGE_BESIDE_LIST, Alternative.SHORTER_LISTS),
    ),
    Rule(
        id="PYICEBERG_UNEQUAL_OF_PARTITION",
        any_of=frozenset({Feature.INEQUALITY, Feature.NOT_IN_LIST}),
        levels=frozenset({FILES}),
        effect=RuleEffect.PARTITION_VALUES_ONLY,
        effect_text="<> and NOT IN are not checked against bounds",
        source=_VISITORS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="PYICEBERG_UNEQUAL",
        any_of=frozenset({Feature.INEQUALITY, Feature.NOT_IN_LIST}),
        levels=frozenset({MANIFESTS}),
        effect=RuleEffect.NOT_USED,
        effect_text="<> and NOT IN are not checked against bounds",
        source=_VISITORS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="PYICEBERG_MIXED",
        concerns=frozenset({Feature.OR, Feature.MIXED}),
        levels=frozenset({FILES}),
        effect=RuleEffect.SEPARATELY,
        effect_text="partition values and bounds are checked one after the other",
        source=_VISITORS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
)

PYICEBERG = EngineRules(
    name="pyiceberg",
    title="PyIceberg",
    formats={"iceberg": frozenset({MANIFESTS, FILES, ROW_GROUPS})},
    versions=("0.12.0", "0.11.0", "0.10.0"),
    measured={"iceberg": ("0.12.0",)},
    package="pyiceberg",
    rules=RULES,
)
