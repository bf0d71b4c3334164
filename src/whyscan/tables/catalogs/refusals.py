"""A catalog's refusal as an error of ours.

What a catalog, its driver or its server says may hold addresses, tokens and whole statements: it
is left behind, and only what it means is told.
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
# By the names of the errors' classes: their modules are imported by whoever raises them.
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
_HINTS = {
    _SILENT: "check its uri in .pyiceberg.yaml or PYICEBERG_CATALOG__...",
    _REFUSED: "check its credential or token in .pyiceberg.yaml or PYICEBERG_CATALOG__...",
    _UNCONFIGURED: "check its type, uri and the rest in .pyiceberg.yaml or PYICEBERG_CATALOG__...",
    _NO_CREDENTIALS: "set the cloud's environment variables or a profile",
    "no region was named": "set AWS_REGION, or client.region of the catalog",
}


@contextmanager
def refusals(catalog: str) -> Iterator[None]:
    """Whatever PyIceberg and what it stands on raise inside, as an error about the catalog."""
    try:
        yield
    except WhyscanError:
        raise
    except Exception as error:  # noqa: BLE001 - every catalog has a driver with errors of its own
        # PyIceberg wraps what the import of a driver says.
        missing = next((e for e in (error, error.__cause__) if isinstance(e, ImportError)), None)
        if missing is not None:
            raise not_installed(missing.name) from None
        raise refused(catalog, _reason(error)) from None


def refused(catalog: str, why: str) -> StorageError:
    """The catalog cannot be asked."""
    return StorageError(f"cannot ask the catalog {catalog!r}: {why}", hint=_HINTS.get(why))


def status(code: int) -> str:
    """What a server's status means."""
    try:
        known = HTTPStatus(code)
    except ValueError:
        return f"it answers {code}"
    return _STATUS_REASONS.get(known) or f"it answers {code} {known.phrase}"


def _reason(error: Exception) -> str:
    names = [kind.__name__ for kind in type(error).__mro__]
    found = next((_REASONS[name] for name in names if name in _REASONS), None)
    return found or f"it failed with {names[0]}"


def not_installed(module: str | None) -> TableError:
    """A module that a catalog needs is not there."""
    return TableError(
        f"the catalog needs {module or 'a driver'}, which is not installed", hint=INSTALL
    )


def no_table(name: TableName) -> TableError:
    return TableError(f"the catalog {name.catalog!r} has no table {'.'.join(name.parts)}")


def no_iceberg_table(name: TableName) -> TableError:
    return TableError(
        f"{name} is no Iceberg table", hint="open other tables, and what a view reads, by path"
    )
