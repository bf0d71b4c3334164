"""Explains the models of a dbt project, and what they read with the SQL of another manifest."""

from __future__ import annotations

from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import WhyscanError
from whyscan.statements.dbt.project import Unexplained
from whyscan.statements.dbt.report import DbtReport, ModelReading, ModelReport, UnexplainedModel
from whyscan.statements.dbt.selection import selected

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from whyscan.statements.changes.dbt import Model
    from whyscan.statements.dbt.project import DbtProject
    from whyscan.statements.records import StatementReport

T = TypeVar("T")


class Choice(Struct, frozen=True):
    """Which nodes are explained, and whether incremental models are built anew."""

    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    tests: bool = False
    full_refresh: bool = False


def explain_models(
    project: DbtProject,
    other: DbtProject | None,
    choice: Choice,
    dialect: str,
    explain: Callable[[str], StatementReport],
) -> DbtReport:
    """Report on the chosen models; `explain` reports on one statement.

    `other` is an earlier state of the project: where a statement differs, that of the other one is
    explained, too. Both read the tables of today.
    """
    started = perf_counter()
    now = _State(project, choice, dialect, explain)
    before = None if other is None else _State(other, choice, dialect, explain)
    nodes = list(project.models(tests=choice.tests))
    changes = {node.unique_id: _change(node.unique_id, now, before) for node in nodes}
    states = None if other is None else _states(changes)
    chosen = selected(project, choice.select, choice.exclude, states)
    models, unexplained = [], []
    for node in nodes:
        if node.unique_id not in chosen:
            continue
        report, change = now.report(node.unique_id), changes[node.unique_id]
        if isinstance(report, Unexplained):
            unexplained.append(UnexplainedModel(node.name, node.path, report.why, report.failed))
            continue
        model = ModelReport(node.name, node.unique_id, node.path, node.materialized, report, change)
        if change == "same":
            model = replace(model, before=model.reading)
        elif change == "modified" and before is not None:
            earlier = before.report(node.unique_id)
            if not isinstance(earlier, Unexplained):
                model = replace(model, before=ModelReading.of(earlier.gated_reading))
        models.append(model)
    old = () if other is None else other.models(tests=choice.tests)
    return DbtReport(
        project=project.name,
        manifest=str(project.manifest),
        dialect=dialect,
        models=tuple(models),
        unexplained=tuple(unexplained),
        against=None if other is None else str(other.manifest),
        removed=tuple(node.name for node in old if node.unique_id not in project.nodes),
        seconds=perf_counter() - started,
    )


class _State:
    """One state of a project: the statements of its models, and the reports on them."""

    def __init__(
        self,
        project: DbtProject,
        choice: Choice,
        dialect: str,
        explain: Callable[[str], StatementReport],
    ) -> None:
        self.project = project
        self._choice, self._dialect, self._explain = choice, dialect, explain
        self.statement = cache(self._statement)

    def _statement(self, unique_id: str) -> Model | Unexplained:
        """The statement of a node, or why it has none."""
        node, refresh = self.project.nodes[unique_id], self._choice.full_refresh
        return _or_error(lambda: self.project.statement(node, self._dialect, full_refresh=refresh))

    def report(self, unique_id: str) -> StatementReport | Unexplained:
        """The report on the statement of a node, with the notes of its model first."""
        model = self.statement(unique_id)
        if isinstance(model, Unexplained):
            return model
        report = _or_error(lambda: self._explain(model.sql))
        if isinstance(report, Unexplained):
            return report
        return replace(report, notes=(*model.notes, *report.notes))


def _change(unique_id: str, now: _State, before: _State | None) -> str | None:
    """Say how a model differs: its statement counts, whatever its tables are called."""
    if before is None:
        return None
    if unique_id not in before.project.nodes:
        return "new"
    new, old = now.statement(unique_id), before.statement(unique_id)
    if isinstance(new, Unexplained) or isinstance(old, Unexplained):
        nodes = (state.project.nodes[unique_id] for state in (now, before))
        texts = [node.raw_text() for node in nodes]
    else:
        texts = [now.project.identity(new.sql), before.project.identity(old.sql)]
    return "same" if len(set(texts)) == 1 else "modified"


def _states(changes: Mapping[str, str | None]) -> Mapping[str, frozenset[str]]:
    """The ids of new models, and of those that are new or modified."""
    new = frozenset(name for name, change in changes.items() if change == "new")
    modified = frozenset(name for name, change in changes.items() if change != "same")
    return {"new": new, "modified": modified}


def _or_error(explain: Callable[[], T]) -> T | Unexplained:
    """Return the result, or the error of one model, which does not stop the others."""
    try:
        return explain()
    except WhyscanError as error:
        hint = "" if error.hint is None else f" ({error.hint})"
        return Unexplained(f"{error.message}{hint}", failed=True)
