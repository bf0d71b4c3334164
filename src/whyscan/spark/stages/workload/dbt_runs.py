"""Read the queries of a dbt run from `manifest.json` and `run_results.json`.

The manifest has the compiled SQL and the materialization of each model. The results have the
models that ran, when, and the bytes that the warehouse reports as read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from whyscan.errors import WhyscanError
from whyscan.predicate.syntax.parse import DIALECTS
from whyscan.spark.stages.workload.query import Query, Unparsed
from whyscan.spark.stages.workload.query_logs import parsed_time
from whyscan.statements.dbt.project import Unexplained, statement_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SKIPPED = frozenset({"skipped", "no-op"})
_NOTHING: Mapping[str, Any] = {}


class DbtRun(Struct, frozen=True):
    """The manifest and the results of a dbt run; either may be empty."""

    manifest: Mapping[str, Any] = _NOTHING
    results: Mapping[str, Any] = _NOTHING


def is_dbt_document(entry: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a dbt document."""
    metadata = entry.get("metadata")
    return isinstance(metadata, dict) and "dbt_schema_version" in metadata


def run_of(documents: list[Mapping[str, Any]]) -> DbtRun:
    """The manifest and the results among some documents."""
    manifest = next((document for document in documents if "nodes" in document), _NOTHING)
    return DbtRun(
        manifest, next((document for document in documents if "results" in document), _NOTHING)
    )


def read_dbt(run: DbtRun, origin: str, dialect: str) -> Iterator[Query | Unparsed]:
    """One entry per node that ran; without results, one per node."""
    adapter = str((run.manifest.get("metadata") or _NOTHING).get("adapter_type") or dialect)
    language = adapter if adapter in DIALECTS else dialect
    nodes: Mapping[str, Any] = run.manifest.get("nodes") or _NOTHING
    if not run.results:
        for name, node in nodes.items():
            yield _read_node(node, _NOTHING, f"{origin}/{name}", language)
        return
    full = bool((run.results.get("args") or _NOTHING).get("full_refresh"))
    for result in run.results["results"]:
        name = str(result.get("unique_id") if isinstance(result, dict) else None)
        node = nodes.get(name, _NOTHING)
        yield _read_node(node, result, f"{origin}/{name}", language, full_refresh=full)


def _read_node(
    node: Mapping[str, Any],
    result: Mapping[str, Any],
    where: str,
    dialect: str,
    *,
    full_refresh: bool = False,
) -> Query | Unparsed:
    """The query of one node; a malformed node is unparsed and does not stop the others."""
    try:
        return _node(node, result, where, dialect, full_refresh=full_refresh)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        return Unparsed(where, "", f"it has not the parts of its kind: {error!r:.200}")


def _node(
    node: Mapping[str, Any],
    result: Mapping[str, Any],
    where: str,
    dialect: str,
    *,
    full_refresh: bool = False,
) -> Query | Unparsed:
    texts = [part.get(key) for part in (result, node) for key in ("compiled_code", "compiled_sql")]
    text = str(next((candidate for candidate in texts if candidate), "")).strip()
    status = str(result.get("status") or "")
    if status in _SKIPPED:
        return Unparsed(where, text, "it was skipped")
    try:
        model = statement_of(node, text, dialect, _target(node, result), full_refresh=full_refresh)
    except WhyscanError as error:
        return Unparsed(where, text, error.message)
    if isinstance(model, Unexplained):
        return Unparsed(where, text, model.why)
    built = ("the statement around its query is written here",) if model.sql != text else ()
    when, unread = parsed_time(_begun(result))
    read = (result.get("adapter_response") or _NOTHING).get("bytes_processed")
    return Query(
        model.sql,
        dialect,
        first=when,
        last=when,
        days={} if when is None else {when.date().isoformat(): 1},
        bytes_read=read if isinstance(read, int) and not isinstance(read, bool) else None,
        origins=(where,),
        notes=(*model.notes, *built, *unread),
    )


def _target(node: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    """The name of the table that a model fills, as dbt writes it."""
    named = result.get("relation_name") or node.get("relation_name")
    return str(named or node.get("alias") or node.get("name") or "this")


def _begun(result: Mapping[str, Any]) -> Any:
    """The start of the execution, else of the compilation."""
    timing = {part.get("name"): part.get("started_at") for part in result.get("timing") or ()}
    return timing.get("execute") or timing.get("compile")
