"""Masking of credentials that are part of a location, in every text that leaves the program.

| text | shown |
|---|---|
| `s3://KEY:SECRET@bucket/t`, `https://user:password@host/t` | `s3://***@bucket/t` |
| `https://host/t?sig=…`, `X-Amz-Signature=…`, `access_token=…` | `https://host/t?sig=***` |
| `jdbc:sqlserver://host;password=…`, `jdbc:oracle:thin:user/password@host` | `…;password=***` |

Only display uses the masked text; planning works on the original one. Masking a masked text again
changes nothing.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MASK = "***"

_AZURE = frozenset({"abfs", "abfss", "wasb", "wasbs"})
"""Schemes that write `container@account`."""
_SECRET_NAMES = frozenset({"sig", "key", "pwd", "pass", "sas", "qak"})
_SECRET_ENDINGS = ("key", "pwd", "pass", "sig")
_SECRET_PARTS = (
    "accessid",
    "accesskey",
    "authorization",
    "bearer",
    "credential",
    "keypair",
    "passphrase",
    "passwd",
    "password",
    "secret",
    "signature",
    "token",
)
_PLAIN = re.compile(r"[\W_]+")


def mask_credentials(text: str) -> str:
    """Return the text with `***` instead of each credential in a location."""
    shown, end = "", 0
    for start, stop in credential_spans(text):
        shown += text[end:start] + MASK
        end = stop
    return shown + text[end:] if end else text


def credential_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of the credentials, each as its first offset and the offset behind it."""
    if not ("=" in text or "%3" in text or "@" in text or "://" in text):
        return []
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(_spans(text)):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def _spans(text: str) -> Iterator[tuple[int, int]]:
    yield from _parameters(text, _PARAMETER, _VALUE)
    yield from _users(text)
    if "@" in text:
        yield from (match.span(1) for match in _pattern(_BARE).finditer(text))
    for run in _pattern(_JDBC).finditer(text):
        inside, first = run[0], run.start()
        settings = _parameters(inside, _SETTING, _SETTING_VALUE)
        yield from ((start + first, stop + first) for start, stop in settings)
        login = _pattern(_ORACLE).match(inside)
        if login is not None:
            yield login.start(1) + first, login.end(1) + first


def _parameters(text: str, names: str, values: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the values of parameters whose names are names of secrets."""
    end = 0
    for match in _pattern(names).finditer(text):
        if match.end() < end or not _is_secret(match["name"]):
            continue
        value = _pattern(values).match(text, match.end())
        if value is not None:
            end = value.end()
            yield value.span()


def _is_secret(name: str) -> bool:
    plain = _PLAIN.sub("", name).lower()
    return (
        plain in _SECRET_NAMES
        or plain.endswith(_SECRET_ENDINGS)
        or any(part in plain for part in _SECRET_PARTS)
    )


def _users(text: str) -> Iterator[tuple[int, int]]:
    """Yield the span of user and password before the `@` of an address.

    A secret may contain a slash. Then the text up to the slash is not a host with a port.
    """
    end = 0
    for match in _pattern(_ADDRESS).finditer(text):
        authority = _pattern(_AUTHORITY).match(text, match.end())
        if authority is None or match.end() < end:
            continue
        scheme, slashes, start = (match["scheme"] or "").lower(), match["slashes"], match.end()
        user = authority[0].rpartition("@")[0]
        if user:
            is_name = slashes != "://" or scheme in _AZURE or scheme == "file"
            end = start if is_name and ":" not in user else start + len(user)
        elif ":" in authority[0] and _pattern(_HOSTS).fullmatch(authority[0]) is None:
            until = text.rfind("@", start, _end(_WIDE_RUN, text, start))
            if until < 0 and slashes == "://":
                until = _end(_RUN, text, start)
            end = max(until, start)
        if end > start:
            yield start, end


def _end(pattern: str, text: str, start: int) -> int:
    match = _pattern(pattern).match(text, start)
    return start if match is None else match.end()


# A location ends at white space or at a quote. Every length is bounded, and masked text is not
# searched again, so that the time of a search is proportional to the length of the text.
_PARAMETER = r"(?:[?&;#]|%3F|%26|%3B|%23)(?P<name>[\w.%~-]{1,80}?)(?:=|%3D)"
_VALUE = r"\{[^}\n]{1,4096}\}|[^\s&;'\"`]{1,4096}"
_ADDRESS = (
    r"(?:(?<![\w+.-])(?P<scheme>[A-Za-z][\w+.-]{0,30}))?(?P<slashes>:/{1,3}|(?<![:/])//+)(?!/)"
)
_AUTHORITY = r"[^\s'\"`/]{1,1024}"
_HOSTS = (
    r"(?:[\w.\\*$-]*|\[[\da-f:.%]+\])(?::\d*)?"
    r"(?:,(?:[\w.\\*$-]*|\[[\da-f:.%]+\])(?::\d*)?){0,100}(?:[;?#,)].*|[:.!]*)?"
)
_WIDE_RUN = r"[^\s`]{0,1024}"
_RUN = r"[^\s'\"`]{0,4096}"
_BARE = r"(?:^|(?<=[\s'\"`(=,/]))(?!jdbc:)([^\s:/@'\"`(=,]{1,200}:(?!/)[^\s@'\"`]{1,200})@[\w.-]+/"
_JDBC = r"jdbc:[^'\"`\n]{0,8192}"
_SETTING = r"[?&;(,]\s{0,9}(?P<name>[\w.-]{1,80})\s{0,9}=\s{0,9}"
_SETTING_VALUE = r"\{[^}]{1,4096}\}|[^;&,)]{1,4096}"
_ORACLE = r"jdbc:oracle:\w{1,20}:([^@\s/]{1,200}/[^@\s]{1,400})@"


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """Compile a pattern when it is first used, because most runs of the program need none."""
    return re.compile(text, re.IGNORECASE)
