"""Reads AWS profiles from `~/.aws/config` and `~/.aws/credentials`, as obstore does not."""

from __future__ import annotations

import os
from configparser import ConfigParser, Error
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whyscan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEFAULT = "default"
_SETTINGS = {
    "region": "region",
    "endpoint_url": "endpoint",
    "role_arn": "role_arn",
    "role_session_name": "role_session_name",
    "web_identity_token_file": "web_identity_token_file",
}
# Each of these settings needs a service or a program of AWS to get keys.
_INDIRECT = ("sso_session", "sso_start_url", "credential_process", "source_profile")


@dataclass(frozen=True, slots=True)
class SigningKeys:
    """The keys that sign requests; never shown. obstore calls this object to get them."""

    access_key_id: str = field(repr=False)
    secret_access_key: str = field(repr=False)
    token: str | None = field(repr=False)

    def __call__(self) -> dict[str, Any]:
        return {
            "access_key_id": self.access_key_id,
            "secret_access_key": self.secret_access_key,
            "token": self.token,
            "expires_at": None,
        }


@dataclass(frozen=True, slots=True)
class Profile:
    """The settings of a profile by obstore's names, and its keys if it has any.

    `indirect` is the setting by which AWS's own programs would get the keys, None without one.
    """

    name: str
    settings: Mapping[str, str]
    keys: SigningKeys | None
    indirect: str | None


def read_profile(named: str | None) -> Profile | None:
    """The named profile, else that of AWS_PROFILE, else the default one, which may be missing."""
    chosen = named or os.environ.get("AWS_PROFILE") or os.environ.get("AWS_DEFAULT_PROFILE")
    name = chosen or _DEFAULT
    config = _read("AWS_CONFIG_FILE", "config")
    credentials = _read("AWS_SHARED_CREDENTIALS_FILE", "credentials")
    sections = [
        (config, f"profile {name}"),
        *([(config, _DEFAULT)] if name == _DEFAULT else []),
        (credentials, name),
    ]
    contents = [dict(file[section]) for file, section in sections if section in file]
    if not contents:
        if chosen is None:
            return None
        raise UsageError(f"there is no AWS profile {name!r}", hint="aws configure list-profiles")
    merged = {key: value for section in contents for key, value in section.items()}
    return _profile(name, merged, _service_endpoint(config, merged))


def _profile(name: str, section: Mapping[str, str], endpoint: str | None) -> Profile:
    settings = {ours: section[theirs] for theirs, ours in _SETTINGS.items() if theirs in section}
    if endpoint is not None:
        settings["endpoint"] = endpoint
    keys = None
    if "aws_access_key_id" in section and "aws_secret_access_key" in section:
        token = section.get("aws_session_token")
        keys = SigningKeys(section["aws_access_key_id"], section["aws_secret_access_key"], token)
    indirect = next((key for key in _INDIRECT if key in section), None)
    return Profile(name, settings, keys, None if keys is not None else indirect)


def _service_endpoint(config: ConfigParser, profile: Mapping[str, str]) -> str | None:
    """The endpoint of S3: an indented line below `s3 =` in the `[services]` of the profile."""
    section = f"services {profile.get('services', '')}"
    if section not in config:
        return None
    lines = config[section].get("s3", "").splitlines()
    pairs = [line.partition("=") for line in lines]
    return next((value.strip() for key, _, value in pairs if key.strip() == "endpoint_url"), None)


def _read(variable: str, name: str) -> ConfigParser:
    path = Path(os.environ.get(variable) or Path.home() / ".aws" / name).expanduser()
    # Secrets may contain a percent sign, and AWS has no section `DEFAULT`.
    parser = ConfigParser(interpolation=None, strict=False, default_section="\0")
    try:
        parser.read_string(path.read_text("utf-8"))
    except FileNotFoundError:
        return parser
    except (OSError, UnicodeDecodeError, Error):
        # The parser's message quotes the line, which may be a secret.
        raise UsageError(f"cannot read the AWS configuration in {path}") from None
    return parser
