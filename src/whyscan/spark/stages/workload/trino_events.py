"""Read Trino's `QueryCompletedEvent` in JSON, as Trino's event listeners write it.

Trino's drivers send every statement with parameters as `EXECUTE`: the prepared text gets its values
again, one for each `?`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import TokenType

from whyscan.predicate.syntax.parse import dialect_named
from whyscan.spark.stages.workload.parameters import filled
from whyscan.spark.stages.workload.query import ActualScan, Query, Unparsed
from whyscan.spark.stages.workload.query_logs import parsed_time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot.tokenizer_core import Token

DIALECT = "trino"
_EXECUTE = re.compile(
    r"""\s*EXECUTE\s+
    (?:IMMEDIATE\s+'(?P<text>(?:[^']|'')*+)' | \w+ | "(?:[^"]|"")++")
    (?:\s+USING\s+(?P<values>.+?))?\s*;?\s*""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


def trino_event(entry: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The Trino event in a JSON object, of a query that began or ended; None if there is none.

    The HTTP listener sends the event itself, the Kafka listener puts it into an envelope.
    """
    payload = entry.get("eventPayload")
    event: Mapping[str, Any] = payload if isinstance(payload, dict) else entry
    metadata = event.get("metadata")
    is_one = isinstance(metadata, dict) and "query" in metadata and "queryId" in metadata
    return event if is_one else None


def read_trino(event: Mapping[str, Any], origin: str) -> Query | Unparsed:
    """The query of an event that has statistics; a failed query has read data too."""
    metadata, statistics = event["metadata"], event.get("statistics")
    where = f"{origin} ({metadata['queryId']})"
    text = executed(str(metadata["query"] or ""), metadata.get("preparedQuery")).strip()
    if not isinstance(statistics, dict):
        return Unparsed(where, text, "the event tells only that the query began")
    when = event.get("createTime") or event.get("executionStartTime")
    begun, notes = parsed_time(when)
    inputs = (event.get("ioMetadata") or {}).get("inputs") or ()
    return Query(
        text,
        DIALECT,
        first=begun,
        last=begun,
        days={} if begun is None else {begun.date().isoformat(): 1},
        bytes_read=_integer(statistics.get("physicalInputBytes")),
        origins=(where,),
        actual=tuple(_scan(table_input) for table_input in inputs if isinstance(table_input, dict)),
        notes=notes,
        namespace=_namespace(event.get("context")),
        users=_users(event.get("context")),
    )


def _users(context: Any) -> dict[str, int]:
    user = context.get("user") if isinstance(context, dict) else None
    return {user: 1} if isinstance(user, str) and user else {}


def _namespace(context: Any) -> str:
    """Catalog and schema of the session; empty if one is missing: then names are qualified."""
    session = context if isinstance(context, dict) else {}
    parts = [session.get("catalog"), session.get("schema")]
    return ".".join(str(part) for part in parts) if all(parts) else ""


def _scan(table_input: Mapping[str, Any]) -> ActualScan:
    """What was read of one table. The Iceberg connector counts files, Hive lists partitions."""
    parts = (table_input.get("catalogName"), table_input.get("schema"), table_input.get("table"))
    metrics, connector = table_input.get("connectorMetrics"), table_input.get("connectorInfo")
    files = metrics.get("dataFiles") if isinstance(metrics, dict) else None
    partitions = connector.get("partitionIds") if isinstance(connector, dict) else None
    return ActualScan(
        ".".join(str(part) for part in parts if part),
        files=_integer(files.get("total")) if isinstance(files, dict) else None,
        bytes=_integer(table_input.get("physicalInputBytes")),
        rows=_integer(table_input.get("physicalInputRows")),
        partitions=len(partitions) if isinstance(partitions, list) else None,
    )


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def executed(text: str, prepared: str | None) -> str:
    """The statement that a text executes; the text itself if it is no EXECUTE.

    If the number of values differs from the number of `?`, each `?` stays: it may be any value.
    """
    match = _EXECUTE.fullmatch(text)
    if match is None:
        return text
    statement = prepared if match["text"] is None else match["text"].replace("''", "'")
    if not statement:
        return text
    if match["values"] is None:
        return statement
    try:
        values = _parts(match["values"])
    except TokenError:
        return statement
    return filled(statement, dict(enumerate(values, 1)), DIALECT)


def _parts(values: str) -> list[str]:
    """The values of a list, split at commas outside of parentheses."""
    parts, depth, begin = list[str](), 0, 0
    for token in dialect_named(DIALECT).tokenize(values):
        depth += _deeper(token)
        if not depth and token.token_type is TokenType.COMMA:
            parts.append(values[begin : token.start].strip())
            begin = token.end + 1
    return [*parts, values[begin:].strip()]


def _deeper(token: Token) -> int:
    opens = token.token_type in {TokenType.L_PAREN, TokenType.L_BRACKET}
    return int(opens) - int(token.token_type in {TokenType.R_PAREN, TokenType.R_BRACKET})
