"""Settings of a store from this machine's environment variables, by obstore's names.

obstore reads these variables itself on the machine where it runs. As options of a store they are
also in its pickle, and open it on machines with another environment. Only values are passed on: a
file that a variable names may be missing on another machine.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# If two variables set one option, the last one counts.
_VARIABLES = {
    "s3": {
        "AWS_ACCESS_KEY_ID": "access_key_id",
        "AWS_SECRET_ACCESS_KEY": "secret_access_key",
        "AWS_SESSION_TOKEN": "session_token",
        "AWS_DEFAULT_REGION": "region",
        "AWS_REGION": "region",
        "AWS_ENDPOINT": "endpoint",
        "AWS_ENDPOINT_URL": "endpoint",
        "AWS_ENDPOINT_URL_S3": "endpoint",
        "AWS_REQUEST_PAYER": "request_payer",
        "AWS_SKIP_SIGNATURE": "skip_signature",
        "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "virtual_hosted_style_request",
    },
    "gs": {
        "GOOGLE_BASE_URL": "base_url",
        "GOOGLE_SERVICE_ACCOUNT_KEY": "service_account_key",
        "GOOGLE_SKIP_SIGNATURE": "skip_signature",
    },
    "az": {
        "AZURE_STORAGE_ACCOUNT": "account_name",
        "AZURE_STORAGE_ACCOUNT_NAME": "account_name",
        "AZURE_STORAGE_KEY": "account_key",
        "AZURE_STORAGE_ACCESS_KEY": "account_key",
        "AZURE_STORAGE_ACCOUNT_KEY": "account_key",
        "AZURE_STORAGE_SAS_KEY": "sas_token",
        "AZURE_STORAGE_SAS_TOKEN": "sas_token",
        "AZURE_STORAGE_TOKEN": "bearer_token",
        "AZURE_CLIENT_ID": "client_id",
        "AZURE_STORAGE_CLIENT_ID": "client_id",
        "AZURE_CLIENT_SECRET": "client_secret",
        "AZURE_STORAGE_CLIENT_SECRET": "client_secret",
        "AZURE_TENANT_ID": "tenant_id",
        "AZURE_STORAGE_TENANT_ID": "tenant_id",
        "AZURE_ENDPOINT": "endpoint",
        "AZURE_STORAGE_ENDPOINT": "endpoint",
        "AZURE_SKIP_SIGNATURE": "skip_signature",
        "AZURE_STORAGE_USE_EMULATOR": "use_emulator",
    },
}
CONNECTION_STRING = "AZURE_STORAGE_CONNECTION_STRING"
_VALUES = frozenset(
    {n for named in _VARIABLES.values() for n in named} | {CONNECTION_STRING, "WHYSCAN_MEMORY"}
)
_PROFILES = frozenset(
    {
        "AWS_PROFILE",
        "AWS_DEFAULT_PROFILE",
        "AWS_CONFIG_FILE",
        "AWS_SHARED_CREDENTIALS_FILE",
    }
)


def variables(kind: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The settings of a store of this kind; an empty variable is ignored."""
    named = _VARIABLES.get(kind, {})
    return {key: environment[name] for name, key in named.items() if environment.get(name)}


def variables_to_pass_on(environment: Mapping[str, str], *, same_machine: bool) -> dict[str, str]:
    """The variables for another process; those about profiles only on the same machine.

    Profiles are in files of this machine. Some of the variables are secrets.
    """
    names = _VALUES | _PROFILES if same_machine else _VALUES
    return {name: environment[name] for name in sorted(names) if environment.get(name)}


@contextmanager
def with_variables(variables: Mapping[str, str]) -> Iterator[None]:
    """Set some variables of this process, and restore them after the block."""
    before = {name: os.environ[name] for name in variables if name in os.environ}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            os.environ.pop(name, None)
        os.environ.update(before)
