# ruff: noqa: E501  a case is a line
"""dbt models that never end, ask for all memory, or set what no run could execute."""

from __future__ import annotations

import pytest

LIMITED = {
    "loops in loops": "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "a loop that writes": "{% for i in range(99999) %}{% for j in range(99999) %}aaaaaaaaaaaaaaaa{% endfor %}{% endfor %}",
    "lipsum": "{{ lipsum(n=1000000) }}",
    "text times a number": "{{ 'a' * 10**10 }}",
    "a number times text": "{{ 10**10 * 'a' }}",
    "a list times a number": "{{ ([0] * 10**10) | length }}",
    "a range as a list": "{{ range(10**9) | list }}",
    "a printed width": "{{ '%1000000000d' % 1 }}",
    "a printed precision": "{{ '%.1000000000f' % 1 }}",
    "a formatted width": "{{ '{:1000000000}'.format(1) }}",
    "the filter format": "{{ '%10000000000s' | format('a') }}",
    "ljust": "{{ 'a'.ljust(10**10) }}",
    "zfill": "{{ 'a'.zfill(10**10) }}",
    "expandtabs": "{{ '\\t'.expandtabs(10**9) }}",
    "a power of a power": "{{ 10**10**10 }}",
    "a long number": "{{ 10 ** 100000 }}",
    "a shift by pow": "{{ (2 ** 10**9) % 7 }}",
    "center": "{{ 'a' | center(10**10) }}",
    "indent": "{{ 'a\\nb' | indent(10**9) }}",
    "wordwrap": "{{ ('a ' * 10**9) | wordwrap(1) }}",
    "join over ranges": "{{ range(99999) | join('a' * 99999) }}",
    "replace": "{{ ('a' * 99999).replace('a', 'a' * 99999) }}",
    "doubling": "{% set ns = namespace(x='a') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
    "appending": "{% set x = [] %}{% for i in range(99999) %}{% do x.append('a' * 99999) %}{% endfor %}",
    "a macro of itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "macros of each other": "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}",
    "a recursive loop": "{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "a fork of macros": "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}",
    "include": "{% include 'self' %}",
    "import": "{% import 'self' as me %}",
    "extends": "{% extends 'self' %}",
    "a list in itself": "{% set x = [] %}{% do x.append(x) %}{{ config(unique_key=x) }}",
    "sorted products": "{{ (range(99999) | list * 999) | sort | unique | list | length }}",
    "slices": "{{ range(99999) | slice(10**9) | list }}",
    "batches": "{{ range(9) | batch(10**10, 'a') | list }}",
    "deep parentheses": "{{ " + "(" * 100_000 + "1" + ")" * 100_000 + " }}",
    "deep lists": "{{ " + "[" * 3_000 + "]" * 3_000 + " }}",
    "deep blocks": "{% if 1 %}" * 3_000 + "{% endif %}" * 3_000,
    "a long chain": "{{ 1" + " + 1" * 100_000 + " }}",
    "many filters": "{{ 'a'" + " | upper" * 100_000 + " }}",
    "urlize": "{{ ('www.' * 10**6) | urlize }}",
}  # fmt: skip

SETTINGS = {
    "unique_key=9": "the setting unique_key of the dbt model cannot be 9",
    "unique_key={'a': 1}.items()": "a setting of config() is a dict_items",
    "unique_key=[[1]]": "the setting unique_key",
    "unique_key=[1, 2]": "the setting unique_key",
    "unique_key=true": "the setting unique_key",
    "unique_key=nowhere": "'nowhere' is undefined",
    "incremental_predicates=7": "the setting incremental_predicates",
    "incremental_predicates={'a': 'b'}": "the setting incremental_predicates",
    "incremental_strategy='insert_overwrite', partition_by=3.5": "the setting partition_by",
    "incremental_strategy='insert_overwrite', partition_by={'field': 9}": "the setting partition_by",
    "incremental_strategy='insert_overwrite', partition_by=[{'field': 'a'}]": "the setting partition_by",
    "incremental_strategy='insert_overwrite', partition_by='a', partitions=1": "the setting partitions",
    "incremental_strategy=9": "the strategy '9' of dbt is not known",
    "incremental_strategy=[]": "unknown table 'b'",
    "9": "cannot be rendered",
    "'ab'": "cannot be rendered",
    "unique_key='a' * 10**10": "cannot be rendered",
    "unique_key=range(10**9)": "cannot be rendered",
}  # fmt: skip


@pytest.mark.parametrize("template", LIMITED.values(), ids=LIMITED.keys())
def test_a_model_beyond_every_limit_is_one_line_and_a_hint(commands, tmp_path, template):
    model = tmp_path / "model.sql"
    model.write_text(f'select {{{{ 1 }}}} as "{template}"')

    said = commands.command("explain", "--sql", f"@{model}", cwd=tmp_path)

    assert said.why is None
    assert said.word == "answer" or (said.word.startswith("refused: ") and " hint: " in said.word)


@pytest.mark.parametrize(("settings", "message"), SETTINGS.items(), ids=SETTINGS.keys())
def test_a_setting_that_no_run_could_execute_is_named(commands, tmp_path, settings, message):
    incremental = "materialized='incremental', incremental_strategy='merge'"
    model = f"{{{{ config({incremental}) }}}}{{{{ config({settings}) }}}} select a from b"

    said = commands.command("explain", "--sql", model, cwd=tmp_path)

    assert said.why is None
    assert message in said.word


def test_a_model_behind_one_that_was_ended_is_rendered(commands, tmp_path):
    endless = (
        "select {% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %} 2"
    )
    commands.command("explain", "--sql", endless, cwd=tmp_path)

    said = commands.command("explain", "--sql", "select {{ 1 }} where {{ true }}", cwd=tmp_path)

    assert (said.why, said.word) == (None, "answer")
