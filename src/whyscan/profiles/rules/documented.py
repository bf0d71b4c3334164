"""Engines that were never run here: what their documentation says that they skip by.

These rules are told and not applied: no number rests on them. `docs/engines.md` lists them.
"""

from __future__ import annotations

from msgspec import Struct

from whyscan.profiles.rule import RuleEvidence


class DocumentedRule(Struct, frozen=True, kw_only=True):
    """What an engine does by its own documentation, tracker or source."""

    id: str
    engine: str
    effect_text: str
    source: str
    evidence: RuleEvidence = RuleEvidence.DOCUMENTED


DOCUMENTED_RULES = (
    DocumentedRule(
        id="ATHENA_PROJECTION",
        engine="Athena",
        effect_text="with partition projection, partitions of the catalog are ignored: values are "
        "computed from the properties of the table, and a column of the type `injected` needs an "
        "equality",
        source="https://docs.aws.amazon.com/athena/latest/ug/partition-projection.html",
    ),
    DocumentedRule(
        id="ATHENA_OPTIMIZE_WHERE",
        engine="Athena",
        effect_text="OPTIMIZE … WHERE takes partition columns only",
        source="https://issues.apache.org/jira/browse/HIVE-28537",
    ),
    DocumentedRule(
        id="BIGQUERY_CONSTANTS",
        engine="BigQuery",
        effect_text="partitions are pruned by constants: a subquery in the condition reads all of "
        "them",
        source="https://cloud.google.com/bigquery/docs/querying-partitioned-tables",
    ),
    DocumentedRule(
        id="BIGQUERY_CLUSTERING",
        engine="BigQuery",
        effect_text="what clustering skips is not in the estimate of a dry run",
        source="https://cloud.google.com/bigquery/docs/clustered-tables",
    ),
    DocumentedRule(
        id="SNOWFLAKE_ICEBERG",
        engine="Snowflake",
        effect_text="files are pruned by their bounds, and row groups and pages where footers have "
        "complete statistics",
        source="https://www.snowflake.com/en/engineering-blog/iceberg-data-pruning/",
    ),
    DocumentedRule(
        id="REDSHIFT_FUNCTION",
        engine="Redshift",
        effect_text="a function or a cast around the sort key makes zone maps useless",
        source="https://docs.aws.amazon.com/redshift/latest/dg/c_best-practices-sort-key.html",
    ),
    DocumentedRule(
        id="CLICKHOUSE_ICEBERG_PARTITIONS",
        engine="ClickHouse",
        effect_text="partitions of Iceberg tables are pruned by identity, year, month, day and "
        "hour, not by bucket and truncate, if `use_iceberg_partition_pruning` is on",
        source="https://clickhouse.com/docs/engines/table-engines/integrations/iceberg",
    ),
    DocumentedRule(
        id="CLICKHOUSE_PARQUET",
        engine="ClickHouse",
        effect_text="row groups are pruned by statistics, and by Bloom filters, pages and "
        "dictionaries, each by a setting `input_format_parquet_…_push_down`",
        source="https://clickhouse.com/docs/interfaces/formats/Parquet",
    ),
    DocumentedRule(
        id="STARROCKS_RUNTIME_FILTER",
        engine="StarRocks",
        effect_text="what a join gives at run time is checked on rows of opened files, and not on "
        "the bounds in manifests",
        source="https://github.com/StarRocks/starrocks/issues/71005",
    ),
)
