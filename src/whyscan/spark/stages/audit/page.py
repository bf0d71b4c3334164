"""An audit as a page of HTML: the ranking, sums by table, column and day, and every query in full.

The tables of sums and the plot are written out. The ranking is drawn from data by a script, as many
rows as can be seen; what there is to say of one query is a piece of the page that is packed away
until somebody asks for it. Without scripts the first queries are written out too.
"""

from __future__ import annotations

import base64
import gzip
import json
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from whyscan.reports.pages.data import script_json
from whyscan.reports.pages.page import report_words
from whyscan.reports.pages.shell import document, piece
from whyscan.reports.words import counted, inert, inert_sql, percent, size
from whyscan.spark.stages.audit import phrases
from whyscan.spark.stages.audit.spending import periods, spending, undated
from whyscan.statements.reports.phrases import sql_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from whyscan.spark.stages.audit.report import (
        Audit,
        AuditedScan,
        ColumnTotal,
        QueryLine,
        TableTotal,
    )
    from whyscan.spark.stages.audit.spending import Period, Spending

SCRIPTS = ("numbers.js", "grid.js", "sorting.js", "audit.js", "start_audit.js")
IN_FULL = 2_000
"""So many queries can be opened; the rest is in the ranking."""
IN_A_PACK = 50
WRITTEN_OUT = 25
"""Queries that are there without scripts."""
IN_NOTEBOOK = 20
LISTED = 500
"""Rows of a table that is written out."""
LONGEST_TEXT = 20_000
LONGEST_LINE = 1_000
UNKNOWN = "\N{EN DASH}"


def page(audit: Audit) -> str:
    """A whole document."""
    from markupsafe import Markup

    shapes = _shapes(audit.queries)
    pieces = [
        _piece(line, rank, shapes[line.shape])
        for rank, line in enumerate(audit.queries[:IN_FULL], 1)
    ]
    words = _words(audit)
    return document(
        "audit.html.j2",
        scripts=SCRIPTS,
        styles=("stats.css", "audit.css"),
        audit=audit,
        # JSON without `<`, `>` and `&` is safe, and so are pieces that Jinja has made.
        data=Markup(script_json(_data(audit, pieces))),  # noqa: S704
        written_out=[Markup(text) for text in pieces[:WRITTEN_OUT]],  # noqa: S704
        **words,
    )


def fragment(audit: Audit) -> str:
    """What a notebook shows."""
    return piece("audit_fragment.html.j2", audit=audit, **_words(audit))


def _shapes(queries: Iterable[QueryLine]) -> dict[str, list[QueryLine]]:
    """The queries of each shape, what wastes the most first."""
    found: dict[str, list[QueryLine]] = {}
    for line in queries:
        found.setdefault(line.shape, []).append(line)
    return found


def _piece(line: QueryLine, rank: int, alike: Sequence[QueryLine]) -> str:
    words = _query_words(line) | {"same": _same(alike)}
    return piece("audit_query.html.j2", query=line, rank=rank, **words)


def _same(alike: Sequence[QueryLine]) -> str | None:
    """What all texts of a shape come to; None where there is one alone."""
    if len(alike) == 1:
        return None
    spent = spending(alike)
    told = f"one of {len(alike):,} texts with other literals, {counted(spent.runs, 'run')} in all"
    return f"{told}, {size(spent.wasted)} of {size(spent.read)} in vain"


def _data(audit: Audit, pieces: Sequence[str]) -> dict[str, Any]:
    """The ranking in columns, and behind it the pieces, many in a pack."""
    queries = audit.queries
    firsts = {id(alike[0]) for alike in _shapes(queries).values()}
    return {
        "count": len(queries),
        "sql": [_cut(inert_sql(line.sql), LONGEST_LINE) for line in queries],
        "tables": [_names(line) for line in queries],
        "findings": [_codes(line) for line in queries],
        "times": [line.times for line in queries],
        "read": [line.bytes_read for line in queries],
        "needed": [line.bytes_needed for line in queries],
        "wasted": [line.wasted for line in queries],
        "ratio": [line.ratio for line in queries],
        "rewrite": [int(any(t.rewrite for t in line.tables)) for line in queries],
        "first": [int(id(line) in firsts) for line in queries],
        "failed": [int(line.error is not None) for line in queries],
        "inFull": len(pieces),
        "inAPack": IN_A_PACK,
        "packs": [
            _packed(pieces[start : start + IN_A_PACK]) for start in range(0, len(pieces), IN_A_PACK)
        ],
    }


def _packed(pieces: Sequence[str]) -> str:
    return base64.b64encode(gzip.compress(json.dumps(pieces).encode(), mtime=0)).decode()


def _names(line: QueryLine) -> list[str]:
    return list(dict.fromkeys(inert(table.name) for table in line.tables))


def _codes(line: QueryLine) -> list[str]:
    found = [*line.findings, *(f for table in line.tables for f in table.findings)]
    return list(dict.fromkeys(finding.code.value for finding in found))


def _words(audit: Audit) -> dict[str, Any]:
    told = phrases.answer(audit)
    spent = spending(audit.queries)
    columns = sorted(_columns(audit.tables), key=lambda found: -(found[1].wasted or 0))
    return report_words() | {
        "answer": told[0].upper() + told[1:],
        "worst": _worst(audit),
        "spent": spent,
        "bars": _bars(periods(audit.queries)),
        "undated": undated(audit.queries),
        "columns": columns[:LISTED],
        "more_columns": len(columns) - LISTED,
        "opened": [line for line in audit.tables if line.error is None],
        "broken": [line for line in audit.tables if line.error is not None],
        "failed": phrases.failed,
        "drifted": phrases.drifted,
        "kept": phrases.kept,
        "amount": _amount,
        "listed": LISTED,
        "in_full": IN_FULL,
        "in_notebook": IN_NOTEBOOK,
        "first_lines": lambda text: _cut(inert_sql(text), LONGEST_LINE),
    }


def _query_words(line: QueryLine) -> dict[str, Any]:
    return report_words() | {
        "mechanisms": {m for t in line.tables for level in t.levels for m in level.pruned_by},
        "text": _cut("\n".join(sql_lines(line.sql)), LONGEST_TEXT),
        "heading": _heading(line),
        "ran": _ran(line),
        "compared": _compared,
        "amount": _amount,
        "kept": phrases.kept,
        "short": lambda text: _cut(inert_sql(text), LONGEST_LINE),
    }


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _amount(count: int | None) -> str:
    return UNKNOWN if count is None else size(count)


def _heading(line: QueryLine) -> str:
    if line.bytes_read is None or line.bytes_needed is None:
        return "what it reads is not known"
    if not line.wasted:
        return f"reads {size(line.bytes_read)}, nothing of it in vain"
    return f"reads {size(line.bytes_read)} and could read {size(line.bytes_needed)}"


def _ran(line: QueryLine) -> str:
    told = counted(line.times, "run")
    if line.first is not None and line.last is not None:
        first, last = (f"{moment:%Y-%m-%d %H:%M}" for moment in (line.first, line.last))
        told += f", {first} UTC" if first == last else f", from {first} to {last} UTC"
    if line.wasted:
        told += f"; all of them read {size(line.wasted)} in vain"
    if line.bytes_logged is not None:
        told += f"; the log says that they read {size(line.bytes_logged)}"
    return told


def _worst(audit: Audit) -> str | None:
    """What to begin with; None where nothing is read in vain."""
    first = next(iter(audit.queries), None)
    if first is None or not first.wasted or first.bytes_read is None:
        return None
    whole = spending(audit.queries).wasted
    few, sum_of_few = 0, 0
    for line in audit.queries:
        few, sum_of_few = few + 1, sum_of_few + (line.wasted or 0)
        if sum_of_few * 2 >= whole:
            break
    who = "the first query" if few == 1 else f"the first {few:,} queries"
    return f"{percent(sum_of_few, whole)} of that is read by {who} of the ranking."


def _columns(tables: Sequence[TableTotal]) -> Iterator[tuple[TableTotal, ColumnTotal]]:
    return ((table, column) for table in tables for column in table.columns)


class Bar(Struct, frozen=True):
    """One period of the plot, of 100 in height."""

    period: Period
    needed: float
    wasted: float
    told: str


def _bars(found: Sequence[Period]) -> list[Bar]:
    most = max((period.spent.read for period in found), default=0) or 1
    return [
        Bar(
            period,
            round(100 * period.spent.needed / most, 2),
            round(100 * period.spent.wasted / most, 2),
            _told(period.name, period.spent),
        )
        for period in found
    ]


def _told(name: str, spent: Spending) -> str:
    told = f"{name}: {counted(spent.runs, 'run')}, {size(spent.read)} read"
    if spent.wasted:
        told += f", {size(spent.wasted)} in vain"
    return told if not spent.unknown else f"{told}; of {counted(spent.unknown, 'run')} not known"


def _compared(table: AuditedScan) -> Iterator[tuple[str, str, str]]:
    """What is predicted of one run, and what the engine says of one on average."""
    if table.actual is None or table.summary is None:
        return
    runs, summary = max(table.actual.runs, 1), table.summary
    lines = (
        ("files", summary.files_kept, table.actual.files, "{:,}".format),
        ("bytes", table.bytes_kept, table.actual.bytes, size),
        ("rows", summary.rows_kept, table.actual.rows, "{:,}".format),
    )
    for name, predicted, actual, worded in lines:
        told = UNKNOWN if predicted is None else worded(predicted)
        yield name, told, UNKNOWN if actual is None else worded(round(actual / runs))
