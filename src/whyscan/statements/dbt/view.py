"""The view of a dbt project's report: what all models read, a line a model, then model by model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports import report_view
from whyscan.reports.view import (
    FactsBlock,
    Fold,
    GatesBlock,
    GridBlock,
    Head,
    NamedValue,
    NameSpan,
    NotesBlock,
    Section,
    TitleBlock,
)
from whyscan.reports.words import counted, percent, size, sizes
from whyscan.statements.reports.phrases import headline
from whyscan.statements.reports.view import view as statement_view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.view import Blocks, GridRow
    from whyscan.statements.dbt.report import DbtReport, ModelReading, ModelReport

CHANGES_SHOWN = 5
"""How many models have their change to try first beside the table."""


def view(report: DbtReport, *, full: bool = False) -> Blocks:
    """Return the blocks; `full` shows all facts on each scan of each model."""
    models = sorted(report.models, key=lambda model: -(model.reading.bytes_read or 0))
    return (
        TitleBlock(*_answer(report, models), command="dbt", subject=report.project),
        FactsBlock(tuple(_question(report))),
        GridBlock(
            _heads(report),
            tuple(_row(model, report) for model in models),
            label="Models",
            sortable=True,
        ),
        Section("try first", (FactsBlock(tuple(_try_first(models))),)),
        Section("not explained", (FactsBlock(tuple(_unexplained(report))),)),
        NotesBlock(_removed(report)),
        *(_model(model, full=full) for model in models),
        *(Section(model.name, (_gates(model),)) for model in models if _gates(model).assertions),
    )


def _answer(report: DbtReport, models: list[ModelReport]) -> tuple[str, str | None]:
    """Write `12 models read 40 of 900 files (4.4 %), 2 GB of 31 GB: most by daily, 1 GB`."""
    read, before = report.reading, report.reading_before
    verb = "reads" if len(models) == 1 else "read"
    if not models:
        return "no model was explained", None
    answer = f"{counted(len(models), 'model')} {verb} {_share(read)}"
    if before is not None and any(model.change != "same" for model in models):
        answer += f"; before, {'it' if len(models) == 1 else 'they'} read {_share(before)}"
    first = models[0]
    if len(models) == 1 or not first.reading.files_read:
        return answer, None
    most = f"{size(first.reading.bytes_read)} in {counted(first.reading.files_read, 'file')}"
    return answer, f"most by {first.name}, {most}"


def _share(read: ModelReading) -> str:
    files = f"{read.files_read:,} of {counted(read.files_total, 'file')}"
    weight = sizes(read.bytes_read, read.bytes_total)
    return ", ".join(
        filter(None, (f"{files} ({percent(read.files_read, read.files_total)})", weight))
    )


def _question(report: DbtReport) -> Iterator[NamedValue]:
    yield NamedValue("project", report.project, beside=f"{report.dialect} SQL")
    yield NamedValue("manifest", NameSpan(report.manifest))
    if report.against is not None:
        yield NamedValue("against", NameSpan(report.against))


def _heads(report: DbtReport) -> tuple[Head, ...]:
    plain = (Head("model"), Head("made as"))
    numbers = [Head(name, number=True) for name in ("files", "share", "bytes")]
    if report.against is None:
        return (*plain, *numbers)
    return (*plain, Head("change"), Head("files before", number=True), *numbers)


def _row(model: ModelReport, report: DbtReport) -> GridRow:
    read = model.reading
    cells = (
        f"{read.files_read:,} of {read.files_total:,}",
        percent(read.files_read, read.files_total),
        size(read.bytes_read),
    )
    plain = (NameSpan(model.name), model.materialized)
    if report.against is None:
        return (*plain, *cells)
    before = model.before
    was = "" if before is None else f"{before.files_read:,} of {before.files_total:,}"
    return (*plain, model.change or "", was, *cells)


def _try_first(models: list[ModelReport]) -> Iterator[NamedValue]:
    """Yield the changes to try first of the models that read the most."""
    changes = (
        NamedValue(model.name, fact.value, beside=fact.beside)
        for model in models
        for fact in report_view.try_first(model.statement.try_first)
    )
    for change, _ in zip(changes, range(CHANGES_SHOWN), strict=False):
        yield change


def _unexplained(report: DbtReport) -> Iterator[NamedValue]:
    for model in report.unexplained:
        yield NamedValue(model.name, f"error: {model.why}" if model.failed else model.why)


def _removed(report: DbtReport) -> tuple[str, ...]:
    return (f"gone since: {', '.join(report.removed)}",) if report.removed else ()


def _model(model: ModelReport, *, full: bool) -> Fold:
    """Return one model; a model with a failed gate is open. Text has the table alone."""
    _, *blocks = statement_view(model.statement, full=full)
    return Fold(
        NameSpan(model.name),
        tuple(block for block in blocks if not isinstance(block, GatesBlock)),
        beside=": ".join(filter(None, headline(model.statement))),
        open=not model.passed,
        detail=True,
    )


def _gates(model: ModelReport) -> GatesBlock:
    """The outcomes for the model, and for its scans."""
    scans = (outcome for scan in model.statement.scans for outcome in scan.report.assertions)
    return GatesBlock((*model.statement.assertions, *scans, *model.assertions))
