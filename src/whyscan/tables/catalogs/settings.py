"""Translates PyIceberg's storage properties to obstore's names; `credentials.py` has the secrets.

The user's `--option` goes before the settings of the catalog.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whyscan.errors import TableError
from whyscan.tables.catalogs.credentials import Renewing, credential
from whyscan.tables.storage.connections import CREDENTIAL_OPTIONS, kind_of, option_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whyscan.tables.catalogs.entry import CatalogEntry
    from whyscan.tables.catalogs.names import TableName

_TRUE = frozenset({"true", "1", "yes", "y", "on"})
# PyIceberg's properties, of which the first that is set counts, and obstore's name.
_NAMES: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]] = {
    "s3": (
        (("s3.endpoint",), "endpoint"),
        (("s3.region", "client.region"), "region"),
        (("s3.profile-name", "client.profile-name"), "profile"),
        (("s3.proxy-uri",), "proxy_url"),
    ),
    "gs": ((("gcs.service.host",), "base_url"),),
    "az": (
        (("adls.account-name", "adls.auth.shared-key.account.name"), "account_name"),
        (("adls.tenant-id",), "tenant_id"),
        (("adls.client-id",), "client_id"),
        (("adls.client-secret",), "client_secret"),
    ),
}
_ANONYMOUS = {"s3": ("s3.anonymous",), "gs": ("gcs.no-auth",), "az": ("adls.anon",)}
_SECONDS = {"s3.connect-timeout": "connect_timeout", "s3.request-timeout": "read_timeout"}
_ROLES = ("s3.role-arn", "client.role-arn")


def storage_options(
    entry: CatalogEntry, location: str, name: TableName, options: Mapping[str, Any]
) -> dict[str, Any]:
    """The options that open the store of a location: the user's, then those of the catalog."""
    kind = kind_of(location)
    chosen = {option_name(key) for key in options}
    settings = {
        key: value
        for key, value in _settings(kind, location, entry).items()
        if option_name(key) not in chosen
    }
    if chosen.isdisjoint(CREDENTIAL_OPTIONS):
        settings |= _credentials(kind, location, entry, name)
    return {**settings, **options}


def _settings(kind: str, location: str, entry: CatalogEntry) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for theirs, ours in _NAMES.get(kind, ()):
        if (value := _first(entry, theirs)) is not None:
            settings[ours] = str(value)
    if kind == "s3":
        settings |= _timeouts(entry) | _addressing(entry, location, settings.get("endpoint"))
    if kind == "az" and "@" in location:
        # The address names the account.
        settings.pop("account_name", None)
    return settings


def _timeouts(entry: CatalogEntry) -> dict[str, str]:
    values = {ours: _first(entry, (theirs,)) for theirs, ours in _SECONDS.items()}
    return {ours: f"{value}s" for ours, value in values.items() if value is not None}


def _addressing(entry: CatalogEntry, location: str, endpoint: str | None) -> dict[str, str]:
    """Whether the bucket is in the host name or in the path.

    For a bucket in the host name obstore needs the full host as endpoint.
    """
    if _is_set(entry, "s3.path-style-access"):
        return {"virtual_hosted_style_request": "false"}
    if not _is_set(entry, "s3.force-virtual-addressing"):
        return {}
    settings = {"virtual_hosted_style_request": "true"}
    if endpoint is not None:
        scheme, _, host = endpoint.rpartition("://")
        bucket = location.partition("://")[2].partition("/")[0]
        settings["endpoint"] = f"{scheme or 'https'}://{bucket}.{host}"
    return settings


def _credentials(kind: str, location: str, entry: CatalogEntry, name: TableName) -> dict[str, Any]:
    current = credential(kind, location, entry)
    if current is not None:
        return {"credential_provider": Renewing(kind, location, entry, current)}
    if any(_is_set(entry, key) for key in _ANONYMOUS.get(kind, ())):
        return {"skip_signature": "true"}
    if kind == "s3":
        _refuse_unsupported(entry, name)
    return {}


def _refuse_unsupported(entry: CatalogEntry, name: TableName) -> None:
    """Refuse access to a bucket by remote signing or by a role: both need more than keys."""
    if _is_set(entry, "s3.remote-signing-enabled") or _first(entry, ("s3.signer",)):
        raise TableError(
            f"the catalog {name.catalog!r} signs each request to S3 itself (remote signing), "
            "which obstore cannot do",
            hint=(
                "ask it to vend credentials (header.X-Iceberg-Access-Delegation: "
                "vended-credentials), or give your own: --option profile=NAME"
            ),
        )
    if (role := _first(entry, _ROLES)) is not None:
        raise TableError(
            f"the catalog {name.catalog!r} is configured with the role {role}, "
            "which obstore cannot assume",
            hint="aws sts assume-role, and give its keys by the environment and no s3.role-arn",
        )


def _first(entry: CatalogEntry, keys: tuple[str, ...]) -> Any:
    """The value of the first key that any layer has; a narrower layer goes first."""
    values = (layer.get(key) for key in keys for layer in entry.layers)
    return next((value for value in values if value is not None), None)


def _is_set(entry: CatalogEntry, key: str) -> bool:
    return str(_first(entry, (key,))).lower() in _TRUE
