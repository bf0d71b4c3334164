"""Read the statements of a SQL file as queries.

Comments directly before a statement may have its name and its number of runs:

    -- name: daily revenue
    -- times: 40
    SELECT …;

The definition of a view is put before each later statement that uses it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import TokenType

from whyscan.errors import SyntaxProblem, WhyscanError
from whyscan.predicate.syntax.parse import dialect_named, tokenize
from whyscan.spark.stages.workload.query import Query, Unparsed
from whyscan.statements.changes.dbt import incremental_run, is_model
from whyscan.statements.sql.syntax import parse_statement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlglot.tokenizer_core import Token

_SETTING = re.compile(r"^\s*--\s*(times|name)\s*:\s*(.*?)\s*$", re.IGNORECASE | re.MULTILINE)
_BEFORE_A_VIEW = frozenset({"OR", "REPLACE", "GLOBAL", "LOCAL", "TEMP", "TEMPORARY"})
_DOTTED = 2
NEVER_RAN = "the log says that it ran 0 times"


def read_sql(text: str, origin: str, dialect: str) -> Iterator[Query | Unparsed]:
    """One query per statement of a file; a dbt model is one statement."""
    if is_model(text):
        yield Query(text.strip(), dialect, origins=(origin,))
        return
    try:
        tokens = tokenize(text, dialect_named(dialect))
    except SyntaxProblem as problem:
        yield Unparsed(origin, text, problem.message)
        return
    views: dict[str, tuple[str, ...]] = {}
    end = 0
    for statement in _statements(tokens):
        first, last = statement[0], statement[-1]
        settings = {key.lower(): value for key, value in _SETTING.findall(text[end : first.start])}
        end = last.end + 1
        sql = text[first.start : end]
        where = f"{origin}:{text.count(chr(10), 0, first.start) + 1}"
        if name := settings.get("name"):
            where = f"{where} ({name})"
        times = settings.get("times", "1")
        if not times.isdecimal():
            yield Unparsed(where, sql, f"times is no count: {times}")
            continue
        if not int(times):
            yield Unparsed(where, sql, NEVER_RAN)
            continue
        if view := _view(statement):
            yield Unparsed(where, sql, "a view reads nothing until it is queried", int(times))
            views[view] = (*_views_of(statement, views), sql)
            continue
        query_text = ";\n".join((*_views_of(statement, views), sql))
        yield Query(query_text, dialect, int(times), origins=(where,))


def problem_of(text: str, dialect: str) -> str | None:
    """Why a text cannot be explained, whatever its tables are; None if it can.

    A statement that only changes settings or defines a name reads nothing: it has a reason too.
    """
    try:
        sql = incremental_run(text, dialect.lower()).sql if is_model(text) else text
        parse_statement(sql, dialect)
    except WhyscanError as error:
        return error.message
    return None


def _statements(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    statement: list[Token] = []
    for token in tokens:
        if token.token_type is not TokenType.SEMICOLON:
            statement.append(token)
        elif statement:
            yield statement
            statement = []
    if statement:
        yield statement


def _view(statement: Sequence[Token]) -> str | None:
    """The lower-case name that `CREATE VIEW name` defines; None for other statements."""
    words = [token.text.upper() for token in statement]
    if words[0] != "CREATE" or "VIEW" not in words:
        return None
    at = words.index("VIEW")
    if not _BEFORE_A_VIEW.issuperset(words[1:at]):
        return None
    named = statement[at + 1 :]
    if words[at + 1 : at + 4] == ["IF", "NOT", "EXISTS"]:
        named = named[3:]
    while len(named) > _DOTTED and named[1].token_type is TokenType.DOT:
        named = named[2:]
    return named[0].text.lower() if named else None


def _views_of(statement: Sequence[Token], views: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The definitions of the views that a statement uses; a view comes after those it uses."""
    words = {token.text.lower() for token in statement[1:]}
    used = [definitions for name, definitions in views.items() if name in words]
    return tuple(dict.fromkeys(definition for definitions in used for definition in definitions))
