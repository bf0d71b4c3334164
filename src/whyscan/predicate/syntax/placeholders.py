"""Text in quotes that a tool replaces before an engine reads it: `'{{ ds }}'`, `'${day}'`.

The engine sees another text, so the value is unknown. Markers that only drivers replace (`?`,
`@p`, `$1`) stand outside of quotes: in quotes they are plain text.
"""

from __future__ import annotations

import re

_TEMPLATE = re.compile(
    r"""
    \{\{.*?\}\} | \{%.*?%\} | \{\#.*?\#\}      # Jinja, as in dbt and Airflow
    | <%.*?%>                                  # ERB
    | [$#@]\{[^{}]+\}                          # Spark, Hive, shells; MyBatis; Azure Data Factory
    | (?<!\\[pPx])\{[A-Za-z_]\w*(?:[.\[:!][^{}]*)?\}    # Python's format; not \p{L} of patterns
    | %\(\w+\)[a-z]                            # Python's parameters by name
    | \A(?:[:&$][A-Za-z_]\w*|&\d|%s)\Z         # SQLAlchemy, SQL*Plus, string.Template, psycopg
    """,
    re.DOTALL | re.VERBOSE,
)
_MARKS = frozenset("{<%:&$")


def is_template(text: str) -> bool:
    """Whether a tool may replace the content of a string, or a part of it, by another text."""
    return not _MARKS.isdisjoint(text) and _TEMPLATE.search(text) is not None
