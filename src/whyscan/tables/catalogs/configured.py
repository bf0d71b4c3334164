"""Loads catalogs by their configuration: whyscan's file, `.pyiceberg.yaml`, the environment."""

from __future__ import annotations

import difflib
import logging
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whyscan.configuration import configuration
from whyscan.errors import TableError, UsageError
from whyscan.tables.catalogs import unity
from whyscan.tables.catalogs.names import TableName
from whyscan.tables.catalogs.refusals import not_installed, refusals, refused
from whyscan.tables.catalogs.unity import Unity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyiceberg.catalog import Catalog


# whyscan must write nothing: PyIceberg would create or migrate the tables of a SQL catalog's
# database. And PyIceberg must not read the metadata: `NoFileIO` prevents it.
_OURS = {
    "init_catalog_tables": "false",
    "schema_version": "v0",
    "py-io-impl": "whyscan.tables.catalogs.metastores.NoFileIO",
}
Parts = tuple[str, ...]
_GLUE_RETRIES = "glue.max-retries"
_FEW_RETRIES = 3
_LOGGERS = ("pyiceberg", "thrift", "urllib3", "botocore", "sqlalchemy")


def load(name: TableName) -> Catalog | Unity:
    """Load the catalog of a table's name."""
    with refusals(name.catalog), quiet():
        catalogs = _catalogs()
        properties = catalogs.get(name.catalog.lower())
        if properties is None:
            raise _unknown(name, sorted(catalogs))
        return _load(name.catalog, properties)


def configured_catalogs() -> list[str]:
    """The names of the catalogs that are configured, in order."""
    with refusals("all catalogs"), quiet():
        return sorted(_catalogs())


def namespaces(catalog: str) -> list[tuple[str, ...]]:
    """The top namespaces of a configured catalog, as it lists them."""
    with refusals(catalog), quiet():
        opened = load(TableName(catalog, ()))
        if isinstance(opened, Unity):
            return unity.namespaces(opened)
        return opened.list_namespaces()


def listed(catalog: str, namespace: tuple[str, ...]) -> tuple[list[Parts], list[Parts]]:
    """The namespaces below a namespace, and its tables; a catalog itself has no tables."""
    opened = load(TableName(catalog, namespace))
    with refusals(catalog), quiet():
        if isinstance(opened, Unity):
            if namespace:
                return [], unity.table_names(opened, ".".join(namespace))
            return unity.namespaces(opened), []
        from pyiceberg.exceptions import NoSuchNamespaceError

        from whyscan.tables.catalogs.metastores import table_names

        try:
            tables = table_names(opened, namespace) if namespace else []
            below = [name for name in opened.list_namespaces(namespace) if name != namespace]
        except NoSuchNamespaceError:
            where = ".".join(namespace)
            raise TableError(f"the catalog {catalog!r} has no namespace {where}") from None
        finally:
            opened.close()
    return below, tables


def _catalogs() -> dict[str, dict[str, Any]]:
    """The properties of all catalogs by name, as the configuration is now.

    Of a catalog in several places, a variable of the environment is stronger than whyscan's file,
    and that file is stronger than PyIceberg's.
    """
    own = {name.lower(): table for name, table in configuration().table("catalogs").items()}
    if not all(isinstance(table, dict) for table in own.values()):
        raise UsageError("a catalog in whyscan's file is no table", hint="write [catalogs.NAME]")
    try:
        from pyiceberg.utils.config import Config
    except ImportError:
        if own:
            return own
        raise not_installed("PyIceberg") from None
    theirs = Config()
    catalogs = {
        name: dict(theirs.get_catalog_config(name) or {}) for name in theirs.get_known_catalogs()
    }
    environment: dict[str, Any] = Config._from_environment_variables({})  # noqa: SLF001
    variables = environment.get("catalog", {})
    for name, properties in own.items():
        text = {key: str(value) for key, value in properties.items()}
        catalogs[name] = {**catalogs.get(name, {}), **text, **variables.get(name, {})}
    return catalogs


def _load(catalog: str, properties: dict[str, Any]) -> Catalog | Unity:
    if str(properties.get("type", "")).lower() == unity.TYPE:
        return unity.connect(catalog, properties)
    try:
        from pyiceberg.catalog import load_catalog
    except ImportError:
        raise not_installed("PyIceberg") from None

    _require_database(catalog, str(properties.get("uri", "")))
    # PyIceberg's default of ten retries takes a minute; and it does not accept a number as text.
    retries = int(properties.get(_GLUE_RETRIES, _FEW_RETRIES))
    return load_catalog(catalog, **{**properties, **_OURS, _GLUE_RETRIES: retries})


def _require_database(catalog: str, uri: str) -> None:
    """Refuse a database file that does not exist: SQLite would create it."""
    path = uri.partition("?")[0].removeprefix("sqlite:///")
    is_file = uri.startswith("sqlite:///") and path and not path.startswith((":", "file:"))
    if is_file and not Path(path).exists():
        raise refused(catalog, f"there is no database {path}")


@contextmanager
def quiet() -> Iterator[None]:
    """Silence PyIceberg and its libraries, unless the user has configured their logs."""
    for logger in map(logging.getLogger, _LOGGERS):
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _unknown(name: TableName, configured: list[str]) -> TableError:
    similar = difflib.get_close_matches(name.catalog.lower(), configured, n=1)
    if similar:
        hint = f"did you mean {similar[0]}?"
    elif configured:
        hint = f"the configured catalogs are {', '.join(sorted(configured))}"
    else:
        hint = "no catalog is configured: [catalogs.NAME] in whyscan.toml names one"
    return TableError(f"there is no path {name}, and no catalog {name.catalog!r}", hint=hint)
