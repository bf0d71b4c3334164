"""Turns errors of a catalog into errors of whyscan.

The message of a catalog, its driver or its server may contain addresses, tokens and statements, so
it is dropped; the new message only says what the error means.
"""

from __future__ import annotations

from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING

from whyscan.errors import StorageError, TableError, WhyscanError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.tables.catalogs.names import TableName

INSTALL = "pip install 'whyscan[catalogs]'; other databases have an extra of PyIceberg's"
_SILENT = "it did not answer"
_REFUSED = "it does not accept the credentials"
_NO_CREDENTIALS = "no credentials were found"
UNCLEAR = "its answer cannot be read"
_UNCONFIGURED = "its configuration is not complete or not right"
# By the names of the error classes, so that their modules need not be imported.
_REASONS = {
    "UnauthorizedError": _REFUSED,
    "ForbiddenError": "permission denied",
    "OAuthError": _REFUSED,
    "AuthorizationExpiredError": _REFUSED,
    "RESTError": "it answers with an error",
    "RequestException": _SILENT,
    "TTransportException": _SILENT,
    "OperationalError": "its database did not answer, or holds no catalog",
    "ProgrammingError": "its database did not answer, or holds no catalog",
    "NoCredentialsError": _NO_CREDENTIALS,
    "PartialCredentialsError": _NO_CREDENTIALS,
    "NoRegionError": "no region was named",
    "ProfileNotFound": "there is no such AWS profile",
    "ConnectionError": _SILENT,
    "HTTPClientError": _SILENT,
    "ClientError": "it refuses to answer",
    "ValidationError": UNCLEAR,
    "JSONDecodeError": UNCLEAR,
    "NoSuchPropertyException": _UNCONFIGURED,
    "YAMLError": _UNCONFIGURED,
    "ArgumentError": _UNCONFIGURED,
    "ValueError": _UNCONFIGURED,
    "KeyError": _UNCONFIGURED,
    "TypeError": _UNCONFIGURED,
    "OSError": _SILENT,
}
_STATUS_REASONS = {
    HTTPStatus.UNAUTHORIZED: _REFUSED,
    HTTPStatus.FORBIDDEN: "permission denied",
}
_FILES = "whyscan.toml, .pyiceberg.yaml or PYICEBERG_CATALOG__..."
_HINTS = {
    _SILENT: f"check its uri in {_FILES}",
    _REFUSED: f"check its credential or token in {_FILES}",
    _UNCONFIGURED: f"check its type, uri and the rest in {_FILES}",
    _NO_CREDENTIALS: "set the cloud's environment variables or a profile",
    "no region was named": "set AWS_REGION, or client.region of the catalog",
}


@contextmanager
def refusals(catalog: str) -> Iterator[None]:
    """Raise every error of PyIceberg and its libraries as an error about the catalog."""
    try:
        yield
    except WhyscanError:
        raise
    except Exception as error:  # noqa: BLE001 - every catalog has a driver with errors of its own
        # PyIceberg wraps the ImportError of a missing driver.
        missing = next((e for e in (error, error.__cause__) if isinstance(e, ImportError)), None)
        if missing is not None:
            raise not_installed(missing.name) from None
        raise refused(catalog, _reason(error)) from None


def refused(catalog: str, why: str) -> StorageError:
    """The error about a catalog that cannot be read."""
    return StorageError(f"cannot ask the catalog {catalog!r}: {why}", hint=_HINTS.get(why))


def status(code: int) -> str:
    """The meaning of a server's HTTP status."""
    try:
        http_status = HTTPStatus(code)
    except ValueError:
        return f"it answers {code}"
    return _STATUS_REASONS.get(http_status) or f"it answers {code} {http_status.phrase}"


def _reason(error: Exception) -> str:
    names = [kind.__name__ for kind in type(error).__mro__]
    reason = next((_REASONS[name] for name in names if name in _REASONS), None)
    return reason or f"it failed with {names[0]}"


def not_installed(module: str | None) -> TableError:
    """The error about a module that a catalog needs and that is not installed."""
    return TableError(
        f"the catalog needs {module or 'a driver'}, which is not installed", hint=INSTALL
    )


def no_table(name: TableName) -> TableError:
    return TableError(f"the catalog {name.catalog!r} has no table {'.'.join(name.parts)}")


def no_iceberg_table(name: TableName) -> TableError:
    return TableError(
        f"{name} is no Iceberg table", hint="open other tables, and what a view reads, by path"
    )
