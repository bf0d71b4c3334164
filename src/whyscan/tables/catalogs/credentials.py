"""Credentials from a catalog for a table's storage, which are renewed before they expire."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any

from whyscan.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whyscan.tables.catalogs.entry import CatalogEntry, Properties

    _SecretsAndEnd = tuple[Mapping[str, str | None], Any] | None

_EXPIRY_MARGIN = timedelta(minutes=1)
# The shortest life of an AWS session, for servers that send no end.
_DEFAULT_LIFE = timedelta(minutes=15)
_S3_KEYS = (
    ("s3.access-key-id", "s3.secret-access-key", "s3.session-token"),
    ("client.access-key-id", "client.secret-access-key", "client.session-token"),
)


@dataclass(frozen=True, slots=True)
class Credential:
    """The secrets that open a store, by obstore's names; never shown. `until` None is for ever."""

    secrets: Mapping[str, str | None] = field(repr=False)
    until: datetime | None

    def is_fresh(self) -> bool:
        return self.until is None or datetime.now(UTC) < self.until


@dataclass(slots=True)
class Renewing:
    """obstore calls this object for credentials: at first, and when they have expired."""

    kind: str
    location: str
    entry: CatalogEntry = field(repr=False)
    current: Credential = field(repr=False)
    lock: Lock = field(default_factory=Lock, repr=False)

    def __call__(self) -> dict[str, Any]:
        with self.lock:
            if self.entry.again is not None and not self.current.is_fresh():
                renewed = credential(self.kind, self.location, self.entry.again())
                if renewed is None:
                    raise StorageError("the catalog vends credentials no more")
                self.current = renewed
            return {**self.current.secrets, "expires_at": self.current.until}


def credential(kind: str, location: str, entry: CatalogEntry) -> Credential | None:
    """The credentials of the narrowest layer that has any; never mixed from two layers."""
    for layer in entry.layers:
        secrets_and_end = _of(kind, location, layer)
        if secrets_and_end is not None:
            secrets, ends = secrets_and_end
            vended = layer is not entry.configured
            return Credential(secrets, _until(secrets, ends) if vended else None)
    return None


def _of(kind: str, location: str, layer: Properties) -> _SecretsAndEnd:
    """The credentials of one layer, and their end in milliseconds since 1970."""
    if kind == "s3":
        return _s3(layer)
    if kind == "az":
        return _azure(location, layer)
    token = layer.get("gcs.oauth2.token") if kind == "gs" else None
    return ({"token": token}, layer.get("gcs.oauth2.token-expires-at")) if token else None


def _s3(layer: Properties) -> _SecretsAndEnd:
    for key, secret, token in _S3_KEYS:
        if layer.get(key) and layer.get(secret):
            keys = {"access_key_id": layer[key], "secret_access_key": layer[secret]}
            return {**keys, "token": layer.get(token)}, layer.get("s3.session-token-expires-at-ms")
    return None


def _azure(location: str, layer: Properties) -> _SecretsAndEnd:
    """A SAS token for the account or for any account, a bearer token, or the account's key."""
    host = location.partition("://")[2].partition("/")[0].rpartition("@")[2]
    for suffix in (f".{host}", f".{host.partition('.')[0]}", ""):
        if signature := layer.get(f"adls.sas-token{suffix}"):
            ends = layer.get(f"adls.sas-token-expires-at-ms{suffix}")
            return {"sas_token": str(signature).removeprefix("?")}, ends
    if token := layer.get("adls.token"):
        return {"token": token}, None
    named = ("adls.account-key", "adls.auth.shared-key.account.key")
    key = next((layer[name] for name in named if layer.get(name)), None)
    key = key or _connection_string(layer).get("AccountKey")
    return None if key is None else ({"access_key": key}, None)


def _connection_string(layer: Properties) -> dict[str, str]:
    words = str(layer.get("adls.connection-string") or "").split(";")
    pairs = (word.partition("=") for word in words if word)
    return {name.strip(): value for name, _, value in pairs}


def _until(secrets: Mapping[str, str | None], ends: Any) -> datetime | None:
    """The time of renewal: a little before the end, so that no request arrives too late."""
    now = datetime.now(UTC)
    end = _moment(ends)
    if end is not None:
        return end - min(_EXPIRY_MARGIN, (end - now) / 10)
    lasting = "access_key_id" in secrets and not secrets["token"]
    return None if lasting else now + _DEFAULT_LIFE - _EXPIRY_MARGIN


def _moment(milliseconds: Any) -> datetime | None:
    """The time, None if it is missing or cannot be read."""
    try:
        return datetime.fromtimestamp(int(milliseconds) / 1000, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
