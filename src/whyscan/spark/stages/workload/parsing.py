"""Check whether a text is a statement that can be explained."""

from __future__ import annotations

from whyscan.errors import WhyscanError
from whyscan.statements.changes.dbt import incremental_run, is_model
from whyscan.statements.sql.syntax import parse_statement


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
