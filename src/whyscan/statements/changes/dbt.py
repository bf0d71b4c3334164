"""Turns the text of a dbt model into the statement that an incremental run executes.

`{{ this }}` is the table `this`, `ref('x')` is x and `source('a', 'b')` is a.b. Things that only a
dbt project has (macros of packages, `target`, results of queries) are refused: the SQL that `dbt
compile` writes is a plain statement.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import SyntaxProblem
from whyscan.statements.changes.templates import COMPILE, render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TOKEN = re.compile(
    r"""
    '(?:[^'\\]++|\\.|'')*+' | "(?:[^"\\]++|\\.|"")*+" | `[^`]*+`
    | --[^\n]*+ | /\*.*?\*/ | (?P<bare> \{\{|\{% )
    """,
    re.DOTALL | re.VERBOSE,
)
_OF_DBT = re.compile(
    r"""
    \{\{-?\s*(?:config|env_var|is_incremental|ref|source|this|var)\b.*?\}\}
    | \{%-?\s*(?:do|else|elif|endfor|endif|for|if|set)\b.*?%\}
    """,
    re.DOTALL | re.VERBOSE,
)
_UNSET = re.compile("\ue000(\\w*)\ue001")
LONGEST_SHOWN = 80
DEST, SOURCE = "DBT_INTERNAL_DEST", "DBT_INTERNAL_SOURCE"
"""dbt's names for the two sides; a model's incremental_predicates use them."""

_DEFAULTS = {
    "spark": "append",
    "databricks": "merge",
    "trino": "append",
    "bigquery": "merge",
    "snowflake": "merge",
    "duckdb": "delete+insert",
    "postgres": "delete+insert",
    "redshift": "delete+insert",
}
"""The strategy of each adapter where a model names none."""


class Model(Struct, frozen=True):
    """The statement of a rendered model.

    `replaces_partitions`: only the partitions for which it returns rows are replaced.
    """

    sql: str
    notes: tuple[str, ...] = ()
    replaces_partitions: bool = False


def is_model(text: str) -> bool:
    """Whether dbt renders a text: it has Jinja, or words of dbt's in strings, names or comments.

    Other Jinja in strings is of other tools: `'{{ ds }}'` is a text whose value is unknown.
    """
    if "{{" not in text and "{%" not in text:
        return False
    has_bare = any(match["bare"] is not None for match in _TOKEN.finditer(text))
    return has_bare or _OF_DBT.search(text) is not None


def incremental_run(text: str, dialect: str) -> Model:
    """The statement of an incremental run; for models that are not incremental, the query."""
    rendered = render(text)
    sql, unset = _with_parameters(rendered.sql)
    model = executed(sql, ModelSettings(rendered.settings), dialect)
    notes = tuple(f"the value of {name!r} is unknown: the model has no default" for name in unset)
    return replace(model, notes=(*model.notes, *notes))


def _with_parameters(rendered: str) -> tuple[str, Sequence[str]]:
    """The SQL with a parameter for each variable without a default, and their names.

    A parameter is `:name`, in quotes `${name}`: its value is unknown.
    """
    sql = _TOKEN.sub(lambda token: _UNSET.sub(r"${\1}", token[0]), rendered)
    return _UNSET.sub(r":\1", sql), tuple(dict.fromkeys(_UNSET.findall(rendered)))


def executed(compiled: str, config: ModelSettings, dialect: str, target: str = "this") -> Model:
    """The same for a model that is already rendered; `target` is the table that it fills."""
    query = compiled.strip().rstrip(";")
    if config.text("materialized", "view") != "incremental":
        return Model(query)
    unique = config.names("unique_key")
    strategy = config.text("incremental_strategy", _DEFAULTS.get(dialect, "append"))
    if strategy in {"delete+insert", "delete_insert"} and not unique:
        strategy = "append"
    notes = (f"an incremental run of a dbt model, by the strategy {strategy}",)
    predicates = config.listed("incremental_predicates") or config.listed("predicates")
    terms = [*(f"{DEST}.{name} = {SOURCE}.{name}" for name in unique), *predicates]
    match strategy:
        case "append":
            return Model(f"INSERT INTO {target} {query}", notes)
        case "merge":
            return Model(_merge(query, target, unique, terms), notes)
        case "delete+insert" | "delete_insert":
            return Model(_delete(query, target, terms), notes)
        case "replace_where" if predicates:
            where = " AND ".join(predicates)
            return Model(f"INSERT INTO {target} REPLACE WHERE {where} {query}", notes)
        case "insert_overwrite":
            return _overwrite(query, target, config, notes)
        case _:
            raise SyntaxProblem(f"the strategy {strategy!r} of dbt is not known", hint=COMPILE)


def _delete(query: str, target: str, terms: Sequence[str]) -> str:
    """The DELETE that runs before the rows of the query are inserted."""
    source = f"({query}\n) AS {SOURCE}"
    joined = " AND ".join(terms)
    return f"DELETE FROM {target} AS {DEST} USING {source} WHERE {joined}"  # noqa: S608 - never run


def _merge(query: str, target: str, unique: Sequence[str], terms: Sequence[str]) -> str:
    """The MERGE of the model; without a unique key no row matches, and dbt only inserts."""
    on = " AND ".join(terms) if unique else "FALSE"
    matched = " WHEN MATCHED THEN UPDATE SET *" if unique else ""
    return (
        f"MERGE INTO {target} AS {DEST} USING ({query}\n) AS {SOURCE} ON {on}{matched}"
        " WHEN NOT MATCHED THEN INSERT *"
    )


def _overwrite(query: str, target: str, config: ModelSettings, notes: tuple[str, ...]) -> Model:
    """Replace the partitions of `partitions`, else those of the query's rows, else the table."""
    columns = config.names("partition_by")
    if not columns:
        return Model(f"INSERT OVERWRITE TABLE {target} {query}", notes)
    listed = config.listed("partitions")
    if listed:
        condition = f"{columns[0]} IN ({', '.join(listed)})"
        return Model(f"INSERT INTO {target} REPLACE WHERE {condition} {query}", notes)
    return Model(
        f"INSERT OVERWRITE TABLE {target} PARTITION ({', '.join(columns)}) {query}",
        notes,
        replaces_partitions=True,
    )


class ModelSettings:
    """The settings of a model, each checked for its type; SyntaxProblem where the type is wrong."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings

    def text(self, name: str, default: str) -> str:
        return str(self._settings.get(name) or default).lower()

    def listed(self, name: str) -> list[str]:
        """A setting that is a text or a list of texts; numbers become text."""
        value = self._settings.get(name)
        if not value:
            return []
        parts = [value] if isinstance(value, str) else value
        if isinstance(parts, list | tuple) and all(
            isinstance(part, str | int | float) for part in parts
        ):
            return [str(part) for part in parts]
        raise self._refused(name, "it is a text, or a list of them")

    def names(self, name: str) -> list[str]:
        """A setting with column names: a name, a list, or BigQuery's dictionary with a field."""
        value = self._settings.get(name)
        if isinstance(value, dict):
            value = [value["field"]] if "field" in value else []
        if not value:
            return []
        parts = [value] if isinstance(value, str) else value
        if isinstance(parts, list | tuple) and all(isinstance(part, str) for part in parts):
            return list(parts)
        raise self._refused(name, "it is the name of a column, or a list of them")

    def _refused(self, name: str, hint: str) -> SyntaxProblem:
        shown = repr(self._settings[name])
        shown = shown if len(shown) <= LONGEST_SHOWN else shown[:LONGEST_SHOWN] + "\u2026"
        return SyntaxProblem(f"the setting {name} of the dbt model cannot be {shown}", hint=hint)
