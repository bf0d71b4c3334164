"""DataFusion, and delta-rs, which plans and reads Delta tables with it."""

from whyscan.planning.plan.evidence import FILES, PAGES, ROW_GROUPS
from whyscan.profiles.features import COMPARED, COMPUTED, Feature
from whyscan.profiles.rule import MATRIX, Alternative, EngineRules, Rule, RuleEffect, RuleEvidence
from whyscan.tables.snapshot import FilterKind

_PRUNING = "https://docs.rs/datafusion/latest/datafusion/physical_optimizer/pruning/"
_KERNEL = "https://docs.rs/delta_kernel/latest/delta_kernel/kernel_predicates/"

_UNWRAPPED = frozenset({"year", "floor", "startswith", "rlike", "negative"})
"""Functions that the optimiser turns into ranges of their column."""

PRUNING_PREDICATE = (
    Rule(
        id="DATAFUSION_IN_LIMIT",
        any_of=frozenset({Feature.LIST, Feature.NOT_IN_LIST}),
        unless=frozenset({Feature.PARTITION}),
        levels=frozenset({ROW_GROUPS}),
        longer_than=20,
        effect=RuleEffect.NOT_USED,
        effect_text="an IN list of more than 20 values is not checked against statistics",
        source="https://github.com/apache/datafusion/issues/8609",
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
        instead=(Alternative.RANGE_BESIDE_LIST, Alternative.SHORTER_LISTS),
    ),
    Rule(
        id="DATAFUSION_LIST_WITH_NULL",
        concerns=frozenset({Feature.NULL_IN_LIST}),
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.NOT_USED,
        effect_text="a list with NULL is not checked against statistics",
        source=_PRUNING,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="DATAFUSION_DIVISION",
        functions=frozenset({"/", "%", "div"}),
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.NOT_USED,
        effect_text="a division is not checked against statistics",
        source=_PRUNING,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
        instead=(Alternative.RANGE_OF_COLUMN,),
    ),
    Rule(
        id="DATAFUSION_COMPUTED",
        any_of=(COMPUTED - {Feature.CAST}) | {Feature.CASE_BLIND},
        unless=frozenset({Feature.PARTITION}),
        but_not=_UNWRAPPED,
        effect=RuleEffect.ONE_VALUE_IN_FILE,
        effect_text="functions, arithmetic and ILIKE are not checked against statistics",
        source=_PRUNING,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
        instead=(Alternative.RANGE_OF_COLUMN,),
    ),
    Rule(
        id="DATAFUSION_NESTED",
        concerns=frozenset({Feature.NESTED}),
        levels=frozenset({ROW_GROUPS}),
        effect=RuleEffect.NOT_USED,
        effect_text="fields of structs are not checked against statistics of row groups",
        source="docs/peers.md",
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="DATAFUSION_COLUMNS_COMPARED",
        concerns=frozenset({Feature.COLUMN_TO_COLUMN}),
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.ONE_VALUE_IN_FILE,
        effect_text="two columns are not compared by their statistics",
        source=_PRUNING,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="DATAFUSION_DECIMAL_LITERAL",
        concerns=frozenset({Feature.CAST_OF_NUMBER, Feature.EQUALITY, Feature.DECIMAL}),
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.AT_LEAST,
        effect_text="a number with more digits than the column can have is looked for",
        source=_PRUNING,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="DATAFUSION_ONLY_NULL",
        any_of=COMPARED | {Feature.NOT_IN_LIST},
        unless=frozenset({Feature.PARTITION}),
        levels=frozenset({ROW_GROUPS}),
        effect=RuleEffect.NOT_ONLY_NULL,
        effect_text="a comparison does not leave out row groups in which its column is only NULL",
        source=_PRUNING,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
)

DELTA_RS_FILES = (
    Rule(
        id="DELTA_RS_CONVERTED",
        any_of=frozenset(
            {
                *(Feature.CAST_TO_DATE, Feature.CAST_OF_DATE, Feature.CAST_OF_NUMBER),
                *(Feature.BOOLEAN, Feature.PREFIX, Feature.PATTERN, Feature.CASE_BLIND),
                *(Feature.BOOLEAN_CALL,),
            }
        ),
        unless=frozenset({Feature.PARTITION}),
        levels=frozenset({FILES}),
        effect=RuleEffect.NOT_USED,
        effect_text="casts, booleans and LIKE leave out no file by the log's statistics",
        source=_KERNEL,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
        instead=(Alternative.RANGE_OF_COLUMN,),
    ),
    Rule(
        id="DELTA_RS_INSTANT_FUNCTION",
        concerns=frozenset({Feature.FUNCTION}),
        any_of=frozenset({Feature.INSTANT, Feature.WALL_CLOCK}),
        levels=frozenset({FILES}),
        effect=RuleEffect.NOT_USED,
        effect_text="functions of a timestamp leave out no file by the log's statistics",
        source=_KERNEL,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
        instead=(Alternative.RANGE_OF_COLUMN,),
    ),
    Rule(
        id="DELTA_RS_NEGATIVE",
        functions=frozenset({"negative"}),
        levels=frozenset({FILES}),
        effect=RuleEffect.NOT_USED,
        effect_text="a column with a sign leaves out no file by the log's statistics",
        source=_KERNEL,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="DELTA_RS_MIXED",
        concerns=frozenset({Feature.OR, Feature.MIXED}),
        levels=frozenset({ROW_GROUPS}),
        effect=RuleEffect.NOT_USED,
        effect_text="an OR with a partition column is not checked against row groups",
        source=_KERNEL,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="DELTA_RS_PARTITION_FUNCTION",
        any_of=COMPUTED | {Feature.PREFIX, Feature.PATTERN, Feature.NOT_LIKE},
        concerns=frozenset({Feature.PARTITION}),
        effect=RuleEffect.NOT_USED,
        effect_text="functions and LIKE on partition columns prune nothing",
        source="docs/peers.md",
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
)

DATAFUSION = EngineRules(
    name="datafusion",
    title="DataFusion",
    formats={
        "hive": frozenset({FILES, ROW_GROUPS, PAGES}),
        "parquet": frozenset({FILES, ROW_GROUPS, PAGES}),
    },
    versions=("55.0.0", "54.1.0"),
    measured={"hive": ("55.0.0",), "parquet": ("55.0.0",)},
    package="datafusion",
    filters=frozenset({FilterKind.BLOOM}),
    rules=PRUNING_PREDICATE,
)
DELTA_RS = EngineRules(
    name="delta-rs",
    title="delta-rs",
    formats={"delta": frozenset({FILES, ROW_GROUPS, PAGES})},
    versions=("1.6.6", "1.5.0"),
    measured={"delta": ("1.6.6",)},
    package="deltalake",
    filters=frozenset({FilterKind.BLOOM}),
    rules=(*DELTA_RS_FILES, *PRUNING_PREDICATE),
)
