"""The view of a difference: the change in one line, then where it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports.phrases import version_of
from whyscan.reports.report_view import layout
from whyscan.reports.view import (
    CodeSpan,
    FactsBlock,
    FindingsBlock,
    GatesBlock,
    GridBlock,
    Head,
    NamedValue,
    NameSpan,
    NotesBlock,
    Section,
    TitleBlock,
)
from whyscan.reports.words import counted, level_name, percent, size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.planning.why.attribution import Share
    from whyscan.reports.diff.difference import Difference, LevelChange
    from whyscan.reports.levels import Level
    from whyscan.reports.report import Report
    from whyscan.reports.view import Blocks, Inline

CHANGES_SHOWN = 200


def view(difference: Difference) -> Blocks:
    """Return the blocks; files are named if the changes list them."""
    return (
        TitleBlock(_answer(difference), command="diff", subject=difference.after.table.uri),
        _question(difference),
        NotesBlock(tuple(_engines(difference))),
        Section("What is read", (_levels(difference),), quiet=True),
        Section("Conjuncts", (_conjuncts(difference),), quiet=True),
        Section("files", (_files(difference),)),
        Section(
            "Findings",
            (
                FindingsBlock(difference.appeared, "new"),
                FindingsBlock(difference.gone, "gone"),
            ),
            quiet=True,
        ),
        Section("every file that changed", (_changes(difference),)),
        GatesBlock(difference.assertions),
    )


def _answer(difference: Difference) -> str:
    """Write `reads 12 of 40 files (30.0 %) instead of 1 of 6 (16.7 %): 11 files more`."""
    before, after = difference.before.files_level, difference.after.files_level
    change = after.kept - before.kept
    more = "more" if change > 0 else "fewer"
    verb = "reads" if difference.after.hypothetical is None else "would read"
    change_text = f"{counted(abs(change), 'file')} {more}" if change else "as many files"
    return (
        f"{verb} {after.kept:,} of {counted(after.total, 'file')} "
        f"({percent(after.kept, after.total)}) instead of {before.kept:,} of {before.total:,} "
        f"({percent(before.kept, before.total)}): {change_text}"
    )


def _question(difference: Difference) -> FactsBlock:
    return FactsBlock(
        (
            _side("before", difference.before),
            _side("after", difference.after),
            NamedValue("predicate", CodeSpan(difference.after.question.predicate)),
            *layout(difference.after.hypothetical),
        )
    )


def _engines(difference: Difference) -> Iterator[str]:
    """Yield `duckdb 2.0 reads 12 of 40 files instead of 6` for each named engine."""
    total = counted(difference.after.files_level.total, "file")
    for engine in difference.engines:
        before, after = engine.before, engine.after
        if before is not None and after is not None:
            reads = f"{after.files.kept:,} of {total} instead of {before.files.kept:,}"
            yield f"{after.title} reads {reads}"


def _side(name: str, report: Report) -> NamedValue:
    about = ", ".join(filter(None, (report.table.format, version_of(report.table))))
    return NamedValue(name, NameSpan(report.table.uri), beside=about)


def _levels(difference: Difference) -> GridBlock:
    heads = (Head("read"), *(Head(name, number=True) for name in ("before", "after", "change")))
    rows = [row for change in difference.levels for row in _level(change)]
    return GridBlock(heads, tuple(rows))


def _level(change: LevelChange) -> Iterator[tuple[str, str, str, str]]:
    name = level_name(change.level)
    yield name, _count(change.before), _count(change.after), _delta(change)
    if change.level == "files":
        old, new = (None if v is None else v.bytes_kept for v in (change.before, change.after))
        yield "bytes", size(old), size(new), _bytes_delta(old, new)


def _count(level: Level | None) -> str:
    return "-" if level is None else f"{level.kept:,} of {level.total:,}"


def _delta(change: LevelChange) -> str:
    if change.before is None or change.after is None:
        return ""
    more = change.after.kept - change.before.kept
    return f"{more:+,}" if more else "same"


def _bytes_delta(before: int | None, after: int | None) -> str:
    if before is None or after is None:
        return ""
    if before == after:
        return "same"
    return f"{'-' if after < before else '+'}{size(abs(after - before))}"


def _conjuncts(difference: Difference) -> GridBlock:
    heads = (
        Head("files removed by"),
        Head("alone", number=True),
        Head("", meaning="alone, after"),
        Head("only", number=True),
        Head("", meaning="only, after"),
    )
    rows = [
        (
            CodeSpan(c.after.sql),
            _removed(c.before.alone),
            f"-> {_removed(c.after.alone)}",
            _removed(c.before.only),
            f"-> {_removed(c.after.only)}",
        )
        for c in difference.conjuncts
    ]
    return GridBlock(heads, tuple(rows))


def _removed(share: Share) -> str:
    """Write `3`, or `3+` if closed manifests could add to the number."""
    return f"{share.files:,}{'+' if share.at_least else ''}"


def _files(difference: Difference) -> GridBlock:
    counts = difference.files.counts
    rows = [(f"{counts[fate]:,}", fate.value) for fate in counts if counts[fate]]
    heads = (Head("", number=True, meaning="files"), Head("", meaning="what became of them"))
    return GridBlock(heads, tuple(rows), label="Files", flexible=1)


def _changes(difference: Difference) -> NotesBlock:
    if not difference.files.listed:
        return NotesBlock(())
    changed = difference.files.changed()
    lines: tuple[Inline, ...] = tuple((f"{fate.value}: ", NameSpan(path)) for path, fate in changed)
    return NotesBlock(lines, shown=CHANGES_SHOWN)
