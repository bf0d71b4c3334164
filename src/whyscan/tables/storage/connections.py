"""A store by its address: the clouds' environment, profiles and `--option`, put together.

| option | meaning |
|---|---|
| `concurrency` | reads at once |
| `cache` | `off` keeps nothing on this machine |
| `as_files` | `on` opens a part of a table as plain files (tables/storage/enclosing_tables.py) |
| `max_retries`, `retry_timeout` | how often, and for how many seconds, a read is tried again |
| `profile` | an AWS profile |
| `credential_provider` | from Python: a function that obstore asks for credentials |
| `timeout`, `proxy_url`, `allow_http`, … | of the HTTP client, by obstore's names |
| anything else | of the store, by obstore's names: `region`, `skip_signature`, `account_name`, … |

What was given here comes first, the environment second, the profile last.
"""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import StorageError, UsageError
from whyscan.tables.storage import azure_variables, environment
from whyscan.tables.storage.aws_profiles import read_profile
from whyscan.tables.storage.disk_cache import users_cache
from whyscan.tables.storage.enclosing_tables import OPTION as AS_FILES
from whyscan.tables.storage.schemes import require_supported
from whyscan.tables.storage.store import REMOTE_AT_ONCE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from whyscan.tables.storage.disk_cache import Cache

CONCURRENCY_VARIABLE = "WHYSCAN_CONCURRENCY"
_OFF = frozenset({"off", "false", "no", "0"})
_PROVIDER = "credential_provider"
_OURS = frozenset(
    {AS_FILES, "cache", "concurrency", "max_retries", "retry_timeout", "profile", _PROVIDER}
)

# A store that answers nothing is given up after some twenty seconds: two silences of ten, or
# as many retries as fit into fifteen.
_RETRIES = 5
_RETRY_SECONDS = 15.0
_CLIENT = {"connect_timeout": "5s", "read_timeout": "10s", "timeout": "10m"}
_CLIENT_KEYS = frozenset(
    {
        *_CLIENT,
        "allow_http",
        "allow_invalid_certificates",
        "http1_only",
        "http2_only",
        "pool_idle_timeout",
        "pool_max_idle_per_host",
        "proxy_url",
        "proxy_ca_certificate",
        "proxy_excludes",
        "root_certificate",
        "user_agent",
    }
)
_SPELLINGS = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfs": "abfss", "wasb": "abfss"}
_SPELLINGS |= {"wasbs": "abfss", "adl": "az", "azure": "az"}
_ENDPOINT_VARIABLES = {
    "s3": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"),
    "gs": ("GOOGLE_BASE_URL",),
    "az": ("AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"),
}
_ENDPOINT_OPTIONS = ("endpoint_url_s3", "endpoint_url", "endpoint", "base_url")
_CLOUDS = ("", "aws_", "azure_", "google_")
_KEY_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE")
_KEY_OPTIONS = ("access_key_id", "aws_access_key_id", "skip_signature", "aws_skip_signature")
CREDENTIAL_OPTIONS = frozenset(
    {
        "access_key",
        "access_key_id",
        "account_key",
        "application_credentials",
        "bearer_token",
        "client_secret",
        "credential_provider",
        "profile",
        "sas_key",
        "sas_token",
        "secret_access_key",
        "service_account",
        "service_account_key",
        "session_token",
        "skip_signature",
        "token",
    }
)
"""Options, by `option_name`, that say with which credentials."""


class Connection(Struct, frozen=True):
    """A store that can be asked. `identity` tells it from others of its name, without secrets."""

    backend: Any
    identity: str
    at_once: int
    cache: Cache | None


class _Settings(Struct, frozen=True):
    """What a store is opened with, by obstore's names; never shown."""

    address: str
    store: Mapping[str, str]
    client: Mapping[str, Any]
    provider: Callable[[], Any] | None = None

    @property
    def kind(self) -> str:
        return kind_of(self.address)

    @property
    def endpoint(self) -> str | None:
        """Where the store is, if that was said: by an option, the environment or a profile."""
        names = [f"{cloud}{name}" for name in _ENDPOINT_OPTIONS for cloud in _CLOUDS]
        said = [self.store.get(name) for name in names]
        said += [os.environ.get(name) for name in _ENDPOINT_VARIABLES.get(self.kind, ())]
        return next((text for text in said if text), None)


def connect(address: str, options: Mapping[str, Any]) -> Connection:
    """Open a store. Nothing is asked of it yet."""
    require_supported(address.partition("://")[0])
    given = {key.lower(): value for key, value in options.items()}
    settings = _settings(address, given)
    return Connection(
        backend=_backend(settings, _retries(given)),
        identity=_identity(settings),
        at_once=_at_once(given),
        cache=_cache(given),
    )


def everywhere(address: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that open a store on any machine: with what environment and profile add on this one.

    Some of them are secrets. A folder on disk needs none.
    """
    found = dict(options)
    if "://" not in address:
        return found
    settings = _settings(address, {key.lower(): value for key, value in options.items()})
    found.pop("profile", None)
    if settings.provider is not None:
        found[_PROVIDER] = settings.provider
    return {**found, **settings.store}


def kind_of(address: str) -> str:
    """Which kind of store an address names: s3, gs, az, or its scheme."""
    scheme, _, rest = _spelled(address).partition("://")
    azures = scheme == "https" and rest.partition("/")[0].lower().endswith(azure_variables.HOSTS)
    return "az" if scheme == "abfss" or azures else scheme


def option_name(key: str) -> str:
    """An option by its plain name: `AWS_ENDPOINT_URL` is `endpoint`."""
    name = key.lower()
    for cloud in filter(None, _CLOUDS):
        name = name.removeprefix(cloud)
    return "endpoint" if name in _ENDPOINT_OPTIONS else name


def _settings(address: str, given: Mapping[str, Any]) -> _Settings:
    client = {key: value for key, value in given.items() if key in _CLIENT_KEYS}
    store = {k: str(v) for k, v in given.items() if k not in _CLIENT_KEYS | _OURS}
    found = _Settings(_spelled(address), store, {**_CLIENT, **client}, _given_provider(given))
    if found.kind == "s3":
        found = _with_profile(found, given.get("profile"))
    found = replace(found, store={**_environment(found), **found.store})
    if (found.endpoint or found.address).startswith("http://"):
        # Whoever writes http:// means it.
        found = replace(found, client={"allow_http": True, **found.client})
    return found


def _environment(found: _Settings) -> dict[str, str]:
    """What the environment adds: nothing that was given, and no credentials where there are any."""
    if found.kind == "az":
        said = azure_variables.azure_variables(found.address, os.environ)
    else:
        said = environment.variables(found.kind, os.environ)
    known = {option_name(key).removeprefix("storage_") for key in found.store}
    if found.provider is not None or known & CREDENTIAL_OPTIONS:
        known |= CREDENTIAL_OPTIONS
    return {key: value for key, value in said.items() if option_name(key) not in known}


def _given_provider(given: Mapping[str, Any]) -> Callable[[], Any] | None:
    provider = given.get(_PROVIDER)
    if provider is not None and not callable(provider):
        raise UsageError(f"the option {_PROVIDER} takes a function")
    return provider


def _spelled(address: str) -> str:
    """The address as obstore writes it."""
    scheme, _, rest = address.partition("://")
    if scheme in {"wasb", "wasbs"}:
        rest = rest.replace(".blob.", ".dfs.", 1)
    return f"{_SPELLINGS.get(scheme, scheme)}://{rest}"


def _with_profile(found: _Settings, named: str | None) -> _Settings:
    """What the profile adds. Keys of the environment come first, unless the profile was named."""
    has_keys = found.provider is not None or any(key in found.store for key in _KEY_OPTIONS)
    if named is None:
        has_keys = has_keys or any(variable in os.environ for variable in _KEY_VARIABLES)
    profile = read_profile(named)
    if profile is None:
        return found
    if profile.indirect is not None and not has_keys:
        raise UsageError(
            f"the AWS profile {profile.name!r} gets its keys by {profile.indirect}",
            hint=f"aws configure export-credentials --profile {profile.name} --format env",
        )
    added = dict(profile.settings)
    if found.endpoint is not None:
        added.pop("endpoint", None)
    if "AWS_REGION" in os.environ or "AWS_DEFAULT_REGION" in os.environ:
        added.pop("region", None)
    if not has_keys and profile.keys is not None:
        found = replace(found, provider=profile.keys)
    return replace(found, store={**added, **found.store})


def _retries(given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "max_retries": int(_number("max_retries", given.get("max_retries", _RETRIES))),
        "retry_timeout": timedelta(
            seconds=_number("retry_timeout", given.get("retry_timeout", _RETRY_SECONDS))
        ),
        "backoff": {"init_backoff": timedelta(seconds=0.1), "max_backoff": timedelta(seconds=3)},
    }


def _at_once(given: Mapping[str, Any]) -> int:
    asked = given.get("concurrency") or os.environ.get(CONCURRENCY_VARIABLE) or REMOTE_AT_ONCE
    return max(int(_number("concurrency", asked)), 1)


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise UsageError(f"the option {name} takes a number") from None


def _cache(given: Mapping[str, Any]) -> Cache | None:
    if str(given.get("cache", "on")).lower() in _OFF:
        return None
    found = users_cache()
    return found if found.bound else None


def _backend(settings: _Settings, retries: dict[str, Any]) -> Any:
    from obstore.store import from_url

    more: dict[str, Any] = {"client_options": dict(settings.client), "retry_config": retries}
    if settings.store:
        more["config"] = dict(settings.store)
    if settings.provider is not None:
        more[_PROVIDER] = settings.provider
    try:
        return from_url(f"{settings.address}/", **more)
    except Exception as error:  # noqa: BLE001 - obstore raises what it likes here
        # The reason may quote an option's value: only its kind is told.
        raise StorageError(
            f"cannot open {settings.address}: {type(error).__name__}",
            hint="check the scheme, the bucket and --option",
        ) from None


def _identity(settings: _Settings) -> str:
    """The store's address, and where it is; an endpoint's user and query may be secrets."""
    host = (settings.endpoint or "").rpartition("@")[2].partition("?")[0]
    account = settings.store.get("account_name") or os.environ.get("AZURE_STORAGE_ACCOUNT_NAME")
    return " ".join([settings.address, host, account or "" if settings.kind == "az" else ""])
