"""The view of a verification: the answer, the table of engines, then every error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports.phrases import version_of
from whyscan.reports.view import (
    CodeSpan,
    FactsBlock,
    GridBlock,
    Head,
    NamedValue,
    NameSpan,
    NotesBlock,
    Section,
    TitleBlock,
    Tone,
)
from whyscan.reports.words import counted, level_name, unit
from whyscan.spark.stages.verify.result import EngineComparison

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.view import Block, Blocks, GridRow
    from whyscan.spark.stages.verify.result import (
        Contradiction,
        EngineRead,
        Lie,
        PredicateProof,
        TableProof,
        Verification,
        Wrong,
    )

NOT_CHECKED = "not checked"
PATHS_SHOWN = 3
SHOWN = 50
LEGEND = "tight: reads what the plan reads; +n: n more, pruning that the engine lost"
MORE_THAN_PREDICTED = "engines that read more than their profile predicts"
MADE = "Every row of the files that were read was compared with plans and statistics."
LIES = {
    "lower": "lower bound",
    "upper": "upper bound",
    "values": "count of values",
    "nulls": "count of NULLs",
    "nan": "count of NaNs",
    "rows": "count of rows",
    "bytes": "size in bytes",
    "deleted": "count of deleted rows",
    "partition lower": "partition value",
    "partition upper": "partition value",
    "partition nulls": "NULLs beside a partition value",
    "partition values": "values in the partition of NULL",
    "bucket lower": "bucket of its partition",
    "bucket upper": "bucket of its partition",
}


def view(verification: Verification) -> Blocks:
    """Return the blocks of all tables."""
    uris = ", ".join(table.uri for table in verification.tables)
    return (
        TitleBlock(answer(verification), command="verify", subject=uris, made=MADE),
        *(block for table in verification.tables for block in _table(table)),
        _failures(verification),
    )


def _table(table: TableProof) -> Iterator[Block]:
    about = ", ".join(filter(None, (table.format, version_of(table))))
    rows = [
        NamedValue("table", NameSpan(table.uri), beside=about),
        NamedValue("read", amount(table)),
    ]
    if table.columns:
        rows.append(NamedValue("columns", f"{', '.join(table.columns)}: statistics compared"))
    if table.native.rows is not None:
        rows.append(
            NamedValue("beside", f"{table.native.reader}, which reads {table.native.rows:,} rows")
        )
    yield FactsBlock(tuple(rows))
    yield Section("Predicates", (_predicates(table),), quiet=True)
    engines = _engines(table)
    if engines.rows:
        yield Section("What engines read", (engines, NotesBlock((LEGEND,))), quiet=True)
    yield from _sections(table)


def _predicates(table: TableProof) -> GridBlock:
    """Return one row per predicate."""
    heads = (Head("predicate"), Head("rows", number=True), Head("files kept", number=True))
    rows: tuple[GridRow, ...] = tuple(
        (
            CodeSpan(proof.predicate),
            "" if proof.rows_true is None else f"{proof.rows_true:,}",
            kept(proof),
            verdict(proof),
        )
        for proof in table.predicates
    )
    return GridBlock((*heads, Head("plan")), rows, label="Predicates")


def _engines(table: TableProof) -> GridBlock:
    """Return one row per engine that ran a predicate; its first row names the predicate."""
    heads = (Head("predicate"), Head("engine"), Head("proven", number=True))
    numbers = (Head("predicted", number=True), Head("read", number=True))
    rows: tuple[GridRow, ...] = tuple(
        (CodeSpan(proof.predicate) if not at else "", *_amounts(read, proof), cell(read))
        for proof in table.predicates
        for at, read in enumerate(read for read in proof.engines if read.why is None)
    )
    verdict_head = Head("", meaning="against the plan")
    return GridBlock((*heads, *numbers, verdict_head), rows, label="Engines")


def _amounts(read: EngineRead, proof: PredicateProof) -> tuple[str, str, str, str]:
    """The engine, and what is proven, predicted and read, in the number that the engine gives."""
    by, plan, predicted = read.by, proof.planned, read.predicted
    title = read.engine
    if predicted is not None:
        title = f"{read.engine} {'.'.join(predicted.version.split('.')[:2])}"
    if by is None or plan is None:
        return title, "", "", ""
    guess = None if predicted is None else predicted.number(by)
    bound = "at least " if predicted is not None and predicted.at_least else ""
    return (
        title,
        _number(plan.number(by)),
        "" if guess is None else f"{bound}{guess:,}",
        counted(read.number(by) or 0, unit(by)),
    )


def _number(count: int | None) -> str:
    return "" if count is None else f"{count:,}"


def more_than_predicted(table: TableProof) -> Iterator[str]:
    """The engines that read more than their profile predicts, with the rules of the profile."""
    for proof in table.predicates:
        for read in proof.engines:
            predicted = read.predicted
            if predicted is None or predicted.reads is not EngineComparison.MORE:
                continue
            numbers = (
                f"{counted(actual, unit(by))} for {guess:,}"
                for by in ("files", "row_groups", "rows")
                if (guess := predicted.number(by)) is not None
                and (actual := read.number(by)) is not None
                and actual > guess
            )
            rules = f" by {', '.join(predicted.rules)}" if predicted.rules else ""
            yield (
                f"{read.engine} {predicted.version} reads {' and '.join(numbers)} that its profile "
                f"predicts{rules}: {' '.join(proof.predicate.split())}"
            )


def answer(verification: Verification) -> str:
    """The verification in one line."""
    proofs = [proof for table in verification.tables for proof in table.predicates]
    wrong = list(_wrongs(verification, proofs))
    if wrong:
        return f"unsound: {', '.join(wrong)}"
    proven = sum(proof.why is None for proof in proofs)
    rows = sum(table.rows for table in verification.tables)
    read = counted(sum(table.files_read for table in verification.tables), "file")
    sentence = (
        f"{counted(proven, 'predicate')} held against {counted(rows, 'row')} of {read}: "
        "no row is lost, and no statistic lies"
    )
    return sentence if verification.evaluated else f"{sentence}; not everything could be checked"


def _wrongs(verification: Verification, proofs: list[PredicateProof]) -> Iterator[str]:
    lost = sum(proof.lost_rows for proof in proofs)
    if lost:
        yield f"{counted(lost, 'row')} lost"
    false = sum(len(proof.false_all) for proof in proofs)
    if false:
        yield f"{counted(false, 'container')} wrongly called all"
    lying = sum(len(table.lies) + len(table.contradictions) for table in verification.tables)
    if lying:
        yield f"{counted(lying, 'statistic')} {'lies' if lying == 1 else 'lie'}"
    if any(proof.outside for proof in proofs):
        yield "more or fewer rows match than the plan says"
    if any(proof.disputed for proof in proofs) or any(t.disputed for t in verification.tables):
        yield "Spark's own reader finds other rows"
    other = sum(len(proof.unsound_engines) for proof in proofs)
    if other:
        yield f"{counted(other, 'answer')} of engines with other rows"


def kept(proof: PredicateProof) -> str:
    """The kept files, `5 of 20`."""
    plan = proof.planned
    return "" if plan is None else f"{plan.files_kept:,} of {plan.files_total:,}"


def verdict(proof: PredicateProof) -> str:
    """The result of a predicate in a few words."""
    if proof.why is not None:
        return NOT_CHECKED
    wrong = []
    if proof.lost:
        wrong.append(f"{counted(proof.lost_rows, 'row')} lost")
    if proof.false_all:
        wrong.append("false all")
    if proof.outside:
        wrong.append("other counts")
    if proof.disputed:
        wrong.append("disputed")
    return ", ".join(wrong) or "sound"


def cell(read: EngineRead) -> str:
    """The result of an engine in a few words."""
    if read.why is not None:
        return NOT_CHECKED
    if read.sound is False:
        return f"other rows: {read.rows:,}"
    match read.reads:
        case EngineComparison.EQUAL:
            return "tight"
        case EngineComparison.FEWER:
            return f"fewer {level_name(read.by or 'files')}"
        case EngineComparison.MORE:
            return f"+{counted(read.more or 0, unit(read.by or 'files'))}"
        case None:
            return "same rows"


def wrong(kind: str, container: Wrong, proof: PredicateProof) -> str:
    """`lost: the file a.parquet is dropped and holds 3 matching rows, one at position 17`."""
    place = container.path
    if container.row_group is not None:
        place = f"row group {container.row_group} of {place}"
    elif container.level == "manifests":
        place = f"the manifest of {place}"
    rows = counted(container.rows, "row")
    statement = (
        f"{place} is dropped and holds {rows} for which it is TRUE"
        if kind == "lost"
        else f"{place} is called all and holds {rows} for which it is not TRUE"
    )
    sql = " ".join(proof.predicate.split())
    return f"{kind}: {statement}, one at position {container.position} ({sql})"


def lie(statistic: Lie) -> str:
    """`a.parquet, row group 2, id: the upper bound is recorded as 10, and is 15`."""
    place = statistic.path
    if statistic.row_group is not None:
        place += f", row group {statistic.row_group}"
    if statistic.column is not None:
        place += f", {statistic.column}"
    recorded = f"the {LIES[statistic.what]} is recorded as {_value(statistic.recorded)}"
    return f"{place}: {recorded}, and is {_value(statistic.actual)}"


def _value(value: object) -> str:
    return "unknown" if value is None else str(value)


def contradiction(statistics: Contradiction) -> str:
    where = counted(statistics.containers, unit(statistics.level))
    sentence = (
        f"{statistics.column}: statistics of {where} contradict themselves; none was believed"
    )
    if not statistics.paths:
        return sentence
    more = ", …" if len(statistics.paths) > PATHS_SHOWN else ""
    return f"{sentence}: {', '.join(statistics.paths[:PATHS_SHOWN])}{more}"


def disputes(table: TableProof) -> Iterator[str]:
    """The counts in which Spark's reader or the plan differs from the files."""
    if table.disputed:
        sentence = f"{table.native.reader} reads {table.native.rows:,} rows"
        yield f"{sentence}, the files hold {table.live:,}"
    for proof in table.predicates:
        if proof.disputed:
            sql = " ".join(proof.predicate.split())
            sentence = f"{table.native.reader} finds {proof.native:,} rows"
            yield f"{sentence}, the files hold {proof.rows_true:,} ({sql})"
        if proof.outside and proof.planned is not None:
            plan, sql = proof.planned, " ".join(proof.predicate.split())
            between = f"between {plan.at_least} and {plan.at_most}"
            yield f"{proof.rows_true:,} rows match, and the plan says {between} ({sql})"


def other_rows(table: TableProof) -> Iterator[str]:
    """The engines that returned another number of rows."""
    for proof in table.predicates:
        for read in proof.unsound_engines:
            yield (
                f"{read.engine} returns {read.rows:,} rows instead of {proof.rows_true:,}: "
                f"{' '.join((read.sql or proof.predicate).split())}"
            )


def not_checked(table: TableProof) -> Iterator[str]:
    """What was not checked, and why, without repetitions."""
    yield from table.unchecked
    if table.native.why is not None:
        yield f"{table.native.reader}'s own count: {table.native.why}"
    for proof in table.predicates:
        if proof.why is not None:
            yield f"{' '.join(proof.predicate.split())}: {proof.why}"
        elif proof.raised:
            rows = counted(proof.raised, "row")
            yield f"{' '.join(proof.predicate.split())}: Spark raises an error on {rows}"
    refusals = (
        f"{read.engine}: {read.why}"
        for proof in table.predicates
        for read in proof.engines
        if proof.why is None and read.why is not None
    )
    yield from dict.fromkeys(refusals)


def amount(table: TableProof) -> str:
    """What was read: `20 of 20 files, 20 row groups, 90 rows, 86 of them live`."""
    live = "" if table.live == table.rows else f", {table.live:,} of them live"
    return (
        f"{table.files_read:,} of {counted(table.files_total, 'file')}, "
        f"{counted(table.row_groups_read, 'row group')}, {counted(table.rows, 'row')}{live}"
    )


def _sections(table: TableProof) -> Iterator[Section]:
    """Yield errors and what was not checked of a table; empty sections are not shown."""
    verdicts = (
        wrong(kind, item, proof)
        for proof in table.predicates
        for kind, wrongs in (("lost", proof.lost), ("false all", proof.false_all))
        for item in wrongs
    )
    groups = (
        ("verdicts that the rows contradict", verdicts, Tone.BAD),
        ("statistics that lie", map(lie, table.lies), Tone.BAD),
        (
            "statistics that contradict themselves",
            map(contradiction, table.contradictions),
            Tone.BAD,
        ),
        ("counts that differ", disputes(table), Tone.BAD),
        ("engines with other rows", other_rows(table), Tone.BAD),
        (MORE_THAN_PREDICTED, more_than_predicted(table), Tone.WARN),
        ("files that cannot be read", (f"{f.path}: {f.why}" for f in table.unreadable), Tone.WARN),
        (NOT_CHECKED, not_checked(table), Tone.WARN),
    )
    for title, lines, tone in groups:
        yield Section(title, (NotesBlock(tuple(lines), shown=SHOWN),), tone=tone)


def _failures(verification: Verification) -> Section:
    """Return the tables and queries that could not be verified."""
    lines = tuple(f"{failure.name}: {failure.why}" for failure in verification.failures)
    return Section("could not be verified", (NotesBlock(lines, shown=SHOWN),), tone=Tone.WARN)
