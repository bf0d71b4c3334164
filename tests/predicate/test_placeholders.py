"""A string that a tool replaces before an engine reads it has an unknown value."""

import pytest

from predicate.schemas import EVENTS
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.tree.nodes import Opaque, walk

TEMPLATES = r"""
name = '{{ ds }}'
name = '{{ var("d") }}'
name = 'x{% if a %}b{% endif %}'
name = '{# none #}'
name = '<%= d %>'
name = '${day}'
name = '${hivevar:day}-01'
name = '#{day}'
name = '@{pipeline().parameters.day}'
name = '{day}'
name = '{day:%Y-%m-%d} 00:00'
name = '%(day)s'
name = '%s'
name = ':day'
name = '$day'
name = '&day'
name = r'${day}'
name = "${day}"
name = 'a' '${day}'
name LIKE '${prefix}%'
name IN ('a', '${b}')
name NOT IN ('a', '${b}')
name BETWEEN '${a}' AND '${b}'
name > concat('${a}', 'b')
day >= DATE '${day}'
day = '${day}'
ts >= TIMESTAMP '{{ ts }}' - INTERVAL 1 DAY
ts >= to_date('{{ ds }}')
date_trunc('${unit}', ts) = ts
year(ts) = '${year}'
id = cast('${id}' AS INT)
coalesce('${a}', name) = 'x'
CASE WHEN id > 1 THEN '${a}' ELSE 'b' END = name
""".strip().splitlines()

PLAIN_TEXT = r"""
name = '{}'
name = '{0}'
name = '{"a": 1}'
name = '{1,2}'
name = '{0f8fad5b-d9cb-469f-a165-70867728950e}'
name = '100%'
name = '50% (s)'
name LIKE '%s%'
name LIKE 'a%s'
name = r'\p{L}{2}'
name = '12:30'
name = ':30'
name = '@day'
name = '?'
name = '$1'
name = '$5.00'
name = '$.a.b'
name = 'a & b'
name = '<%'
name = '{{'
""".strip().splitlines()


def is_unknown(sql):
    (conjunct,) = bind(sql, EVENTS, Session()).conjuncts
    return any(isinstance(node, Opaque) for node in walk(conjunct.expression))


@pytest.mark.parametrize("sql", TEMPLATES)
def test_a_template_in_quotes_is_no_literal(sql):
    assert is_unknown(sql)


@pytest.mark.parametrize("sql", PLAIN_TEXT)
def test_text_that_no_tool_replaces_is_a_literal(sql):
    assert not is_unknown(sql)


@pytest.mark.parametrize("operator", ["IN", "NOT IN"])
@pytest.mark.parametrize("column", ["name", "day"])
def test_a_template_in_a_long_list_is_no_literal(column, operator):
    values = ", ".join([*(f"'2024-01-{day:02}'" for day in range(1, 29)), "'${last}'"])

    assert is_unknown(f"{column} {operator} ({values})")
