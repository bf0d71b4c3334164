"""The report on a dbt project: what the statement of each model reads, and what it read before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta
from msgspec.structs import replace

from whyscan.errors import UsageError
from whyscan.fields import Count, ErrorText, FilePath, Name, Outcome, Record, Word, one_of
from whyscan.planning.plan.planner import plus_all
from whyscan.reports.gates import (
    Assertion,
    CheckedSubject,
    GatedAmount,
    Gates,
    StatementGates,
    percent_pruned,
    regression,
)
from whyscan.reports.rendering import CheckedReport
from whyscan.statements.records import StatementReport

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from whyscan.reports.gates import GatedReport
    from whyscan.reports.view import Blocks


NO_GATES = Gates()


class ModelReading(Record, frozen=True):
    """How much of its tables a model reads; unknown bytes are null."""

    files_total: Count
    files_read: Count
    bytes_total: Count | None
    bytes_read: Count | None

    @classmethod
    def of(cls, read: GatedAmount) -> ModelReading:
        """The same of an amount."""
        return cls(read.total, read.kept, read.bytes_total, read.bytes_kept)


def together(readings: Iterable[ModelReading]) -> ModelReading:
    """The sum: a table that two models read counts twice."""
    parts = tuple(readings)
    return ModelReading(
        sum(part.files_total for part in parts),
        sum(part.files_read for part in parts),
        plus_all(part.bytes_total for part in parts),
        plus_all(part.bytes_read for part in parts),
    )


class ModelReport(Record, frozen=True):
    """A model, and the report on the statement that its run executes."""

    OPTIONAL: ClassVar = ("change", "before")
    COMPUTED: ClassVar = {"reading": "reading"}

    name: Name
    unique_id: Name
    path: FilePath
    materialized: Name
    statement: StatementReport
    change: Annotated[
        Word | None,
        one_of("new", "modified", "same"),
        Meta(description="With --against: how its statement differs."),
    ] = None
    before: Annotated[
        ModelReading | None,
        Meta(description="With --against: what the statement of that manifest reads today."),
    ] = None
    assertions: tuple[Assertion, ...] = ()

    @property
    def reading(self) -> ModelReading:
        """What the statement reads of all its tables."""
        return ModelReading.of(self.statement.gated_reading)

    @property
    def passed(self) -> bool:
        return self.statement.passed and all(outcome.holds for outcome in self.assertions)


class UnexplainedModel(Record, frozen=True):
    """A model without a report, and why. `failed` is false if its run reads nothing by itself."""

    name: Name
    path: FilePath
    why: ErrorText
    failed: bool


class DbtReport(CheckedReport, frozen=True):
    """What the models of a dbt project read, and why."""

    OMITTED: ClassVar = ("seconds",)
    COMPUTED: ClassVar = {"reading": "reading", "result": "result"}

    project: Name
    manifest: FilePath
    dialect: Name
    models: tuple[ModelReport, ...]
    unexplained: tuple[UnexplainedModel, ...] = ()
    against: Annotated[
        FilePath | None, Meta(description="The other manifest; null without --against.")
    ] = None
    removed: Annotated[
        tuple[Name, ...], Meta(description="The models of the other manifest that are gone.")
    ] = ()
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return all(model.passed for model in self.models)

    @property
    def failed(self) -> tuple[UnexplainedModel, ...]:
        """The models that read something, and could not be explained."""
        return tuple(model for model in self.unexplained if model.failed)

    @property
    def result(self) -> Outcome:
        """`fail` if a gate of a model fails that no exemption excuses."""
        return "pass" if self.passed else "fail"

    @property
    def reading(self) -> ModelReading:
        """The sum over all models: a table that two models read counts twice."""
        return together(model.reading for model in self.models)

    @property
    def reading_before(self) -> ModelReading | None:
        """The same of the other manifest, of the models that both have; None without one."""
        sides = [model.before for model in self.models if model.before is not None]
        return together(sides) if sides else None

    @property
    def elapsed(self) -> float:
        return self.seconds

    def priced(self, price: str | None = None, request_price: str | None = None) -> DbtReport:
        """Return this report with what each model costs, as in `StatementReport.priced`."""
        models = (
            replace(model, statement=model.statement.priced(price, request_price))
            for model in self.models
        )
        return replace(self, models=tuple(models))

    def gated(
        self,
        gates: Gates = NO_GATES,
        by_model: Mapping[str, Gates] | None = None,
        *,
        max_regression: float | None = None,
        max_regression_bytes: float | None = None,
    ) -> DbtReport:
        """Return this report with the outcome of each gate.

        `gates` are for every model, those of `by_model` for the model of that name. The others fail
        if the skipped share of a model's files or bytes fell by more percentage points.
        """
        names = {model.name for model in self.models}
        for name in by_model or {}:
            if name not in names:
                raise UsageError(
                    f"a gate is for {name!r}, which is no model of this report",
                    hint="write the name of a model that is selected",
                )
        return replace(
            self,
            models=tuple(
                replace(
                    model,
                    statement=model.statement.gated(
                        StatementGates(_stricter(gates, (by_model or {}).get(model.name)))
                    ),
                    assertions=tuple(_regressions(model, max_regression, max_regression_bytes)),
                )
                for model in self.models
            ),
        )

    def subjects(self) -> tuple[CheckedSubject, ...]:
        """Each model, at its file, and each of its scans."""
        subjects = []
        for model in self.models:
            whole, *scans = model.statement.subjects()
            checked = replace(
                model.statement, assertions=(*model.statement.assertions, *model.assertions)
            )
            subjects.append(_at(model, whole, model.name, checked))
            subjects += (
                _at(model, scan, f"{model.name}: {scan.name}", scan.report) for scan in scans
            )
        return tuple(subjects)

    def redacted(self) -> DbtReport:
        """The same report without literals and values, for sharing."""
        from whyscan.reports.redaction import redacted

        return redacted(self)

    def to_html(self) -> str:
        from whyscan.reports.pages.page import page
        from whyscan.statements.dbt.view import view

        return page(view(self, full=True))

    def view(self) -> Blocks:
        from whyscan.statements.dbt.view import view

        return view(self)


def _at(
    model: ModelReport, subject: CheckedSubject, name: str, report: GatedReport
) -> CheckedSubject:
    """A subject of a model's statement, at the file of the model."""
    identity = f"{model.unique_id}\0{subject.identity}"
    return replace(subject, name=name, table=model.path, identity=identity, report=report)


def _stricter(gates: Gates, of_model: Gates | None) -> Gates:
    """The gates of a model where it has its own, else those of all models."""
    if of_model is None:
        return gates
    own = {name: getattr(of_model, name) for name in Gates.__struct_fields__}
    # A limit of 0 is a limit, and equal to False.
    is_set = {name: v for name, v in own.items() if v is not None and v is not False}
    return replace(gates, **is_set)


def _regressions(
    model: ModelReport, files: float | None, size: float | None
) -> Iterator[Assertion]:
    before, after = model.before, model.reading
    if before is None:
        return
    if files is not None:
        shares = (percent_pruned(side.files_total, side.files_read) for side in (before, after))
        yield regression("regression", files, *shares)
    if size is not None:
        shares = (percent_pruned(side.bytes_total, side.bytes_read) for side in (before, after))
        yield regression("regression_bytes", size, *shares)
