"""Reads table entries from REST catalogs.

PyIceberg makes the session: configuration, tokens, signatures, certificates. Its classes do not
read the answer, as they refuse unknown fields of newer tables. The properties of a table are not
used as settings of the client: the writer of a table could choose where credentials are sent.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from whyscan.errors import TableError
from whyscan.tables.catalogs.entry import CatalogEntry
from whyscan.tables.catalogs.refusals import UNCLEAR, no_table, refused, status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyiceberg.catalog.rest import RestCatalog
    from requests import Response

    from whyscan.tables.catalogs.names import TableName

_TIMEOUT = (10, 60)
_SEPARATOR = "\x1f"
# 419 is a status of the Iceberg specification: the token has expired.
_RENEW_TOKEN = frozenset({HTTPStatus.UNAUTHORIZED, 419})


def entry(catalog: RestCatalog, name: TableName) -> CatalogEntry:
    """The entry of the table in the catalog, with vended credentials."""
    try:
        answer = _answer(catalog, name)
    finally:
        catalog.close()
    try:
        return _entry(catalog, name, answer.json())
    except (AttributeError, KeyError, TypeError, ValueError):
        raise refused(name.catalog, UNCLEAR) from None


def _answer(catalog: RestCatalog, name: TableName) -> Response:
    answer = _get(catalog, "tables", name)
    if answer.ok:
        return answer
    if answer.status_code != HTTPStatus.NOT_FOUND:
        raise refused(name.catalog, status(answer.status_code))
    if _get(catalog, "views", name).ok:
        raise TableError(f"{name} is a view", hint="open the tables that it reads")
    raise no_table(name)


def _get(catalog: RestCatalog, kind: str, name: TableName) -> Response:
    *namespace, table = (quote(part, safe="") for part in name.parts)
    separator = unquote(catalog.properties.get("namespace-separator") or _SEPARATOR)
    path = f"namespaces/{separator.join(namespace)}/{kind}/{table}"
    url = catalog.url("{path}", path=path)
    session = catalog._session  # noqa: SLF001 - PyIceberg has no public way to a raw answer
    answer = session.get(url, timeout=_TIMEOUT)
    if answer.status_code in _RENEW_TOKEN:
        catalog._refresh_token()  # noqa: SLF001 - as PyIceberg does around its own requests
        answer = session.get(url, timeout=_TIMEOUT)
    return answer


def _entry(catalog: RestCatalog, name: TableName, answer: Mapping[str, Any]) -> CatalogEntry:
    location = answer.get("metadata-location")
    metadata = answer["metadata"]
    if not isinstance(metadata, dict) or not isinstance(location, str | None):
        raise TypeError("no metadata of a table")
    table_location = location or str(metadata.get("location", ""))
    granted = _granted(answer.get("storage-credentials") or (), table_location)
    return CatalogEntry(
        location=location,
        configured=dict(catalog.properties),
        vended=(*granted, dict(answer.get("config") or {})),
        metadata=metadata if location is None else None,
        again=lambda: entry(catalog, name),
    )


def _granted(grants: Sequence[Mapping[str, Any]], location: str) -> list[dict[str, Any]]:
    """The credentials for a location: those with the longest prefix of it."""
    fitting = [grant for grant in grants if location.startswith(grant["prefix"])]
    fitting.sort(key=lambda grant: len(grant["prefix"]), reverse=True)
    return [dict(grant["config"]) for grant in fitting[:1]]
