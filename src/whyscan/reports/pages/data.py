"""The files of a report as JSON for the page, as columns, so that names are not repeated.

words      {"words": […], "at": […]}: the distinct values, and the position for each file
paths      folders as words; names without their common prefix and suffix
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from whyscan.reports.pages.axis import axis, cut
from whyscan.reports.values import json_values
from whyscan.reports.words import inert

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.reports.listing import Listing
    from whyscan.reports.values import JsonValue

UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def files_json(listing: Listing) -> str:
    """Return an object of columns that an HTML parser cannot mistake for markup."""
    return "{" + ",".join(f"{script_json(name)}:{text}" for name, text in _columns(listing)) + "}"


def _columns(listing: Listing) -> Iterator[tuple[str, str]]:
    """Yield each column as text before the next one is made: there may be very many files."""
    yield "count", script_json(len(listing))
    yield "path", script_json(_paths(listing.paths))
    yield "bytes", script_json(listing.bytes.to_pylist())
    yield "rows", script_json(listing.rows.to_pylist())
    yield "verdict", script_json(_words(listing.verdict))
    yield "prunedBy", script_json(_words(listing.pruned_by))
    yield "reason", script_json(_words(listing.reason))
    yield "residual", script_json(_words(listing.residual))
    yield "rowGroups", script_json(_row_groups(listing.row_groups))
    yield "removers", script_json(_removers(listing))
    yield "partition", "[" + ",".join(_partition(listing.partition)) + "]"
    yield "columns", "[" + ",".join(_axes(listing)) + "]"


def script_json(value: Any) -> str:
    r"""Return JSON in ASCII without characters that could end a script: `<` is `\u003c`."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for character, escape in UNSAFE.items():
        text = text.replace(character, escape)
    return text


def _paths(paths: pa.Array) -> Mapping[str, Any]:
    folders, names = [], []
    for path in paths.to_pylist():
        folder, slash, name = inert(path).rpartition("/")
        folders.append(folder + slash)
        names.append(name)
    prefix = _common_start(names)
    rest = [name[len(prefix) :] for name in names]
    suffix = _common_start([name[::-1] for name in rest])[::-1]
    return {
        "folder": _words(pa.array(folders, pa.string()).dictionary_encode()),
        "prefix": prefix,
        "suffix": suffix,
        "names": [name[: len(name) - len(suffix)] for name in rest],
    }


def _common_start(texts: Sequence[str]) -> str:
    """Return the common prefix of the first and last text in order, which all texts share."""
    if not texts:
        return ""
    first, last = min(texts), max(texts)
    differ = (at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return first[: next(differ, min(len(first), len(last)))]


def _words(values: pa.DictionaryArray) -> Mapping[str, Any]:
    """Return the distinct words, null among them; `at` is null if all files have the first."""
    used = values.cast(pa.string()).dictionary_encode(null_encoding="encode")
    words = [None if word is None else inert(word) for word in used.dictionary.to_pylist()]
    return {"words": words, "at": used.indices.to_pylist() if len(words) > 1 else None}


def _numbered(values: Sequence[JsonValue]) -> Mapping[str, Any]:
    """Return the values of any type as words; NULL has no word."""
    shown = [None if v is None else cut(inert(str(v))) for v in values]
    return _words(pa.array(shown, pa.string()).dictionary_encode())


def _row_groups(lists: pa.ListArray) -> Mapping[str, Any]:
    shown = [None if at is None else ", ".join(map(str, at)) for at in lists.to_pylist()]
    return _numbered(shown)


def _removers(listing: Listing) -> Mapping[str, Any]:
    """Return for each file the conjuncts that each remove it alone."""
    sql = [cause.sql for cause in listing.causes]
    shown = ["; ".join(sql[at] for at in positions) for positions in listing.removers.to_pylist()]
    return _words(pa.array(shown, pa.string()).dictionary_encode())


def _partition(table: pa.Table) -> Iterator[str]:
    for name, column in zip(table.column_names, table.columns, strict=True):
        yield script_json({"name": inert(name), "values": _numbered(json_values(column))})


def _axes(listing: Listing) -> Iterator[str]:
    for column in listing.ranges:
        chart = axis(column)
        if chart is not None:
            yield script_json(chart)
