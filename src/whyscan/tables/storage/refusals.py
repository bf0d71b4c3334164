"""Turns errors of a store into errors of whyscan.

A store's message may contain addresses, tokens and whole responses, so it is dropped; the new
message only says what the error means.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING

from whyscan.errors import AccessDenied, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator

# obstore's message about a file of this machine.
_OS_ERROR = re.compile(r"\(os error (\d{1,5})\)")
_STATUS = re.compile(r"status code: (\d{3})\b")
# The addresses at which the clouds' machines request credentials if none are configured.
_MACHINE_CREDENTIALS = re.compile(r"169\.254\.169\.254|fd00:ec2::254|metadata\.google\.internal")
# obstore's message when a function that it calls for credentials has failed.
_PROVIDER = re.compile(r"External \w+ credential provider")
_REASONS = {
    "FileNotFoundError": "it is not there",
    "NotFoundError": "it is not there",
    "PermissionError": "permission denied",
    "PermissionDeniedError": "permission denied",
    "UnauthenticatedError": "the store does not accept the credentials",
    "InvalidPathError": "its name cannot be asked for",
    "NotSupportedError": "the store cannot do that",
    "UnknownConfigurationKeyError": "an option that this store does not know",
}
_STATUS_REASONS = {
    HTTPStatus.MOVED_PERMANENTLY: "the bucket is in another region",
    HTTPStatus.TEMPORARY_REDIRECT: "the bucket is in another region",
    HTTPStatus.UNAUTHORIZED: "the store does not accept the credentials",
    HTTPStatus.FORBIDDEN: "permission denied",
    HTTPStatus.NOT_FOUND: "it is not there",
    HTTPStatus.METHOD_NOT_ALLOWED: "the server does not list folders",
}
_NO_CREDENTIALS = "no credentials were found"
_SILENT = "the store did not answer"
_BAD_NAME = re.compile("illegal character sequence|InvalidPath|BadSegment")
_DENIALS = frozenset(
    {
        "permission denied",
        "the store does not accept the credentials",
        "the server does not list folders",
        "the store cannot do that",
    }
)
_HINTS = {
    "the bucket is in another region": "set AWS_REGION, or --option region=NAME",
    "the server does not list folders": "name its Parquet files or an Iceberg metadata.json",
    _NO_CREDENTIALS: (
        "set the cloud's environment variables or a profile; "
        "--option skip_signature=true for a public bucket"
    ),
    _SILENT: "check the address, the network and --option endpoint=URL",
    "permission denied": "check the credentials; --option skip_signature=true asks without any",
}
_FILE_HINTS = {"permission denied": "ls -l shows who may read it"}


@contextmanager
def refusals(name: str) -> Iterator[None]:
    """Raise every error of obstore in the block as an error of whyscan about `name`."""
    import obstore

    try:
        yield
    except (obstore.exceptions.BaseError, OSError, ValueError) as error:
        raise refused(name, error) from None


def refused(name: str, error: Exception) -> StorageError:
    """The error of whyscan about `name` for an error of a store."""
    why = _reason(error)
    is_file = type(error) is PermissionError or _OS_ERROR.search(str(error)) is not None
    hint = _FILE_HINTS.get(why) if is_file else _HINTS.get(why)
    kind = AccessDenied if why in _DENIALS else StorageError
    return kind(f"cannot read {name}: {why}", hint=hint)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror is not None:
        return _REASONS.get(type(error).__name__) or error.strerror.lower()
    message = str(error)
    if code := _OS_ERROR.search(message):
        return os.strerror(int(code[1])).lower()
    if _MACHINE_CREDENTIALS.search(message):
        return _NO_CREDENTIALS
    if _PROVIDER.search(message):
        return "its credentials could not be renewed"
    if reason := _REASONS.get(type(error).__name__):
        return reason
    if _BAD_NAME.search(message):
        return "a name in its path has a character that cannot be read, such as a line break"
    status = _STATUS.search(message)
    return _SILENT if status is None else _status(int(status[1]))


def _status(code: int) -> str:
    try:
        status = HTTPStatus(code)
    except ValueError:
        return f"the store answers {code}"
    return _STATUS_REASONS.get(status) or f"the store answers {code} {status.phrase}"
