"""The catalogs that PyIceberg's configuration names: `.pyiceberg.yaml` and the environment."""

from __future__ import annotations

import difflib
import logging
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whyscan.errors import TableError
from whyscan.tables.catalogs.refusals import not_installed, refusals, refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyiceberg.catalog import Catalog

    from whyscan.tables.catalogs.names import TableName

# Whoever asks where a table is writes nothing: PyIceberg would make, or migrate, the tables of a
# SQL catalog's database. And it would read the metadata itself, through a file system of its own.
_OURS = {
    "init_catalog_tables": "false",
    "schema_version": "v0",
    "py-io-impl": "whyscan.tables.catalogs.metastores.NoFileIO",
}
_GLUE_RETRIES = "glue.max-retries"
_FEW_RETRIES = 3
_LOGGERS = ("pyiceberg", "thrift", "urllib3", "botocore", "sqlalchemy")


def load(name: TableName) -> Catalog:
    """The catalog that a table's name begins with."""
    try:
        from pyiceberg.utils.config import Config
    except ImportError:
        raise not_installed("PyIceberg") from None
    with refusals(name.catalog), quiet():
        # Not the configuration of PyIceberg's import: the environment may have changed since.
        config = Config()
        found = config.get_catalog_config(name.catalog)
        if found is None:
            raise _unknown(name, config.get_known_catalogs())
        return _load(name.catalog, dict(found))


def _load(catalog: str, properties: dict[str, Any]) -> Catalog:
    from pyiceberg.catalog import load_catalog

    _require_database(catalog, str(properties.get("uri", "")))
    # Ten, its own number, take a minute; and the text of a configuration it would not take.
    retries = int(properties.get(_GLUE_RETRIES, _FEW_RETRIES))
    return load_catalog(catalog, **{**properties, **_OURS, _GLUE_RETRIES: retries})


def _require_database(catalog: str, uri: str) -> None:
    """SQLite would make the file of a database that is not there."""
    path = uri.partition("?")[0].removeprefix("sqlite:///")
    is_file = uri.startswith("sqlite:///") and path and not path.startswith((":", "file:"))
    if is_file and not Path(path).exists():
        raise refused(catalog, f"there is no database {path}")


@contextmanager
def quiet() -> Iterator[None]:
    """PyIceberg and what it stands on print nothing, unless their logs were asked for."""
    for logger in map(logging.getLogger, _LOGGERS):
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _unknown(name: TableName, known: list[str]) -> TableError:
    near = difflib.get_close_matches(name.catalog.lower(), known, n=1)
    if near:
        hint = f"did you mean {near[0]}?"
    elif known:
        hint = f"the configured catalogs are {', '.join(sorted(known))}"
    else:
        hint = "no catalog is configured: .pyiceberg.yaml or PYICEBERG_CATALOG__NAME__URI names one"
    return TableError(f"there is no path {name}, and no catalog {name.catalog!r}", hint=hint)
