"""AWS profiles: what `~/.aws/config` and `~/.aws/credentials` say, which obstore does not read."""

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
# Each needs a service or a program of AWS's own to become a key.
_INDIRECT = ("sso_session", "sso_start_url", "credential_process", "source_profile")


@dataclass(frozen=True, slots=True)
class SigningKeys:
    """What requests are signed with; never shown. obstore asks for it by calling it."""

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
    """A profile's settings by obstore's names, and its keys where it has any.

    `indirect` says how its keys would have to be obtained, None where they need not be.
    """

    name: str
    settings: Mapping[str, str]
    keys: SigningKeys | None
    indirect: str | None


def read_profile(named: str | None) -> Profile | None:
    """The profile that was named, by AWS_PROFILE else; the default one may be missing."""
    given = named or os.environ.get("AWS_PROFILE") or os.environ.get("AWS_DEFAULT_PROFILE")
    name = given or _DEFAULT
    config = _read("AWS_CONFIG_FILE", "config")
    credentials = _read("AWS_SHARED_CREDENTIALS_FILE", "credentials")
    sections = [
        (config, f"profile {name}"),
        *([(config, _DEFAULT)] if name == _DEFAULT else []),
        (credentials, name),
    ]
    found = [dict(file[section]) for file, section in sections if section in file]
    if not found:
        if given is None:
            return None
        raise UsageError(f"there is no AWS profile {name!r}", hint="aws configure list-profiles")
    merged = {key: value for section in found for key, value in section.items()}
    return _profile(name, merged, _service_endpoint(config, merged))


def _profile(name: str, stored: Mapping[str, str], endpoint: str | None) -> Profile:
    settings = {ours: stored[theirs] for theirs, ours in _SETTINGS.items() if theirs in stored}
    if endpoint is not None:
        settings["endpoint"] = endpoint
    keys = None
    if "aws_access_key_id" in stored and "aws_secret_access_key" in stored:
        token = stored.get("aws_session_token")
        keys = SigningKeys(stored["aws_access_key_id"], stored["aws_secret_access_key"], token)
    indirect = next((key for key in _INDIRECT if key in stored), None)
    return Profile(name, settings, keys, None if keys is not None else indirect)


def _service_endpoint(config: ConfigParser, stored: Mapping[str, str]) -> str | None:
    """The endpoint of S3 alone: indented lines below `s3 =` in the profile's `[services]`."""
    section = f"services {stored.get('services', '')}"
    if section not in config:
        return None
    lines = config[section].get("s3", "").splitlines()
    pairs = [line.partition("=") for line in lines]
    return next((value.strip() for key, _, value in pairs if key.strip() == "endpoint_url"), None)


def _read(variable: str, name: str) -> ConfigParser:
    place = Path(os.environ.get(variable) or Path.home() / ".aws" / name).expanduser()
    # Secrets may hold a percent sign, and `DEFAULT` is no section of AWS's.
    found = ConfigParser(interpolation=None, strict=False, default_section="\0")
    try:
        found.read_string(place.read_text("utf-8"))
    except FileNotFoundError:
        return found
    except (OSError, UnicodeDecodeError, Error):
        # The parser's own words quote the line, which may be a secret.
        raise UsageError(f"cannot read the AWS configuration in {place}") from None
    return found
