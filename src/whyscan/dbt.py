"""The facade for dbt projects: what the statement of each model reads."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.statement import RESOLVE_LIMIT, Lake, explain_lake
from whyscan.table import checked_engines
from whyscan.terms import PlanTerms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from whyscan.statements.dbt.report import DbtReport
    from whyscan.statements.records import StatementReport
    from whyscan.table import Location, Table


def explain_dbt(
    project: str | Path = ".",
    tables: Mapping[str, Table | Location] = MappingProxyType({}),
    *,
    select: Sequence[str] = (),
    exclude: Sequence[str] = (),
    against: str | Path | None = None,
    full_refresh: bool = False,
    tests: bool = False,
    storage: Mapping[str, object] = MappingProxyType({}),
    partition_types: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    resolve_joins: bool = False,
    dialect: str | None = None,
    timezone: str = "UTC",
    depth: str = "auto",
    full: bool = False,
    assume_no_nan: bool = False,
    inventory: Location | None = None,
    engines: str | Sequence[str] = (),
) -> DbtReport:
    """Report what the models of a dbt project read, and why. dbt is not needed for it.

    - `project` is the folder of the project, its `target`, or a `manifest.json`.
    - `tables` has tables by the names that models and sources have; a name that is missing there is
      looked up in the catalogs.
    - `select` and `exclude` name models as dbt does.
    - `against` is another manifest: each model has what its statement of that manifest reads of
      today's tables.
    - `full_refresh` explains the queries of incremental models instead of their incremental runs.
    - `tests` explains the data tests, too.
    - `dialect` is the SQL dialect; the default is that of the adapter.

    The other parameters are those of `explain_sql`.
    """
    terms = PlanTerms(dialect or "", timezone, depth, full, assume_no_nan)
    terms = replace(terms, engines=checked_engines(engines))
    lake = Lake(tables, storage, partition_types, inventory)
    return explain_project(
        project,
        lake,
        terms,
        select=select,
        exclude=exclude,
        against=against,
        full_refresh=full_refresh,
        tests=tests,
        resolve=RESOLVE_LIMIT if resolve_joins else None,
    )


def explain_project(
    place: str | Path,
    lake: Lake,
    terms: PlanTerms,
    *,
    select: Sequence[str] = (),
    exclude: Sequence[str] = (),
    against: str | Path | None = None,
    full_refresh: bool = False,
    tests: bool = False,
    resolve: int | None = None,
) -> DbtReport:
    """Report on a project whose tables `lake` opens; see `explain_dbt` for the parameters."""
    from whyscan.statements.dbt.explained import Choice, explain_models
    from whyscan.statements.dbt.project import read_project

    project = read_project(place)
    other = None if against is None else read_project(against)
    terms = replace(terms, dialect=terms.dialect or project.dialect)

    def explain(sql: str) -> StatementReport:
        return explain_lake(sql, lake, terms, resolve=resolve)

    choice = Choice(tuple(select), tuple(exclude), tests, full_refresh)
    return explain_models(project, other, choice, terms.dialect, explain)
