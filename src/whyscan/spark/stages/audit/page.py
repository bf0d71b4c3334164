"""The audit as an HTML page: the ranking, sums by table, column and day, and every query in full.

The tables of sums and the plot are static HTML. A script draws the visible rows of the ranking from
data. The details of a query are a compressed piece of HTML until the reader opens them. Without
scripts, the first queries are shown as static HTML.
"""

from __future__ import annotations

import base64
import gzip
import json
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from whyscan.reports.markdown import sql_lines
from whyscan.reports.pages.bars import part_of
from whyscan.reports.pages.data import script_json
from whyscan.reports.pages.page import template_words
from whyscan.reports.pages.shell import document, piece
from whyscan.reports.view import (
    Cell,
    CodeSpan,
    FindingsBlock,
    GridBlock,
    Head,
    NotesBlock,
    Section,
)
from whyscan.reports.words import counted, inert, inert_sql, percent, size
from whyscan.spark.stages.audit import phrases
from whyscan.spark.stages.audit.spending import periods, spending, undated
from whyscan.spark.stages.audit.view import (
    UNKNOWN,
    basis,
    lists,
    more_sums,
    scan_blocks,
    to_do,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from whyscan.reports.pages.bars import Segment
    from whyscan.reports.view import Blocks
    from whyscan.spark.stages.audit.report import (
        Audit,
        ColumnTotal,
        QueryLine,
        TableTotal,
    )
    from whyscan.spark.stages.audit.spending import Period, Spending

SCRIPTS = ("numbers.js", "grid.js", "audit.js", "start_audit.js")
IN_FULL = 2_000
"""How many queries can be opened; the others are only in the ranking."""
IN_A_PACK = 50
IDS_OF_A_QUERY = 10_000
"""The ids of elements in the details of a query are from its rank times this number on."""
WRITTEN_OUT = 25
"""How many queries are shown without scripts."""
LISTED = 500
"""How many rows of a static table are shown."""
LONGEST_TEXT = 20_000
LONGEST_LINE = 1_000


def page(audit: Audit) -> str:
    """A complete HTML document."""
    from markupsafe import Markup

    shapes = _shapes(audit.queries)
    pieces = [
        _piece(line, rank, shapes[line.shape], audit.run.timezone)
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


def _shapes(queries: Iterable[QueryLine]) -> dict[str, list[QueryLine]]:
    """The queries of each shape, the most wasteful first."""
    shapes: dict[str, list[QueryLine]] = {}
    for line in queries:
        shapes.setdefault(line.shape, []).append(line)
    return shapes


def _piece(line: QueryLine, rank: int, same_shape: Sequence[QueryLine], timezone: str) -> str:
    words = _query_words(line, rank, timezone) | {"same": _same_shape(same_shape)}
    return piece("audit_query.html.j2", query=line, rank=rank, **words)


def _same_shape(queries: Sequence[QueryLine]) -> str | None:
    """What all texts of a shape read and waste; None where the shape has one text."""
    if len(queries) == 1:
        return None
    spent = spending(queries)
    text = f"one of {len(queries):,} texts with other literals, {counted(spent.runs, 'run')} in all"
    return f"{text}, {size(spent.wasted)} of {size(spent.read)} wasted"


def _data(audit: Audit, pieces: Sequence[str]) -> dict[str, Any]:
    """The ranking in columns, and the pieces of HTML, many in one compressed pack."""
    queries = audit.queries
    firsts = {id(same_shape[0]) for same_shape in _shapes(queries).values()}
    return {
        "count": len(queries),
        "sql": [_cut(inert_sql(line.sql), LONGEST_LINE) for line in queries],
        "tables": [list(map(inert, line.table_names)) for line in queries],
        "findings": [_codes(line) for line in queries],
        "times": [line.times for line in queries],
        "read": [line.bytes_read for line in queries],
        "needed": [line.bytes_needed for line in queries],
        "wasted": [line.wasted for line in queries],
        "ratio": [line.ratio for line in queries],
        "rewrite": [int(any(t.write_instead for t in line.tables)) for line in queries],
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


def _codes(line: QueryLine) -> list[str]:
    return list(dict.fromkeys(finding.code.value for finding in line.all_findings))


def _words(audit: Audit) -> dict[str, Any]:
    answer = phrases.answer(audit)
    spent = spending(audit.queries)
    return template_words(LISTED) | {
        "notebook": False,
        "answer": answer[0].upper() + answer[1:],
        "worst": _worst(audit),
        "spent": spent,
        "bars": _bars(periods(audit.queries)),
        "undated": undated(audit.queries),
        "first": tuple(to_do(audit)),
        "columns": (_columns_section(audit), *more_sums(audit, LISTED)),
        "rest": _rest(audit),
        "opened": [line for line in audit.tables if line.error is None],
        "amount": _amount,
        "listed": LISTED,
        "in_full": IN_FULL,
    }


def _columns_section(audit: Audit) -> Section:
    """Return what scans read and waste whose conditions name a column."""
    columns = sorted(_columns(audit.tables), key=lambda pair: -(pair[1].wasted or 0))
    heads = (
        Head("column"),
        Head("table"),
        *(Head(name, number=True) for name in ("wasted", "read", "runs")),
    )
    rows = tuple(
        (
            Cell(CodeSpan(column.column), key=inert(column.column)),
            Cell(CodeSpan(table.name), key=inert(table.name)),
            Cell(
                _amount(column.wasted),
                bar=_wasted_bar(column),
                key=column.wasted,
            ),
            Cell(_amount(column.bytes_read), key=column.bytes_read),
            Cell(f"{column.times:,}", key=column.times),
        )
        for table, column in columns
    )
    meaning = (
        "What scans read whose conditions name the column. A scan counts for each of its columns, "
        "so that these are no parts of the tables' sums."
    )
    grid = GridBlock(heads, rows, label="By column", sortable=True, sorted_by=2)
    return Section("By column", (NotesBlock((meaning,)), grid) if rows else ())


def _wasted_bar(column: ColumnTotal) -> tuple[Segment, ...]:
    """Return the wasted part of what is read, in the colour of waste."""
    if not column.bytes_read:
        return ()
    parts = part_of(column.wasted, column.bytes_read)
    return tuple(replace(part, fate="some") if part.fate == "kept" else part for part in parts)


def _rest(audit: Audit) -> Blocks:
    """Return what drifted or could not be done, and what the numbers rest on."""
    notes = NotesBlock(tuple(audit.run.notes))
    return (*lists(audit, LISTED), Section("What this rests on", (basis(audit), notes)))


def _query_words(line: QueryLine, rank: int, timezone: str) -> dict[str, Any]:
    statement = line.statement(timezone)
    levels = [
        level for scan in statement.scans if scan.answer is None for level in scan.report.levels
    ]
    return template_words(LISTED, first_id=rank * IDS_OF_A_QUERY) | {
        "data": None,
        "notebook": False,
        "findings": (FindingsBlock(line.findings),),
        "scans": [
            (table.scan.title, phrases.heading(table), tuple(scan_blocks(table, statement)))
            for table in line.tables
        ],
        "mechanisms": {m for level in levels for m in level.pruned_by} if levels else None,
        "notes": (NotesBlock(line.notes),),
        "text": _cut("\n".join(sql_lines(line.sql)), LONGEST_TEXT),
        "heading": phrases.heading(line),
        "ran": _ran(line),
        "short": lambda text: _cut(inert_sql(text), LONGEST_LINE),
    }


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _amount(count: int | None) -> str:
    return UNKNOWN if count is None else size(count)


def _ran(line: QueryLine) -> str:
    text = counted(line.times, "run")
    if line.first is not None and line.last is not None:
        first, last = (f"{moment:%Y-%m-%d %H:%M}" for moment in (line.first, line.last))
        text += f", {first} UTC" if first == last else f", from {first} to {last} UTC"
    if line.wasted:
        cost = None if line.cost is None else line.cost.wasted
        wasted = phrases.sized(line.wasted, cost, priced=line.cost is not None)
        text += f"; all of them waste {wasted}"
    if line.bytes_logged is not None:
        text += f"; the log says that they read {size(line.bytes_logged)}"
    return text


def _worst(audit: Audit) -> str | None:
    """Which queries to begin with; None where nothing is wasted."""
    first = next(iter(audit.queries), None)
    if first is None or not first.wasted or first.bytes_read is None:
        return None
    wasted = spending(audit.queries).wasted
    count, count_wasted = 0, 0
    for line in audit.queries:
        count, count_wasted = count + 1, count_wasted + (line.wasted or 0)
        if count_wasted * 2 >= wasted:
            break
    who = "the first query" if count == 1 else f"the first {count:,} queries"
    return f"{percent(count_wasted, wasted)} of that is read by {who} of the ranking."


def _columns(tables: Sequence[TableTotal]) -> Iterator[tuple[TableTotal, ColumnTotal]]:
    return ((table, column) for table in tables for column in table.columns)


class Bar(Struct, frozen=True):
    """One period of the plot; the plot has a height of 100."""

    period: Period
    needed: float
    wasted: float
    tooltip: str


def _bars(periods: Sequence[Period]) -> list[Bar]:
    most = max((period.spent.read for period in periods), default=0) or 1
    return [
        Bar(
            period,
            round(100 * period.spent.needed / most, 2),
            round(100 * period.spent.wasted / most, 2),
            _tooltip(period.name, period.spent),
        )
        for period in periods
    ]


def _tooltip(name: str, spent: Spending) -> str:
    text = f"{name}: {counted(spent.runs, 'run')}, {size(spent.read)} read"
    if spent.wasted:
        text += f", {size(spent.wasted)} wasted"
    return text if not spent.unknown else f"{text}; of {counted(spent.unknown, 'run')} not known"
