"""A dbt model's own text as the statement that an incremental run of it executes.

`{{ this }}` is the table `this`, `ref('x')` is x and `source('a', 'b')` is a.b. What only a dbt
project has (macros of packages, `target`, results of queries) is refused: the SQL that
`dbt compile` writes is a statement like any other.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn

from msgspec import Struct

from whyscan.errors import Span, SyntaxProblem

if TYPE_CHECKING:
    from collections.abc import Sequence

_MARKER = re.compile(
    r"""
    '(?:[^'\\]++|\\.|'')*+' | "(?:[^"\\]++|\\.|"")*+" | `[^`]*+`
    | --[^\n]*+ | /\*.*?\*/ | (\{\{|\{%)
    """,
    re.DOTALL | re.VERBOSE,
)
COMPILE = "run dbt compile, and explain the SQL that it writes"
DEST, SOURCE = "DBT_INTERNAL_DEST", "DBT_INTERNAL_SOURCE"
"""dbt's own names: a model's incremental_predicates use them."""

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
"""What each adapter does where a model does not say."""


class Model(Struct, frozen=True):
    """A model that was rendered. `replaces_partitions`: only those that it gives rows of."""

    sql: str
    notes: tuple[str, ...] = ()
    replaces_partitions: bool = False


def is_model(text: str) -> bool:
    """Whether Jinja stands in a text, outside of strings and comments."""
    if "{{" not in text and "{%" not in text:
        return False
    return any(found[1] is not None for found in _MARKER.finditer(text))


def incremental_run(text: str, dialect: str) -> Model:
    """The statement that an incremental run executes; of other models the query alone."""
    config = Config()
    return executed(_rendered(text, config), config, dialect)


def executed(compiled: str, config: Config, dialect: str, target: str = "this") -> Model:
    """The same of a model whose Jinja is rendered; `target` is the table that it fills."""
    query = compiled.strip().rstrip(";")
    if config.text("materialized", "view") != "incremental":
        return Model(query)
    unique = config.names("unique_key")
    strategy = config.text("incremental_strategy", _DEFAULTS.get(dialect, "append"))
    if strategy in {"delete+insert", "delete_insert"} and not unique:
        strategy = "append"
    told = (f"an incremental run of a dbt model, by the strategy {strategy}",)
    predicates = config.listed("incremental_predicates") or config.listed("predicates")
    terms = [*(f"{DEST}.{name} = {SOURCE}.{name}" for name in unique), *predicates]
    match strategy:
        case "append":
            return Model(f"INSERT INTO {target} {query}", told)
        case "merge":
            return Model(_merge(query, target, unique, terms), told)
        case "delete+insert" | "delete_insert":
            return Model(_delete(query, target, terms), told)
        case "replace_where" if predicates:
            where = " AND ".join(predicates)
            return Model(f"INSERT INTO {target} REPLACE WHERE {where} {query}", told)
        case "insert_overwrite":
            return _overwrite(query, target, config, told)
        case _:
            raise SyntaxProblem(f"the strategy {strategy!r} of dbt is not known", hint=COMPILE)


def _delete(query: str, target: str, terms: Sequence[str]) -> str:
    """What goes before the query's rows are inserted."""
    source = f"({query}\n) AS {SOURCE}"
    joined = " AND ".join(terms)
    return f"DELETE FROM {target} AS {DEST} USING {source} WHERE {joined}"  # noqa: S608 - never run


def _merge(query: str, target: str, unique: Sequence[str], terms: Sequence[str]) -> str:
    """Without a key no row matches: dbt then only inserts."""
    on = " AND ".join(terms) if unique else "FALSE"
    matched = " WHEN MATCHED THEN UPDATE SET *" if unique else ""
    return (
        f"MERGE INTO {target} AS {DEST} USING ({query}\n) AS {SOURCE} ON {on}{matched}"
        " WHEN NOT MATCHED THEN INSERT *"
    )


def _overwrite(query: str, target: str, config: Config, told: tuple[str, ...]) -> Model:
    """The partitions that `partitions` lists, else those of the query's rows; all without any."""
    columns = config.names("partition_by")
    if not columns:
        return Model(f"INSERT OVERWRITE TABLE {target} {query}", told)
    listed = config.listed("partitions")
    if listed:
        condition = f"{columns[0]} IN ({', '.join(listed)})"
        return Model(f"INSERT INTO {target} REPLACE WHERE {condition} {query}", told)
    return Model(
        f"INSERT OVERWRITE TABLE {target} PARTITION ({', '.join(columns)}) {query}",
        told,
        replaces_partitions=True,
    )


class Config:
    """`config(…)` of a model: what it sets, and nothing in its place."""

    def __init__(self) -> None:
        self._set: dict[str, Any] = {}

    def __call__(self, *given: dict[str, Any], **named: Any) -> str:
        for settings in (*given, named):
            self._set.update(settings)
        return ""

    def get(self, name: str, default: Any = None) -> Any:
        return self._set.get(name, default)

    def text(self, name: str, default: str) -> str:
        return str(self._set.get(name) or default).lower()

    def listed(self, name: str) -> list[str]:
        """A setting that is one text or several."""
        found = self._set.get(name) or []
        return [found] if isinstance(found, str) else [str(part) for part in found]

    def names(self, name: str) -> list[str]:
        """Columns: one, several, or BigQuery's dictionary with the field in it."""
        found = self._set.get(name)
        if isinstance(found, dict):
            return [str(found["field"])] if "field" in found else []
        return self.listed(name)


def _rendered(text: str, config: Config) -> str:
    from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(undefined=StrictUndefined, extensions=["jinja2.ext.do"])
    known = {
        "config": config,
        "this": "this",
        "ref": _ref,
        "source": lambda group, name: f"{group}.{name}",
        "is_incremental": lambda: True,
        "var": lambda name, *default: _default("variable", name, default),
        "env_var": lambda name, *default: _default("environment variable", name, default),
        "execute": True,
    }
    try:
        return environment.from_string(text).render(known)
    except TemplateSyntaxError as error:
        raise SyntaxProblem(
            f"this is not Jinja: {error.message}", text=text, span=_line(text, error.lineno)
        ) from error
    except TemplateError as error:
        raise SyntaxProblem(f"dbt alone can render this: {error}", hint=COMPILE) from error
    except (TypeError, ValueError, ArithmeticError, LookupError, RecursionError) as error:
        raise SyntaxProblem(f"the model cannot be rendered: {error}", hint=COMPILE) from error


def _ref(*names: str, **_: Any) -> str:
    """`ref('model')` or `ref('package', 'model')`, of whatever version."""
    return names[-1]


def _default(what: str, name: str, default: tuple[Any, ...]) -> Any:
    if not default:
        _unset(what, name)
    return default[0]


def _unset(what: str, name: str) -> NoReturn:
    raise SyntaxProblem(f"the {what} {name!r} has no default in the model", hint=COMPILE)


def _line(text: str, number: int) -> Span:
    lines = text.split("\n")
    start = sum(len(line) + 1 for line in lines[: number - 1])
    return Span(start, start + len(lines[number - 1]))
