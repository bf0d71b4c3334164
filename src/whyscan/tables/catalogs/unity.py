"""Tables of Unity Catalog, open source or Databricks', over its REST interface.

A table is `CATALOG.schema.table`. Its catalog in Unity is the property `catalog`, else the name
that is configured. Unity says where a Delta table is. Other tables have their columns from Unity,
and their partitions from the names of folders, as Spark reads them.

| property | else |
|---|---|
| `uri` | `DATABRICKS_HOST`, then the host in `~/.databrickscfg` |
| `token` | `DATABRICKS_TOKEN`, then the token in `~/.databrickscfg` |
| `profile` | `DATABRICKS_CONFIG_PROFILE`, then `DEFAULT` |

Unity vends credentials for one table and for a short time. If it vends none, those of the
configuration and of the environment open the storage.
"""

from __future__ import annotations

import configparser
import json
import os
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

from msgspec import Struct, field

from whyscan.errors import TableError
from whyscan.tables.catalogs.entry import CatalogEntry
from whyscan.tables.catalogs.hive_tables import FileStorage, HiveTable
from whyscan.tables.catalogs.refusals import UNCLEAR, no_table, refused, status

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from whyscan.tables.catalogs.entry import Properties
    from whyscan.tables.catalogs.names import TableName

    Document = Mapping[str, Any]

TYPE = "unity"
_PATH = "/api/2.1/unity-catalog"
_TIMEOUT = 60
_SCHEMA_AND_TABLE = 2
_VIEWS = frozenset({"VIEW", "MATERIALIZED_VIEW", "METRIC_VIEW"})
_PROVIDER = "spark.sql.sources.provider"


class _NoRedirects(HTTPRedirectHandler):
    """A redirect would carry the token to another server."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Unity(Struct, frozen=True):
    """A catalog of a Unity server."""

    name: str
    catalog: str
    uri: str
    properties: Properties = field(default_factory=dict)
    token: str | None = None

    def get(self, path: str, **parameters: str) -> Document:
        query = f"?{urlencode(parameters)}" if parameters else ""
        return self._answer(Request(f"{self.uri}{_PATH}/{path}{query}"))  # noqa: S310 - checked

    def post(self, path: str, body: Document) -> Document:
        content = json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        return self._answer(Request(f"{self.uri}{_PATH}/{path}", content, headers))  # noqa: S310

    def _answer(self, request: Request) -> Document:
        if self.token is not None:
            request.add_header("Authorization", f"Bearer {self.token}")
        with build_opener(_NoRedirects).open(request, timeout=_TIMEOUT) as response:
            answer = json.load(response)
        if not isinstance(answer, dict):
            raise refused(self.name, UNCLEAR)
        return answer

    def listed(self, path: str, key: str, **parameters: str) -> Iterator[Document]:
        """All entries of a list, which the server may give in pages."""
        page: str | None = ""
        while page is not None:
            answer = self.get(path, **parameters, **({"page_token": page} if page else {}))
            yield from answer.get(key) or ()
            page = answer.get("next_page_token") or None


def connect(name: str, properties: Properties) -> Unity:
    """The catalog with these properties; it is not asked for anything yet."""
    file = _profile(str(properties.get("profile") or ""))
    uri = properties.get("uri") or os.environ.get("DATABRICKS_HOST") or file.get("host") or ""
    token = properties.get("token") or os.environ.get("DATABRICKS_TOKEN") or file.get("token")
    base = str(uri).rstrip("/").removesuffix(_PATH)
    if not base.startswith(("https://", "http://")):
        base = f"https://{base}" if base else ""
    if not base:
        raise refused(name, "its configuration is not complete or not right")
    return Unity(name, str(properties.get("catalog") or name), base, properties, token)


def _profile(name: str) -> Mapping[str, str]:
    """The settings of a profile of the Databricks clients, none if there is no such file."""
    file = Path(os.environ.get("DATABRICKS_CONFIG_FILE") or "~/.databrickscfg").expanduser()
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(file)
    profile = name or os.environ.get("DATABRICKS_CONFIG_PROFILE") or parser.default_section
    has_section = profile == parser.default_section or parser.has_section(profile)
    return dict(parser[profile]) if has_section else {}


def namespaces(unity: Unity) -> list[tuple[str, ...]]:
    """The schemas of the catalog."""
    schemas = unity.listed("schemas", "schemas", catalog_name=unity.catalog)
    return [(schema["name"],) for schema in schemas]


def table_names(unity: Unity, schema: str) -> list[tuple[str, ...]]:
    """The tables of a schema, without its views."""
    try:
        tables = list(
            unity.listed("tables", "tables", catalog_name=unity.catalog, schema_name=schema)
        )
    except HTTPError as error:
        if error.code != HTTPStatus.NOT_FOUND:
            raise refused(unity.name, status(error.code)) from None
        raise TableError(f"the catalog {unity.name!r} has no namespace {schema}") from None
    return [(schema, table["name"]) for table in tables if table.get("table_type") not in _VIEWS]


def entry(unity: Unity, name: TableName) -> CatalogEntry:
    """The entry of the table, with the credentials that Unity vends for it."""
    if len(name.parts) != _SCHEMA_AND_TABLE:
        raise no_table(name)
    full_name = quote(".".join((unity.catalog, *name.parts)), safe="")
    try:
        table = unity.get(f"tables/{full_name}")
    except HTTPError as error:
        if error.code == HTTPStatus.NOT_FOUND:
            raise no_table(name) from None
        raise refused(name.catalog, status(error.code)) from None
    location = str(table.get("storage_location") or "")
    vended = _vended(unity, table, location)
    return CatalogEntry(
        location=location,
        configured=_of_storage(unity.properties),
        vended=() if vended is None else (vended,),
        again=lambda: entry(unity, name),
        table=_as_hive(table, location),
    )


def _of_storage(properties: Properties) -> Properties:
    """The properties that open storage: no token of the server is among them."""
    return {key: value for key, value in properties.items() if "." in key}


def _vended(unity: Unity, table: Document, location: str) -> Properties | None:
    """The credentials for one table in PyIceberg's names; None where Unity gives none."""
    if location.startswith(("file:", "/")) or not table.get("table_id"):
        return None
    body = {"table_id": table["table_id"], "operation": "READ"}
    try:
        answer = unity.post("temporary-table-credentials", body)
    except HTTPError:
        return None
    ends = answer.get("expiration_time")
    if aws := answer.get("aws_temp_credentials"):
        return {
            "s3.access-key-id": aws.get("access_key_id"),
            "s3.secret-access-key": aws.get("secret_access_key"),
            "s3.session-token": aws.get("session_token"),
            "s3.session-token-expires-at-ms": ends,
        }
    if azure := answer.get("azure_user_delegation_sas"):
        return {
            "adls.sas-token": azure.get("sas_token"),
            "adls.sas-token-expires-at-ms": ends,
        }
    if google := answer.get("gcp_oauth_token"):
        return {
            "gcs.oauth2.token": google.get("oauth_token"),
            "gcs.oauth2.token-expires-at": ends,
        }
    return None


def _as_hive(table: Document, location: str) -> HiveTable:
    """The table in the words of a metastore: Spark's provider is the format."""
    columns = sorted(table.get("columns") or (), key=lambda column: column.get("position") or 0)
    partitions = [column for column in columns if column.get("partition_index") is not None]
    partitions.sort(key=lambda column: column["partition_index"])
    others = [column for column in columns if column not in partitions]
    kind = str(table.get("table_type") or "")
    return HiveTable(
        kind="VIRTUAL_VIEW" if kind in _VIEWS else kind,
        columns=[(column["name"], column.get("type_text") or "") for column in others],
        partition_columns=[(c["name"], c.get("type_text") or "") for c in partitions],
        parameters={_PROVIDER: str(table.get("data_source_format") or "").lower()},
        storage=FileStorage(location),
        read_partitions=tuple,
    )
