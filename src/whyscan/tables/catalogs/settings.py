"""PyIceberg's storage properties by obstore's names; credentials stand in `credentials.py`.

What the user gave by `--option` stands, whatever the catalog says.
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
# Theirs, the first that is there counts, and ours.
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
    entry: CatalogEntry, place: str, name: TableName, given: Mapping[str, Any]
) -> dict[str, Any]:
    """How the store of a place is opened: by the catalog's word, and first by the user's."""
    kind = kind_of(place)
    chosen = {option_name(key) for key in given}
    found = {
        key: value
        for key, value in _settings(kind, place, entry).items()
        if option_name(key) not in chosen
    }
    if chosen.isdisjoint(CREDENTIAL_OPTIONS):
        found |= _credentials(kind, place, entry, name)
    return {**found, **given}


def _settings(kind: str, place: str, entry: CatalogEntry) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for theirs, ours in _NAMES.get(kind, ()):
        if (value := _first(entry, theirs)) is not None:
            found[ours] = str(value)
    if kind == "s3":
        found |= _timeouts(entry) | _addressing(entry, place, found.get("endpoint"))
    if kind == "az" and "@" in place:
        # The address names the account.
        found.pop("account_name", None)
    return found


def _timeouts(entry: CatalogEntry) -> dict[str, str]:
    said = {ours: _first(entry, (theirs,)) for theirs, ours in _SECONDS.items()}
    return {ours: f"{value}s" for ours, value in said.items() if value is not None}


def _addressing(entry: CatalogEntry, place: str, endpoint: str | None) -> dict[str, str]:
    """Buckets in the host's name or in the path; obstore wants the former in the endpoint."""
    if _is_set(entry, "s3.path-style-access"):
        return {"virtual_hosted_style_request": "false"}
    if not _is_set(entry, "s3.force-virtual-addressing"):
        return {}
    more = {"virtual_hosted_style_request": "true"}
    if endpoint is not None:
        scheme, _, host = endpoint.rpartition("://")
        bucket = place.partition("://")[2].partition("/")[0]
        more["endpoint"] = f"{scheme or 'https'}://{bucket}.{host}"
    return more


def _credentials(kind: str, place: str, entry: CatalogEntry, name: TableName) -> dict[str, Any]:
    found = credential(kind, place, entry)
    if found is not None:
        return {"credential_provider": Renewing(kind, place, entry, found)}
    if any(_is_set(entry, key) for key in _ANONYMOUS.get(kind, ())):
        return {"skip_signature": "true"}
    if kind == "s3":
        _refuse_what_cannot_be_done(entry, name)
    return {}


def _refuse_what_cannot_be_done(entry: CatalogEntry, name: TableName) -> None:
    """Ways to a bucket that need more than keys."""
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
    """The value of the narrowest layer that has one."""
    found = (layer.get(key) for key in keys for layer in entry.layers)
    return next((value for value in found if value is not None), None)


def _is_set(entry: CatalogEntry, key: str) -> bool:
    return str(_first(entry, (key,))).lower() in _TRUE
