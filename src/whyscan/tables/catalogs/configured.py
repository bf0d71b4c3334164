"""Loads catalogs of PyIceberg's configuration: `.pyiceberg.yaml` and the environment."""

from __future__ import annotations

import difflib
import logging
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whyscan.errors import TableError
from whyscan.tables.catalogs.names import TableName
from whyscan.tables.catalogs.refusals import not_installed, refusals, refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyiceberg.catalog import Catalog
    from pyiceberg.utils.config import Config


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


def load(name: TableName) -> Catalog:
    """Load the catalog of a table's name."""
    with refusals(name.catalog), quiet():
        config = _configuration()
        properties = config.get_catalog_config(name.catalog)
        if properties is None:
            raise _unknown(name, config.get_known_catalogs())
        return _load(name.catalog, dict(properties))


def configured_catalogs() -> list[str]:
    """The names of the catalogs that are configured, in order."""
    with refusals("all catalogs"), quiet():
        return sorted(_configuration().get_known_catalogs())


def namespaces(catalog: str) -> list[tuple[str, ...]]:
    """The top namespaces of a configured catalog, as it lists them."""
    with refusals(catalog), quiet():
        properties = _configuration().get_catalog_config(catalog) or {}
        return _load(catalog, dict(properties)).list_namespaces()


def listed(catalog: str, namespace: tuple[str, ...]) -> tuple[list[Parts], list[Parts]]:
    """The namespaces below a namespace, and its tables; a catalog itself has no tables."""
    from pyiceberg.exceptions import NoSuchNamespaceError

    opened = load(TableName(catalog, namespace))
    with refusals(catalog), quiet():
        try:
            tables = opened.list_tables(namespace) if namespace else []
            below = [name for name in opened.list_namespaces(namespace) if name != namespace]
        except NoSuchNamespaceError:
            where = ".".join(namespace)
            raise TableError(f"the catalog {catalog!r} has no namespace {where}") from None
        finally:
            opened.close()
    return below, tables


def _configuration() -> Config:
    """PyIceberg's configuration as it is now: the environment may have changed since its import."""
    try:
        from pyiceberg.utils.config import Config
    except ImportError:
        raise not_installed("PyIceberg") from None
    return Config()


def _load(catalog: str, properties: dict[str, Any]) -> Catalog:
    from pyiceberg.catalog import load_catalog

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
        hint = "no catalog is configured: .pyiceberg.yaml or PYICEBERG_CATALOG__NAME__URI names one"
    return TableError(f"there is no path {name}, and no catalog {name.catalog!r}", hint=hint)
