"""What Azure's variables say of a store: a connection string, and of which account they speak."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.tables.storage.environment import CONNECTION_STRING, variables

if TYPE_CHECKING:
    from collections.abc import Mapping

HOSTS = (".core.windows.net", ".fabric.microsoft.com")
"""How hosts end that are Azure's, with the account before."""

_PARTS = {
    "accountname": "account_name",
    "accountkey": "account_key",
    "sharedaccesssignature": "sas_token",
    "blobendpoint": "endpoint",
}


def azure_variables(address: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The settings of a store; the account of its address stands.

    A connection string of another account than the address names is somebody else's.
    """
    account = _account(address)
    found = _connection(environment.get(CONNECTION_STRING, ""))
    if account is not None and found.get("account_name") != account:
        found = {}
    found |= variables("az", environment)
    if account is not None:
        found.pop("account_name", None)
    return found


def _account(address: str) -> str | None:
    """The account in `abfss://container@account.host` and `https://account.host`."""
    scheme, _, rest = address.partition("://")
    host = rest.partition("/")[0].rpartition("@")[2]
    return host.partition(".")[0] if scheme == "https" or "@" in rest else None


def _connection(text: str) -> dict[str, str]:
    """`AccountName=a;AccountKey=k;BlobEndpoint=u`: a key may hold `=`."""
    parts = (part.partition("=") for part in text.split(";"))
    named = {_PARTS.get(name.strip().lower()): value.strip() for name, _, value in parts}
    return {key: value for key, value in named.items() if key is not None and value}
