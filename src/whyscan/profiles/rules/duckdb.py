"""DuckDB: `read_parquet`, and the extensions that read Delta and Iceberg."""

from whyscan.planning.plan.evidence import FILES, MANIFESTS, ROW_GROUPS
from whyscan.profiles.features import COMPUTED, Feature
from whyscan.profiles.rule import Alternative, EngineRules, Rule, RuleEffect, RuleEvidence

_PEERS = "docs/peers.md"
_DELTA = frozenset({"delta"})
_ICEBERG = frozenset({"iceberg"})
_FILES_OF_PARQUET = frozenset({"hive", "parquet"})

RULES = (
    Rule(
        id="DUCKDB_DELTA_OR",
        concerns=frozenset({Feature.OR}),
        formats=_DELTA,
        effect=RuleEffect.NOT_USED,
        effect_text="delta_scan skips nothing by an OR",
        source="https://github.com/duckdb/duckdb-delta/issues/165",
        evidence=RuleEvidence.DOCUMENTED,
    ),
    Rule(
        id="DUCKDB_DELTA_IN",
        concerns=frozenset({Feature.LIST}),
        formats=_DELTA,
        effect=RuleEffect.NOT_USED,
        effect_text="delta_scan skips nothing by an IN list",
        source="https://github.com/duckdb/duckdb-delta/issues/165",
        evidence=RuleEvidence.DOCUMENTED,
        instead=(Alternative.RANGE_BESIDE_LIST,),
    ),
    Rule(
        id="DUCKDB_LAKE_COMPUTED",
        any_of=COMPUTED,
        formats=_DELTA | _ICEBERG,
        effect=RuleEffect.NOT_USED,
        effect_text="functions on a column skip no file",
        source=_PEERS,
        evidence=RuleEvidence.DOCUMENTED,
        instead=(Alternative.RANGE_OF_COLUMN,),
    ),
    Rule(
        id="DUCKDB_ICEBERG_OR",
        concerns=frozenset({Feature.OR}),
        formats=_ICEBERG,
        effect=RuleEffect.NOT_USED,
        effect_text="iceberg_scan skips nothing by an OR",
        source=_PEERS,
        evidence=RuleEvidence.DOCUMENTED,
    ),
    Rule(
        id="DUCKDB_ICEBERG_NESTED",
        concerns=frozenset({Feature.NESTED}),
        formats=_ICEBERG,
        effect=RuleEffect.NOT_USED,
        effect_text="iceberg_scan skips nothing by a field of a struct",
        source=_PEERS,
        evidence=RuleEvidence.DOCUMENTED,
    ),
    Rule(
        id="DUCKDB_OR_OF_COLUMNS",
        concerns=frozenset({Feature.OR_OF_COLUMNS}),
        formats=_FILES_OF_PARQUET,
        levels=frozenset({ROW_GROUPS}),
        effect=RuleEffect.NOT_USED,
        effect_text="an OR across columns skips no row group",
        source="https://github.com/duckdb/duckdb/issues/21750",
        evidence=RuleEvidence.DOCUMENTED,
    ),
    Rule(
        id="DUCKDB_TIME_OF_TIMESTAMP",
        any_of=frozenset({Feature.FUNCTION, Feature.CAST}),
        unless=frozenset({Feature.DATE, Feature.STRING, Feature.INTEGER}),
        formats=_FILES_OF_PARQUET,
        levels=frozenset({ROW_GROUPS}),
        effect=RuleEffect.NOT_USED,
        effect_text="functions and casts of a timestamp skip no row group",
        source=_PEERS,
        evidence=RuleEvidence.DOCUMENTED,
        instead=(Alternative.RANGE_OF_COLUMN,),
    ),
    Rule(
        id="DUCKDB_CAST_OF_NUMBER",
        concerns=frozenset({Feature.CAST_OF_NUMBER}),
        formats=_FILES_OF_PARQUET,
        levels=frozenset({ROW_GROUPS}),
        effect=RuleEffect.NOT_USED,
        effect_text="a number compared with a number of another type skips no row group",
        source=_PEERS,
        evidence=RuleEvidence.DOCUMENTED,
        instead=(Alternative.RANGE_OF_COLUMN,),
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
    measured=("2.0.0", "1.5.5"),
    package="duckdb",
    rules=RULES,
    common=True,
)
