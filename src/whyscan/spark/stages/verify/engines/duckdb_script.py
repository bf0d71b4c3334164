"""Run a condition with DuckDB; also a program for a Python that has only DuckDB.

The program reads one JSON request from standard input and writes one JSON answer.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

ANSWER = "found"
EXTENSIONS = {"delta_scan": ("delta",), "iceberg_scan": ("avro", "iceberg")}


def run_condition(connection: Any, relation: str, sql: str, timezone: str) -> dict[str, Any]:
    """The number of rows of a condition, and the files and row groups that DuckDB read."""
    import duckdb

    # sum and not count: Iceberg's extension answers count(*) from metadata.
    query = f"SELECT coalesce(sum(1), 0)::BIGINT FROM {relation} WHERE ({sql}\n)"  # noqa: S608 - the user's own
    try:
        connection.execute(f"SET TimeZone = '{timezone}'")
        rows = connection.execute(query).fetchone()[0]
        plan = connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {query}").fetchall()
    except duckdb.Error as error:
        return {"error": str(error).strip().splitlines()[0]}
    read = _read(json.loads(plan[0][1]))
    return {ANSWER: {"rows": rows, **read, "version": duckdb.__version__}}


def _read(plan: dict[str, Any]) -> dict[str, int | None]:
    """The files and row groups of the plan's scans; None if the plan has no number."""
    scans = [node for node in _nodes(plan) if _scanned(node)]
    if not scans:
        nothing = 0 if _is_empty(plan) else None
        return {"files": nothing, "row_groups": nothing}
    files = [_files(node.get("extra_info") or {}) for node in scans]
    groups = [node.get("row_groups_scanned") for node in scans]
    return {
        "files": _sum(files),
        "row_groups": _sum(groups),
    }


def _sum(parts: list[int | None]) -> int | None:
    numbers = [part for part in parts if part is not None]
    return sum(numbers) if len(numbers) == len(parts) else None


def _nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """The operators of a plan; the root differs between releases of DuckDB."""
    inner = plan.get("children") or plan.get("operator") or []
    return [plan, *(node for child in inner for node in _nodes(child))]


def _kind(node: dict[str, Any]) -> str:
    return str(node.get("type") or node.get("operator_type") or node.get("operator_name") or "")


def _scanned(node: dict[str, Any]) -> bool:
    kind = _kind(node)
    return "SCAN" in kind and "EMPTY" not in kind and "DUMMY" not in kind


def _is_empty(plan: dict[str, Any]) -> bool:
    """Whether DuckDB decided before reading that the condition is false."""
    return any("EMPTY_RESULT" in _kind(node) for node in _nodes(plan))


def _files(extra_info: dict[str, Any]) -> int | None:
    """The number of files: from `2/15`, from a total, or from a list of names."""
    counted = re.match(r"(\d+)/\d+", str(extra_info.get("Scanning Files", "")))
    if counted is not None:
        return int(counted[1])
    total = extra_info.get("Total Files Read")
    if total is not None:
        return int(total)
    names = extra_info.get("Filename(s)")
    if names is None:
        return None
    return len(names) if isinstance(names, list) else len(str(names).split(","))


def main() -> None:
    """Read one request and write its answer."""
    request = json.load(sys.stdin)
    try:
        import duckdb

        connection = duckdb.connect()
        for scan, extensions in EXTENSIONS.items():
            if request["relation"].startswith(scan):
                _load(connection, extensions)
        response = run_condition(
            connection, request["relation"], request["sql"], request["timezone"]
        )
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
        response = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
    json.dump(response, sys.stdout)


def _load(connection: Any, extensions: tuple[str, ...]) -> None:
    """Load extensions from their wheels if these are installed, else let DuckDB download them."""
    for name in extensions:
        try:
            from duckdb_extensions import import_extension  # type: ignore[import-not-found]

            import_extension(name, con=connection)
        except ImportError:
            connection.execute(f"INSTALL {name}")
        connection.execute(f"LOAD {name}")


if __name__ == "__main__":
    main()
