"""Settings of an Azure store from environment variables, including a connection string."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.tables.storage.environment import CONNECTION_STRING, variables

if TYPE_CHECKING:
    from collections.abc import Mapping

HOSTS = (".core.windows.net", ".fabric.microsoft.com")
"""The endings of Azure's hosts; the account's name stands before."""

_PARTS = {
    "accountname": "account_name",
    "accountkey": "account_key",
    "sharedaccesssignature": "sas_token",
    "blobendpoint": "endpoint",
}


def azure_variables(address: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The settings of a store. The account in its address goes before that of the variables.

    A connection string of another account than that of the address is ignored.
    """
    account = _account(address)
    settings = _connection(environment.get(CONNECTION_STRING, ""))
    if account is not None and settings.get("account_name") != account:
        settings = {}
    settings |= variables("az", environment)
    if account is not None:
        settings.pop("account_name", None)
    return settings


def _account(address: str) -> str | None:
    """The account in `abfss://container@account.host` and `https://account.host`."""
    scheme, _, rest = address.partition("://")
    host = rest.partition("/")[0].rpartition("@")[2]
    return host.partition(".")[0] if scheme == "https" or "@" in rest else None


def _connection(text: str) -> dict[str, str]:
    """Parse `AccountName=a;AccountKey=k;BlobEndpoint=u`; a key may contain `=`."""
    parts = (part.partition("=") for part in text.split(";"))
    named = {_PARTS.get(name.strip().lower()): value.strip() for name, _, value in parts}
    return {key: value for key, value in named.items() if key is not None and value}
