"""A dbt model's own text: what its query reads, and what its strategy does to the table."""

from __future__ import annotations

import pytest

import whyscan
from support.commands import whyscan as run
from support.statement_reports import orders
from whyscan.errors import SyntaxProblem, UnknownTable
from whyscan.statements.changes.dbt import is_model
from whyscan.statements.roles import Role
from whyscan.table import Table

MODEL = """\
{{{{ config(materialized='incremental', {settings}) }}}}
select month, user, amount from {{{{ source('raw', 'orders') }}}}
{{% if is_incremental() %}}
where month >= 3 and amount > {{{{ var('least', 99) }}}}  -- the last months
{{% endif %}}
"""


def explained(text, dialect="spark"):
    tables = {"this": Table(orders()), "raw.orders": Table(orders(4))}
    return whyscan.explain_sql(text, tables, dialect=dialect, depth="files")


def model(settings, dialect="spark"):
    return explained(MODEL.format(settings=settings), dialect)


def read(report, name):
    (scan,) = [scan for scan in report.scans if scan.name == name]
    return scan.report.files_level.kept


def target(report):
    (target_scan,) = [scan for scan in report.scans if scan.role is Role.TARGET]
    return target_scan


@pytest.mark.parametrize("dialect", ["spark", "snowflake", "bigquery", "duckdb", "trino"])
def test_merge_searches_the_table_for_the_key_and_may_rewrite_what_it_finds(dialect):
    report = model("incremental_strategy='merge', unique_key='user'", dialect)

    assert report.operation == "merge"
    assert read(report, "raw.orders") == 2
    assert read(report, "this") == 24
    assert target(report).rewrite.rewritten.files == 24
    assert target(report).dynamic.bounded.files == 4
    assert report.notes[0] == "an incremental run of a dbt model, by the strategy merge"


def test_a_key_that_holds_the_partition_lets_the_models_own_filter_through():
    report = model("incremental_strategy='merge', unique_key=['user', 'month']")

    assert read(report, "this") == 20


def test_predicates_of_the_model_filter_the_table():
    predicates = "incremental_predicates=['DBT_INTERNAL_DEST.month in (3, 4)']"
    report = model(f"incremental_strategy='merge', unique_key='user', {predicates}")

    assert read(report, "this") == 4


def test_merge_without_a_key_only_inserts():
    report = model("incremental_strategy='merge'")

    assert read(report, "this") == 0
    assert target(report).rewrite.rewritten.files == 0


def test_append_reads_nothing_of_the_table():
    report = model("incremental_strategy='append'")

    assert [scan.name for scan in report.scans] == ["raw.orders"]


def test_delete_and_insert_may_rewrite_what_the_key_finds():
    report = model("incremental_strategy='delete+insert', unique_key=['month']")

    assert report.operation == "delete"
    assert target(report).rewrite.rewritten.files == 20
    assert target(report).dynamic.bounded.files == 4


def test_insert_overwrite_replaces_at_most_the_partitions_that_the_filter_leaves():
    report = model("incremental_strategy='insert_overwrite', partition_by=['month']")

    assert target(report).rewrite.removed.files == 20
    assert target(report).reading.kept == 0
    assert any(note.startswith("a partition is replaced only if") for note in report.notes)


def test_insert_overwrite_without_partitions_replaces_the_whole_table():
    report = model("incremental_strategy='insert_overwrite'")

    assert target(report).rewrite.removed.files == 24


def test_partitions_that_the_model_lists_are_replaced():
    by = "partition_by={'field': 'month', 'data_type': 'int64'}, partitions=['3', '4']"
    report = model(f"incremental_strategy='insert_overwrite', {by}", "bigquery")

    assert target(report).rewrite.removed.files == 4


def test_replace_where_replaces_what_the_models_predicates_name():
    predicates = "incremental_predicates=['month >= 3', 'month < 5']"
    report = model(f"incremental_strategy='replace_where', {predicates}", "databricks")

    assert target(report).rewrite.removed.files == 4


@pytest.mark.parametrize(
    ("dialect", "operation"),
    [("spark", "insert"), ("databricks", "merge"), ("bigquery", "merge"), ("postgres", "delete")],
)
def test_a_model_that_names_no_strategy_has_its_adapters(dialect, operation):
    assert model("unique_key='user'", dialect).operation == operation


def test_the_newest_row_of_the_table_filters_the_source():
    text = "{{ config(materialized='incremental') }} select * from {{ ref('raw', 'orders') }} "
    report = explained(text + "where month > (select max(month) from {{ this }})")

    assert target_free(report)
    source = next(scan for scan in report.scans if scan.name == "raw.orders")
    assert source.dynamic.bounded.files == 0


def target_free(report):
    return all(scan.role is Role.READ for scan in report.scans)


def test_another_materialization_is_its_query():
    report = explained("{{ config(materialized='table') }} select * from {{ ref('orders') }}")

    assert (report.operation, report.sql) == ("select", "select * from orders")


def test_compiled_sql_is_a_statement_like_any_other():
    assert explained("select * from raw.orders where month = 3").notes == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("select {{ dbt_utils.star(ref('orders')) }}", "'dbt_utils' is undefined"),
        ("select * from orders where m > {{ var('m') + 1 }}", "variable 'm' has no default"),
        ("select {% if var('e') | lower == 'x' %} 1 {% endif %}", "variable 'e' has no default"),
        ("{% set e %}{{ var('e') }}{% endset %}{% if e == 'x' %} 1 {% endif %}",
         "variable 'e' has no default"),
        ("select {% if %} 1", "this is not Jinja"),
        ("select {{ 1 / 0 }}", "cannot be rendered: division by zero"),
        ("select {{ ''.__class__.__mro__ }}", "dbt alone can render this"),
        ("{{ config(materialized='incremental', incremental_strategy='microbatch') }} select 1",
         "the strategy 'microbatch' of dbt is not known"),
    ],
)  # fmt: skip
def test_what_only_dbt_can_render_is_refused_with_what_to_do(text, message):
    with pytest.raises(SyntaxProblem) as refused:
        explained(text)

    assert message in refused.value.message


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("month = {{ var('m') }} and user > 0", 8),
        ("month = 3 and amount > {{ env_var('LEAST') }}", 2),
        ("month = '{{ var('m') }}'", 8),
        ("month = '{{ var(\"m\") }}'", 8),
        ('month = \'{{ var("m", "3") }}\'', 2),
        ("month = 3 -- {{ var('m') }}", 2),
        ("/* {% if false %} */ month = 3 and /* {% endif %} */ user > 0", 8),
        ("month = 3 or user = '{{ ds }}'", 8),
    ],
)
def test_a_variable_without_a_default_has_an_unknown_value(condition, expected):
    report = explained(f"select * from raw.orders where {condition}")

    assert read(report, "raw.orders") == expected


def test_the_notes_name_the_variables_that_are_unknown():
    report = explained("select * from orders where month = {{ var('m') }}")

    assert report.notes == ("the value of 'm' is unknown: the model has no default",)


def test_an_unknown_table_is_named():
    with pytest.raises(UnknownTable, match=r"'raw\.orders'") as unknown:
        whyscan.explain_sql(MODEL.format(settings="unique_key='user'"))

    assert unknown.value.hint == "say where it is: --table raw.orders=URI"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select * from {{ ref('a') }}", True),
        ("select 1 {% if x %} {% endif %}", True),
        ("select '{{' from t", False),
        ("select 'it''s {{ no }}' from t -- }}", False),
        ('select "{{" from `{%` /* {{ */', False),
        ("select * from t where d = '{{ ds }}'", False),
        ("select * from t where d = '{{ var(\"d\") }}'", True),
        ("select * from t where d = '{{ var('d') }}'", True),
        ("select * from `{{ this }}`", True),
        ("select * from t -- {% if x %}\nwhere a = 1 -- {% endif %}", True),
        ("select '{{ var(1) }}' from {{ this }}", True),
        ("select 'never closed {{ this }}", True),
    ],
)
def test_jinja_is_distinguished_from_text_that_looks_like_it(text, expected):
    assert is_model(text) is expected


def test_the_command_line_takes_a_models_file(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    for month in (1, 2):
        place = tmp_path / "t" / f"month={month}"
        place.mkdir(parents=True)
        pq.write_table(pa.table({"user": [month]}), place / "a.parquet")
    file = tmp_path / "model.sql"
    file.write_text("select * from {{ ref('t') }} where month = 2\n")
    result = run("explain", "--sql", f"@{file}", "--table", f"t={tmp_path / 't'}", cwd=tmp_path)

    assert "reads 1 of 2 files" in result.out
