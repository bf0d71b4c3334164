"""Opens a store by its address, with settings from options, the environment and profiles.

| option | meaning |
|---|---|
| `concurrency` | how many reads run at once |
| `cache` | `off` caches nothing on this machine |
| `as_files` | `on` opens a part of a table as plain files (tables/storage/enclosing_tables.py) |
| `max_retries`, `retry_timeout` | how often, and for how many seconds, a read is tried again |
| `profile` | an AWS profile |
| `credential_provider` | from Python: a function that obstore calls for credentials |
| `timeout`, `proxy_url`, `allow_http`, … | of the HTTP client, by obstore's names |
| anything else | of the store, by obstore's names: `region`, `skip_signature`, `account_name`, … |

Options go first, then the environment, then the profile.
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

# A store that does not answer fails after about twenty seconds: after two timeouts of ten
# seconds, or as many retries as fit into fifteen seconds.
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
"""Options, by `option_name`, that choose the credentials."""


class Connection(Struct, frozen=True):
    """An opened store. `identity` separates it from others with its address, without secrets."""

    backend: Any
    identity: str
    at_once: int
    cache: Cache | None


class _Settings(Struct, frozen=True):
    """The settings that open a store, by obstore's names; never shown."""

    address: str
    store: Mapping[str, str]
    client: Mapping[str, Any]
    provider: Callable[[], Any] | None = None

    @property
    def kind(self) -> str:
        return kind_of(self.address)

    @property
    def endpoint(self) -> str | None:
        """The store's endpoint from an option, the environment or a profile, None without one."""
        names = [f"{cloud}{name}" for name in _ENDPOINT_OPTIONS for cloud in _CLOUDS]
        values = [self.store.get(name) for name in names]
        values += [os.environ.get(name) for name in _ENDPOINT_VARIABLES.get(self.kind, ())]
        return next((value for value in values if value), None)


def connect(address: str, options: Mapping[str, Any]) -> Connection:
    """Open a store. No request is sent yet."""
    require_supported(address.partition("://")[0])
    lowered = {key.lower(): value for key, value in options.items()}
    settings = _settings(address, lowered)
    return Connection(
        backend=_backend(settings, _retries(lowered)),
        identity=_identity(settings),
        at_once=_at_once(lowered),
        cache=_cache(lowered),
    )


def portable_options(address: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that open a store on any machine: with those of this environment and profile.

    Some of them are secrets. A folder on disk needs no more options.
    """
    portable = dict(options)
    if "://" not in address:
        return portable
    settings = _settings(address, {key.lower(): value for key, value in options.items()})
    portable.pop("profile", None)
    if settings.provider is not None:
        portable[_PROVIDER] = settings.provider
    return {**portable, **settings.store}


def kind_of(address: str) -> str:
    """The kind of the store of an address: s3, gs, az, or else its scheme."""
    scheme, _, rest = _spelled(address).partition("://")
    is_azure = scheme == "https" and rest.partition("/")[0].lower().endswith(azure_variables.HOSTS)
    return "az" if scheme == "abfss" or is_azure else scheme


def option_name(key: str) -> str:
    """The plain name of an option: `endpoint` for `AWS_ENDPOINT_URL`."""
    name = key.lower()
    for cloud in filter(None, _CLOUDS):
        name = name.removeprefix(cloud)
    return "endpoint" if name in _ENDPOINT_OPTIONS else name


def _settings(address: str, options: Mapping[str, Any]) -> _Settings:
    # obstore panics on an option of the client with a cloud's prefix, such as aws_allow_http.
    client = {option_name(k): v for k, v in options.items() if option_name(k) in _CLIENT_KEYS}
    store = {
        key: str(value)
        for key, value in options.items()
        if option_name(key) not in _CLIENT_KEYS and key not in _OURS
    }
    settings = _Settings(_spelled(address), store, {**_CLIENT, **client}, _provider(options))
    if settings.kind == "s3":
        settings = _with_profile(settings, options.get("profile"))
    settings = replace(settings, store={**_environment(settings), **settings.store})
    if (settings.endpoint or settings.address).startswith("http://"):
        # An address with http:// asks for no encryption, so no further option is needed.
        settings = replace(settings, client={"allow_http": True, **settings.client})
    return settings


def _environment(settings: _Settings) -> dict[str, str]:
    """The settings that the environment adds to the chosen ones, without second credentials."""
    if settings.kind == "az":
        values = azure_variables.azure_variables(settings.address, os.environ)
    else:
        values = environment.variables(settings.kind, os.environ)
    chosen = {option_name(key).removeprefix("storage_") for key in settings.store}
    if settings.provider is not None or chosen & CREDENTIAL_OPTIONS:
        chosen |= CREDENTIAL_OPTIONS
    return {key: value for key, value in values.items() if option_name(key) not in chosen}


def _provider(options: Mapping[str, Any]) -> Callable[[], Any] | None:
    provider = options.get(_PROVIDER)
    if provider is not None and not callable(provider):
        raise UsageError(f"the option {_PROVIDER} takes a function")
    return provider


def _spelled(address: str) -> str:
    """The address in the spelling of obstore."""
    scheme, _, rest = address.partition("://")
    if scheme in {"wasb", "wasbs"}:
        rest = rest.replace(".blob.", ".dfs.", 1)
    return f"{_SPELLINGS.get(scheme, scheme)}://{rest}"


def _with_profile(settings: _Settings, named: str | None) -> _Settings:
    """Add the settings of a profile. The environment's keys go first if no profile was named."""
    has_keys = settings.provider is not None or any(key in settings.store for key in _KEY_OPTIONS)
    if named is None:
        has_keys = has_keys or any(variable in os.environ for variable in _KEY_VARIABLES)
    profile = read_profile(named)
    if profile is None:
        return settings
    if profile.indirect is not None and not has_keys:
        raise UsageError(
            f"the AWS profile {profile.name!r} gets its keys by {profile.indirect}",
            hint=f"aws configure export-credentials --profile {profile.name} --format env",
        )
    added = dict(profile.settings)
    if settings.endpoint is not None:
        added.pop("endpoint", None)
    if "AWS_REGION" in os.environ or "AWS_DEFAULT_REGION" in os.environ:
        added.pop("region", None)
    if not has_keys and profile.keys is not None:
        settings = replace(settings, provider=profile.keys)
    return replace(settings, store={**added, **settings.store})


def _retries(options: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "max_retries": int(_number("max_retries", options.get("max_retries", _RETRIES))),
        "retry_timeout": timedelta(
            seconds=_number("retry_timeout", options.get("retry_timeout", _RETRY_SECONDS))
        ),
        "backoff": {"init_backoff": timedelta(seconds=0.1), "max_backoff": timedelta(seconds=3)},
    }


def _at_once(options: Mapping[str, Any]) -> int:
    value = options.get("concurrency") or os.environ.get(CONCURRENCY_VARIABLE) or REMOTE_AT_ONCE
    return max(int(_number("concurrency", value)), 1)


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise UsageError(f"the option {name} takes a number") from None


def _cache(options: Mapping[str, Any]) -> Cache | None:
    if str(options.get("cache", "on")).lower() in _OFF:
        return None
    cache = users_cache()
    return cache if cache.bound else None


def _backend(settings: _Settings, retries: dict[str, Any]) -> Any:
    from obstore.store import from_url

    more: dict[str, Any] = {"client_options": dict(settings.client), "retry_config": retries}
    if settings.store:
        more["config"] = dict(settings.store)
    if settings.provider is not None:
        more[_PROVIDER] = settings.provider
    try:
        return from_url(f"{settings.address}/", **more)
    except BaseException as error:
        # A panic of obstore is not an Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        # The message may quote an option's value, so only the error's class is shown.
        raise StorageError(
            f"cannot open {settings.address}: {type(error).__name__}",
            hint="check the scheme, the bucket and --option",
        ) from None


def _identity(settings: _Settings) -> str:
    """The store's address, endpoint and account; a user or query in the endpoint is left out."""
    host = (settings.endpoint or "").rpartition("@")[2].partition("?")[0]
    account = settings.store.get("account_name") or os.environ.get("AZURE_STORAGE_ACCOUNT_NAME")
    return " ".join([settings.address, host, account or "" if settings.kind == "az" else ""])
