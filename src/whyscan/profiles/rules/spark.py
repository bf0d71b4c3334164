"""Spark: its Parquet reader, and what Delta and Iceberg get of a filter.

Catalyst rewrites a filter before a table sees it: it moves literals across casts, reads `LIKE 'a%'`
as "starts with", and adds `IS NOT NULL` for columns whose NULL a condition rejects.
"""

from whyscan.planning.plan.evidence import FILES, MANIFESTS, ROW_GROUPS
from whyscan.profiles.features import COMPUTED, Feature
from whyscan.profiles.rule import Alternative, EngineRules, Rule, RuleEffect, RuleEvidence

_SKIPPING = (
    "https://github.com/delta-io/delta/blob/master/spark/src/main/scala/org/apache/spark/sql/"
    "delta/stats/DataSkippingReader.scala"
)
_PARQUET_FILTERS = (
    "https://github.com/apache/spark/blob/master/sql/core/src/main/scala/org/apache/spark/sql/"
    "execution/datasources/parquet/ParquetFilters.scala"
)
_IN_FILTER = "spark.sql.parquet.pushdown.inFilterThreshold"
_ICEBERG_METRICS = (
    "https://github.com/apache/iceberg/blob/main/api/src/main/java/org/apache/iceberg/"
    "expressions/InclusiveMetricsEvaluator.java"
)

_UNWRAPPED = frozenset({Feature.CAST_TO_DATE, Feature.CAST_OF_NUMBER})
"""Casts that Catalyst takes off a column by changing the literal."""

PARQUET_READER = (
    Rule(
        id="SPARK_PARQUET_WALL_CLOCK",
        concerns=frozenset({Feature.WALL_CLOCK}),
        levels=frozenset({ROW_GROUPS}),
        unless=frozenset({Feature.IS_NULL, Feature.IS_NOT_NULL}),
        effect=RuleEffect.NOT_USED,
        effect_text="timestamps without time zone are not compared with statistics of row groups",
        source=_PARQUET_FILTERS,
        evidence=RuleEvidence.DOCUMENTED,
    ),
    Rule(
        id="SPARK_PARQUET_COMPUTED",
        any_of=COMPUTED,
        unless=_UNWRAPPED,
        levels=frozenset({ROW_GROUPS}),
        effect=RuleEffect.NOT_NULL,
        effect_text="functions on a column are not pushed to row groups",
        source=_PARQUET_FILTERS,
        evidence=RuleEvidence.DOCUMENTED,
        instead=(Alternative.RANGE_OF_COLUMN,),
    ),
    Rule(
        id="SPARK_PARQUET_COLUMNS_COMPARED",
        concerns=frozenset({Feature.COLUMN_TO_COLUMN}),
        levels=frozenset({ROW_GROUPS}),
        effect=RuleEffect.NOT_NULL,
        effect_text="two columns are not compared by their statistics",
        source=_PARQUET_FILTERS,
        evidence=RuleEvidence.DOCUMENTED,
    ),
    Rule(
        id="SPARK_PARQUET_IN_RANGE",
        concerns=frozenset({Feature.LIST}),
        longer_than=10,
        levels=frozenset({ROW_GROUPS}),
        effect=RuleEffect.RANGE,
        effect_text="a list of more than 10 values becomes one range",
        source=_IN_FILTER,
        evidence=RuleEvidence.DOCUMENTED,
        instead=(Alternative.SHORTER_LISTS,),
    ),
    Rule(
        id="SPARK_PARQUET_PATTERN",
        any_of=frozenset({Feature.PATTERN, Feature.NOT_LIKE, Feature.CASE_BLIND}),
        levels=frozenset({ROW_GROUPS}),
        effect=RuleEffect.NOT_NULL,
        effect_text="a pattern that does not begin with text prunes by dictionaries alone",
        source=_PARQUET_FILTERS,
        evidence=RuleEvidence.DOCUMENTED,
    ),
    Rule(
        id="SPARK_PARQUET_MIXED_OR",
        concerns=frozenset({Feature.OR, Feature.MIXED}),
        levels=frozenset({ROW_GROUPS}),
        effect=RuleEffect.NOT_USED,
        effect_text="an OR with a partition column is not pushed to row groups",
        source=_PARQUET_FILTERS,
        evidence=RuleEvidence.DOCUMENTED,
    ),
)

DELTA_FILES = (
    Rule(
        id="SPARK_DELTA_MIXED",
        concerns=frozenset({Feature.MIXED}),
        levels=frozenset({FILES}),
        effect=RuleEffect.NOT_USED,
        effect_text="a condition on partition columns and others together prunes nothing",
        source=_SKIPPING,
        evidence=RuleEvidence.DOCUMENTED,
    ),
    Rule(
        id="SPARK_DELTA_COMPUTED",
        any_of=COMPUTED,
        unless=_UNWRAPPED | {Feature.PARTITION},
        levels=frozenset({FILES}),
        effect=RuleEffect.NOT_NULL,
        effect_text="functions on a column prune nothing by its bounds",
        source=_SKIPPING,
        evidence=RuleEvidence.DOCUMENTED,
        instead=(Alternative.RANGE_OF_COLUMN,),
    ),
    Rule(
        id="SPARK_DELTA_COLUMNS_COMPARED",
        concerns=frozenset({Feature.COLUMN_TO_COLUMN}),
        unless=frozenset({Feature.PARTITION}),
        levels=frozenset({FILES}),
        effect=RuleEffect.NOT_NULL,
        effect_text="two columns are not compared by their bounds",
        source=_SKIPPING,
        evidence=RuleEvidence.DOCUMENTED,
    ),
    Rule(
        id="SPARK_DELTA_IN_RANGE",
        concerns=frozenset({Feature.LIST}),
        unless=frozenset({Feature.PARTITION}),
        levels=frozenset({FILES}),
        effect=RuleEffect.RANGE,
        effect_text="a list becomes the range from its least to its greatest value",
        source=_SKIPPING,
        evidence=RuleEvidence.DOCUMENTED,
        instead=(Alternative.SHORTER_LISTS,),
    ),
    Rule(
        id="SPARK_DELTA_NOT_IN",
        any_of=frozenset({Feature.NOT_IN_LIST, Feature.NOT_LIKE}),
        unless=frozenset({Feature.PARTITION}),
        levels=frozenset({FILES}),
        effect=RuleEffect.NOT_NULL,
        effect_text="NOT before a list or a pattern prunes nothing",
        source=_SKIPPING,
        evidence=RuleEvidence.DOCUMENTED,
    ),
    Rule(
        id="SPARK_DELTA_PATTERN",
        any_of=frozenset({Feature.PATTERN, Feature.CASE_BLIND}),
        unless=frozenset({Feature.PARTITION}),
        levels=frozenset({FILES}),
        effect=RuleEffect.NOT_NULL,
        effect_text="a pattern that does not begin with text prunes nothing",
        source=_SKIPPING,
        evidence=RuleEvidence.DOCUMENTED,
    ),
    Rule(
        id="SPARK_DELTA_BARE_BOOLEAN",
        concerns=frozenset({Feature.BARE_BOOLEAN}),
        unless=frozenset({Feature.PARTITION}),
        levels=frozenset({FILES}),
        effect=RuleEffect.NOT_NULL,
        effect_text="a boolean column by itself prunes nothing",
        source=_SKIPPING,
        evidence=RuleEvidence.DOCUMENTED,
    ),
)

ICEBERG_CONVERSION = (
    Rule(
        id="SPARK_ICEBERG_COMPUTED",
        any_of=COMPUTED,
        unless=_UNWRAPPED,
        effect=RuleEffect.NOT_NULL,
        effect_text="functions on a column are not pushed to Iceberg, except its own transforms",
        source="https://iceberg.apache.org/docs/latest/spark-queries/",
        evidence=RuleEvidence.DOCUMENTED,
        instead=(Alternative.RANGE_OF_COLUMN,),
    ),
    Rule(
        id="SPARK_ICEBERG_COLUMNS_COMPARED",
        concerns=frozenset({Feature.COLUMN_TO_COLUMN}),
        effect=RuleEffect.NOT_NULL,
        effect_text="two columns are not compared by their bounds",
        source=_ICEBERG_METRICS,
        evidence=RuleEvidence.DOCUMENTED,
    ),
    Rule(
        id="SPARK_ICEBERG_PATTERN",
        any_of=frozenset({Feature.PATTERN, Feature.CASE_BLIND, Feature.NOT_LIKE}),
        effect=RuleEffect.NOT_NULL,
        effect_text="only a pattern that begins with text is pushed to Iceberg",
        source="https://iceberg.apache.org/docs/latest/spark-queries/",
        evidence=RuleEvidence.DOCUMENTED,
    ),
    Rule(
        id="SPARK_ICEBERG_IN_LIMIT",
        concerns=frozenset({Feature.LIST}),
        longer_than=200,
        effect=RuleEffect.NOT_USED,
        effect_text="an IN list of more than 200 values is not checked against bounds",
        source="https://github.com/apache/iceberg/issues/1588",
        evidence=RuleEvidence.DOCUMENTED,
        instead=(Alternative.RANGE_BESIDE_LIST, Alternative.SHORTER_LISTS),
    ),
    Rule(
        id="SPARK_ICEBERG_UNEQUAL_OF_PARTITION",
        any_of=frozenset({Feature.INEQUALITY, Feature.NOT_IN_LIST}),
        levels=frozenset({FILES}),
        effect=RuleEffect.PARTITION_VALUES_ONLY,
        effect_text="<> and NOT IN are not checked against bounds",
        source=_ICEBERG_METRICS,
        evidence=RuleEvidence.DOCUMENTED,
    ),
    Rule(
        id="SPARK_ICEBERG_UNEQUAL",
        any_of=frozenset({Feature.INEQUALITY, Feature.NOT_IN_LIST}),
        levels=frozenset({MANIFESTS, ROW_GROUPS}),
        effect=RuleEffect.NOT_USED,
        effect_text="<> and NOT IN are not checked against bounds",
        source=_ICEBERG_METRICS,
        evidence=RuleEvidence.DOCUMENTED,
    ),
    Rule(
        id="SPARK_ICEBERG_MIXED",
        concerns=frozenset({Feature.OR, Feature.MIXED}),
        levels=frozenset({FILES}),
        effect=RuleEffect.SEPARATELY,
        effect_text="partition values and bounds are checked one after the other",
        source=_ICEBERG_METRICS,
        evidence=RuleEvidence.DOCUMENTED,
    ),
)

SPARK_DELTA = EngineRules(
    name="spark-delta",
    title="Spark with Delta",
    formats={"delta": frozenset({FILES, ROW_GROUPS})},
    versions=("4.4.0", "3.3.3"),
    measured=("4.4.0",),
    written_for="the version of Delta",
    rules=(*DELTA_FILES, *PARQUET_READER),
    common=True,
)
SPARK_ICEBERG = EngineRules(
    name="spark-iceberg",
    title="Spark with Iceberg",
    formats={"iceberg": frozenset({MANIFESTS, FILES, ROW_GROUPS})},
    versions=("1.12.0", "1.11.0"),
    measured=("1.12.0",),
    written_for="the version of Iceberg",
    rules=ICEBERG_CONVERSION,
    common=True,
)
SPARK_PARQUET = EngineRules(
    name="spark-parquet",
    title="Spark on Parquet files",
    formats={
        "hive": frozenset({FILES, ROW_GROUPS}),
        "parquet": frozenset({FILES, ROW_GROUPS}),
    },
    versions=("4.1.4", "4.0.3", "3.5.8"),
    measured=("4.1.4",),
    package="pyspark",
    rules=PARQUET_READER,
    common=True,
)
