"""DuckDB: `read_parquet`, and the extensions that read Delta and Iceberg."""

from typing import TypedDict

from whyscan.planning.plan.evidence import FILES, MANIFESTS, ROW_GROUPS
from whyscan.profiles.features import COMPARED, COMPUTED, Feature
from whyscan.profiles.rule import MATRIX, Alternative, EngineRules, Rule, RuleEffect, RuleEvidence
from whyscan.tables.snapshot import FilterKind

_PEERS = "docs/peers.md"
_DELTA = frozenset({"delta"})
_ICEBERG = frozenset({"iceberg"})
_FILES_OF_PARQUET = frozenset({"hive", "parquet"})

_STATISTICS = "https://github.com/duckdb/duckdb/pull/23264"
_WITH_STATISTICS = frozenset(
    {
        *("+", "-", "*", "/", "negative", "abs", "floor", "ceil", "round", "greatest"),
        *("year", "month", "day", "quarter", "date_trunc", "trunc", "date_add", "datediff"),
        *("upper", "lower", "substring", "left", "length", "startswith", "rlike"),
    }
)
"""The functions and operators by whose statistics DuckDB 2.0 leaves out row groups."""


class _Common(TypedDict):
    formats: frozenset[str]
    evidence: RuleEvidence
    test: str


_OF_PARQUET: _Common = {
    "formats": _FILES_OF_PARQUET,
    "evidence": RuleEvidence.MEASURED,
    "test": MATRIX,
}

RULES = (
    Rule(
        id="DUCKDB_DELTA_OR",
        concerns=frozenset({Feature.OR}),
        formats=_DELTA,
        effect=RuleEffect.NOT_USED,
        effect_text="delta_scan skips nothing by an OR",
        source="https://github.com/duckdb/duckdb-delta/issues/165",
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="DUCKDB_DELTA_IN",
        concerns=frozenset({Feature.LIST}),
        longer_than=1,
        formats=_DELTA,
        effect=RuleEffect.NOT_USED,
        effect_text="delta_scan skips nothing by an IN list",
        source="https://github.com/duckdb/duckdb-delta/issues/165",
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
        instead=(Alternative.RANGE_BESIDE_LIST,),
    ),
    Rule(
        id="DUCKDB_DELTA_TIMESTAMP",
        any_of=frozenset({Feature.INSTANT, Feature.WALL_CLOCK}),
        concerns=frozenset({Feature.ORDER, Feature.BARE}),
        formats=_DELTA,
        effect=RuleEffect.ALONE,
        effect_text="delta_scan skips nothing where a timestamp is compared",
        source=_PEERS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="DUCKDB_DELTA_NULL",
        any_of=frozenset({Feature.INSTANT, Feature.WALL_CLOCK, Feature.IS_NULL}),
        formats=_DELTA,
        effect=RuleEffect.NOT_USED,
        effect_text="delta_scan skips nothing by IS NULL, or by a timestamp",
        source=_PEERS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="DUCKDB_LAKE_CONDITION",
        any_of=frozenset(
            {
                *(Feature.NOT_IN_LIST, Feature.NULL_SAFE_EQUALITY, Feature.IS_NOT_NULL),
                *(Feature.NULL_IN_LIST, Feature.BARE_BOOLEAN, Feature.SEVERAL_COLUMNS),
                *(Feature.PATTERN, Feature.NOT_LIKE, Feature.CASE_BLIND),
            }
        ),
        formats=_DELTA | _ICEBERG,
        effect=RuleEffect.NOT_USED,
        effect_text="only =, <, >, lists and starts of texts skip files",
        source=_PEERS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
        instead=(Alternative.RANGE_OF_COLUMN,),
    ),
    Rule(
        id="DUCKDB_DELTA_PREFIX_OF_FIELD",
        concerns=frozenset({Feature.NESTED, Feature.PREFIX}),
        formats=_DELTA,
        effect=RuleEffect.NOT_USED,
        effect_text="LIKE on a field of a struct skips no file",
        source=_PEERS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="DUCKDB_LAKE_COMPUTED_NUMBER",
        any_of=frozenset(
            {Feature.DECIMAL, Feature.FLOAT, Feature.DATE, Feature.INSTANT, Feature.WALL_CLOCK}
        ),
        concerns=frozenset({Feature.ARITHMETIC}),
        formats=_DELTA | _ICEBERG,
        effect=RuleEffect.NOT_USED,
        effect_text="arithmetic skips files only where it moves whole numbers",
        source=_PEERS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
        instead=(Alternative.RANGE_OF_COLUMN,),
    ),
    Rule(
        id="DUCKDB_LAKE_COMPUTED",
        any_of=COMPUTED,
        but_not=frozenset({"+", "-", "*", "rlike", "date_trunc"}),
        formats=_DELTA | _ICEBERG,
        effect=RuleEffect.NOT_USED,
        effect_text="functions on a column skip no file",
        source=_PEERS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
        instead=(Alternative.RANGE_OF_COLUMN,),
    ),
    Rule(
        id="DUCKDB_ICEBERG_UNEQUAL",
        concerns=frozenset({Feature.INEQUALITY}),
        formats=_ICEBERG,
        effect=RuleEffect.NOT_USED,
        effect_text="iceberg_scan skips nothing by <>",
        source=_PEERS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="DUCKDB_ICEBERG_OR",
        concerns=frozenset({Feature.OR}),
        formats=_ICEBERG,
        effect=RuleEffect.NOT_USED,
        effect_text="iceberg_scan skips nothing by an OR",
        source=_PEERS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="DUCKDB_ICEBERG_NESTED",
        concerns=frozenset({Feature.NESTED}),
        formats=_ICEBERG,
        effect=RuleEffect.NOT_USED,
        effect_text="iceberg_scan skips nothing by a field of a struct",
        source=_PEERS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="DUCKDB_ICEBERG_ONLY_NULL",
        any_of=COMPARED,
        formats=_ICEBERG,
        effect=RuleEffect.NOT_ONLY_NULL,
        effect_text="a comparison does not leave out files in which its column is only NULL",
        source=_PEERS,
        evidence=RuleEvidence.MEASURED,
        test=MATRIX,
    ),
    Rule(
        id="DUCKDB_OR_OF_COLUMNS",
        concerns=frozenset({Feature.OR_OF_COLUMNS}),
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.COLUMN_BY_COLUMN,
        effect_text="an OR skips row groups only by columns that each of its branches restricts",
        source="https://github.com/duckdb/duckdb/issues/21750",
        **_OF_PARQUET,
    ),
    Rule(
        id="DUCKDB_SEVERAL_COLUMNS",
        concerns=frozenset({Feature.SEVERAL_COLUMNS}),
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.NOT_USED,
        effect_text="a condition on several columns skips no row group",
        source=_PEERS,
        **_OF_PARQUET,
    ),
    Rule(
        id="DUCKDB_NOT_IN_NULL",
        concerns=frozenset({Feature.NOT_IN_LIST, Feature.NULL_IN_LIST}),
        effect=RuleEffect.NOT_USED,
        effect_text="that NOT IN with NULL in the list is never TRUE is not seen",
        source=_STATISTICS,
        **_OF_PARQUET,
    ),
    Rule(
        id="DUCKDB_NOT_IN",
        concerns=frozenset({Feature.NOT_IN_LIST}),
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.ONE_VALUE,
        effect_text="NOT IN skips only row groups in which its column has one value",
        source=_PEERS,
        **_OF_PARQUET,
    ),
    Rule(
        id="DUCKDB_CASE",
        any_of=frozenset(
            {
                *(Feature.CASE, Feature.COALESCE, Feature.CASE_BLIND, Feature.CAST_TO_TEXT),
                Feature.OTHER_CONDITION,
            }
        ),
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.NOT_USED,
        effect_text="CASE, COALESCE, ILIKE and casts to text skip no row group",
        source=_STATISTICS,
        instead=(Alternative.RANGE_OF_COLUMN,),
        **_OF_PARQUET,
    ),
    Rule(
        id="DUCKDB_PART_OF_INSTANT",
        concerns=frozenset({Feature.INSTANT}),
        any_of=frozenset({Feature.FUNCTION, Feature.ARITHMETIC}),
        unless=frozenset({Feature.PARTITION}),
        but_not=frozenset({"date_trunc"}),
        effect=RuleEffect.NOT_USED,
        effect_text="parts of a timestamp with time zone and sums with it skip no row group",
        source=_STATISTICS,
        instead=(Alternative.RANGE_OF_COLUMN,),
        **_OF_PARQUET,
    ),
    Rule(
        id="DUCKDB_FUNCTION",
        any_of=frozenset({Feature.FUNCTION, Feature.ARITHMETIC, Feature.BOOLEAN_CALL}),
        unless=frozenset({Feature.PARTITION}),
        but_not=_WITH_STATISTICS,
        effect=RuleEffect.ONE_VALUE,
        effect_text="a function that has no rule for statistics skips no row group",
        source=_STATISTICS,
        instead=(Alternative.RANGE_OF_COLUMN,),
        **_OF_PARQUET,
    ),
    Rule(
        id="DUCKDB_DECIMAL_LITERAL",
        concerns=frozenset({Feature.CAST_OF_NUMBER, Feature.EQUALITY, Feature.DECIMAL}),
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.AT_LEAST,
        effect_text="a number with more digits than the column can have is looked for",
        source=_STATISTICS,
        **_OF_PARQUET,
    ),
    Rule(
        id="DUCKDB_CAST_OF_TIME",
        any_of=frozenset({Feature.CAST_TO_DATE, Feature.CAST_OF_DATE}),
        unless=frozenset({Feature.PARTITION, Feature.LIST}),
        effect=RuleEffect.INCLUSIVE,
        effect_text="a cast of a date or timestamp is compared with its bound",
        source=_STATISTICS,
        **_OF_PARQUET,
    ),
    Rule(
        id="DUCKDB_CAST_IN_LIST",
        any_of=frozenset({Feature.CAST_TO_DATE, Feature.CAST_OF_DATE}),
        concerns=frozenset({Feature.LIST}),
        unless=frozenset({Feature.PARTITION}),
        effect=RuleEffect.NOT_USED,
        effect_text="a list of dates beside a cast skips no row group",
        source=_STATISTICS,
        instead=(Alternative.RANGE_OF_COLUMN,),
        **_OF_PARQUET,
    ),
)

DUCKDB = EngineRules(
    name="duckdb",
    title="DuckDB",
    formats={
        "delta": frozenset({FILES, ROW_GROUPS}),
        "iceberg": frozenset({MANIFESTS, FILES, ROW_GROUPS}),
        "hive": frozenset({FILES, ROW_GROUPS}),
        "parquet": frozenset({FILES, ROW_GROUPS}),
    },
    versions=("2.0.0", "1.5.5", "1.4.4"),
    measured={
        "delta": ("1.5.5",),
        "iceberg": ("1.5.5",),
        "hive": ("2.0.0",),
        "parquet": ("2.0.0",),
    },
    package="duckdb",
    filters=frozenset({FilterKind.BLOOM}),
    rules=RULES,
    common=True,
)
