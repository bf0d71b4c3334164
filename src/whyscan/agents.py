"""The tools of `whyscan mcp`: questions that an agent may ask, of the roots that a user named.

Each tool reads metadata, writes nothing, and returns the JSON document of its report as structured
result, with the text of the report beside it. A result that is too large is refused.
"""

from __future__ import annotations

import json
import os
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from msgspec import Struct
from pydantic import Field, ValidationError

from whyscan.advising import advise as advise_on
from whyscan.errors import UsageError, WhyscanError
from whyscan.masking import mask_credentials
from whyscan.reports.document import version as installed
from whyscan.reports.rendering import WrittenReport  # noqa: TC001 - the SDK reads annotations
from whyscan.statement import Lake, explain_lake
from whyscan.table import Table
from whyscan.table import open as open_table
from whyscan.tables.catalogs.names import table_name
from whyscan.tables.storage.locations import parse
from whyscan.terms import PlanTerms

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mcp.server.mcpserver import Context
    from mcp.types import InputRequiredResult

    from whyscan.statements.sql.time_travel import WrittenVersion
    from whyscan.tables.snapshot import Snapshot

LONGEST_TEXT = 8_000
"""How many characters of a report a model gets to read."""
LARGEST_DOCUMENT = 400_000
"""How many characters the JSON document of a report may have."""
LARGEST_FILE = 100_000_000
"""How many bytes the document of an audit may have."""
MOST_QUERIES = 10
"""How many queries of an audit a summary has."""
OF_A_QUERY = ("sql", "times", "bytes_read", "bytes_needed", "wasted", "error")
SAMPLE = 50_000_000
INSTRUCTIONS = (
    "whyscan plans scans of Delta, Iceberg, Hive and Parquet tables from metadata alone. Ask it "
    "before a query runs: which files a condition reads, why the others are skipped or stay, and "
    "what to write instead. It reads no rows, except for a sample in `advise`. Numbers are exact "
    "unless a report calls them an estimate."
)

TableArgument = Annotated[
    str, Field(description="A path, an address (s3://…) or a name in a catalog, below a root.")
]
WhereArgument = Annotated[str, Field(description="A WHERE condition, without the word WHERE.")]
ColumnsArgument = Annotated[
    list[str] | None, Field(description="The columns to read or to measure; all by default.")
]
DialectArgument = Annotated[str, Field(description="The SQL dialect: spark, trino, duckdb, …")]
ZoneArgument = Annotated[str, Field(description="The session time zone, such as Europe/Berlin.")]
TablesArgument = Annotated[
    dict[str, str],
    Field(description="Where the tables are, by the names that the statement uses."),
]


class Roots(Struct, frozen=True):
    """What may be opened: everything below these folders, addresses and catalogs."""

    names: tuple[str, ...]

    def require(self, location: str) -> str:
        """Return the location; UsageError if it is below no root."""
        if any(_is_below(location, root) for root in self.names):
            return location
        raise UsageError(
            f"{location} is below no root of this server",
            hint=f"its roots are {', '.join(self.names)}; whyscan mcp ROOT… names others",
        )


def _is_below(location: str, root: str) -> bool:
    """Say whether a location lies below a root, by what its path means and not by its text."""
    named = table_name(location)
    if named is not None:
        parts = (named.catalog, *named.parts)
        wanted = tuple(root.split("."))
        return parts[: len(wanted)] == wanted
    inside, above = parse(location), parse(root)
    if inside.store != above.store:
        return False
    if not inside.store:
        within = f"{inside.path}/{inside.pattern or ''}"
        return Path(os.path.realpath(within)).is_relative_to(os.path.realpath(above.path))
    parts = tuple(part for part in f"{inside.path}/{inside.pattern or ''}".split("/") if part)
    wanted = tuple(part for part in above.path.split("/") if part)
    return not {".", ".."} & set(parts) and parts[: len(wanted)] == wanted


class RootedLake(Lake):
    """The tables of a statement; those that it names by itself must be below a root, too."""

    def __init__(self, tables: Mapping[str, str], roots: Roots) -> None:
        super().__init__({name: roots.require(place) for name, place in tables.items()}, {})
        self._roots = roots

    def opened(self, name: str, version: WrittenVersion | None) -> Snapshot:
        if name not in self:
            self._roots.require(name)
        return super().opened(name, version)


class MaskingServer(MCPServer):
    """A server of which no error shows a credential: the SDK repeats arguments that it refuses."""

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        context: Context[Any, Any] | None = None,
    ) -> CallToolResult | InputRequiredResult:
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError:
            raise
        except ToolError as error:
            wrong = error.__cause__
            text = _wrong_arguments(wrong) if isinstance(wrong, ValidationError) else str(error)
            raise ToolError(mask_credentials(text)) from None


def _wrong_arguments(error: ValidationError) -> str:
    """Return what is wrong with which argument; Pydantic's own text has abbreviated values."""
    return "\n".join(
        f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg']}"
        for wrong in error.errors(include_url=False, include_input=False)
    )


def server(names: Sequence[str]) -> MCPServer:
    """Make the server; `names` are the roots."""
    tools = Tools(Roots(tuple(names)))
    made = MaskingServer(
        "whyscan", instructions=INSTRUCTIONS, version=installed(), log_level="WARNING"
    )
    reading = ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    for tool in (
        tools.explain,
        tools.explain_sql,
        tools.stats,
        tools.diff,
        tools.describe,
        tools.advise,
        tools.audit_summary,
    ):
        made.add_tool(_answering(tool), annotations=reading, structured_output=False)
    return made


def _answering(tool: Callable[..., WrittenReport | dict[str, Any]]) -> Callable[..., Any]:
    """Make of a report what the protocol carries; an error of whyscan becomes one of the tool."""

    @wraps(tool)
    def answering(**arguments: Any) -> CallToolResult:
        try:
            return _result(tool(**arguments))
        except WhyscanError as error:
            hint = "" if error.hint is None else f"\nhint: {error.hint}"
            raise ToolError(f"{error.message}{hint}") from None

    return answering


def _result(answer: WrittenReport | dict[str, Any]) -> CallToolResult:
    """Return the document and its text, shortened at a line; too large a document is refused."""
    if isinstance(answer, dict):
        document, text = answer, json.dumps(answer, indent=1)
    else:
        document, text = json.loads(answer.to_json()), answer.to_text()
    length = len(json.dumps(document))
    if length > LARGEST_DOCUMENT:
        raise UsageError(
            f"the answer has {length:,} characters, and {LARGEST_DOCUMENT:,} are the limit",
            hint="name fewer columns, versions or tables",
        )
    if len(text) > LONGEST_TEXT:
        text = f"{text[:LONGEST_TEXT].rpartition(chr(10))[0]}\n… the structured result has the rest"
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=document
    )


class Tools(Struct, frozen=True):
    """The tools, with the roots that they may open."""

    roots: Roots

    def _open(self, table: str) -> Table:
        return open_table(self.roots.require(table))

    def explain(
        self,
        table: TableArgument,
        where: WhereArgument,
        columns: ColumnsArgument = None,
        dialect: DialectArgument = "spark",
        timezone: ZoneArgument = "UTC",
    ) -> WrittenReport:
        """Say which files of one table a condition reads, why, and what to change."""
        return self._open(table).explain(where, select=columns, dialect=dialect, timezone=timezone)

    def explain_sql(
        self,
        sql: Annotated[str, Field(description="A statement: SELECT, MERGE, UPDATE or DELETE.")],
        tables: TablesArgument,
        dialect: DialectArgument = "spark",
        timezone: ZoneArgument = "UTC",
    ) -> WrittenReport:
        """Say what a whole statement reads of every table, with what joins and subqueries skip."""
        lake = RootedLake(tables, self.roots)
        return explain_lake(sql, lake, PlanTerms(dialect, timezone))

    def stats(self, table: TableArgument, columns: ColumnsArgument = None) -> WrittenReport:
        """Say which columns of a table can skip files, and how its files are organised."""
        return self._open(table).stats(select=columns)

    def diff(
        self,
        before: TableArgument,
        after: TableArgument,
        where: WhereArgument,
        dialect: DialectArgument = "spark",
        timezone: ZoneArgument = "UTC",
    ) -> WrittenReport:
        """Compare what a condition reads of two tables, such as before and after a change."""
        return self._open(before).diff(self._open(after), where, dialect=dialect, timezone=timezone)

    def describe(
        self,
        table: TableArgument,
        versions: Annotated[int, Field(ge=0, le=100, description="How many versions.")] = 5,
    ) -> WrittenReport:
        """Say what a table is: columns, partitions, settings, versions, sizes, statistics."""
        return self._open(table).describe(versions=versions)

    def advise(
        self,
        workload: Annotated[str, Field(description="A query log below a root, such as a CSV.")],
        tables: TablesArgument,
        dialect: DialectArgument = "spark",
    ) -> WrittenReport:
        """Say what layout each table should have for a query log. It reads a sample of rows."""
        places = {name: self.roots.require(place) for name, place in tables.items()}
        return advise_on(self.roots.require(workload), places, sample=SAMPLE, dialect=dialect)

    def audit_summary(
        self,
        document: Annotated[
            str, Field(description="A file of `whyscan audit --format json`, below a root.")
        ],
    ) -> dict[str, Any]:
        """Say what an audit found: what to do first, what is wasted, and the worst queries."""
        return audit_summary(Path(self.roots.require(document)))


def audit_summary(path: Path) -> dict[str, Any]:
    """Return the document of an audit with its worst queries in short."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise UsageError(f"{path} is larger than {LARGEST_FILE:,} bytes")
        audit = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    if not isinstance(audit, dict) or not {"run", "queries", "actions"} <= audit.keys():
        raise UsageError(
            f"{path} is no document of an audit", hint="whyscan audit --format json -o FILE"
        )
    short = [{name: q.get(name) for name in OF_A_QUERY} for q in audit["queries"][:MOST_QUERIES]]
    rest = {name: audit.get(name) for name in ("run", "actions", "result", "cost")}
    return {**rest, "query_count": len(audit["queries"]), "queries": short}
