"""JSON, damaged where it is still JSON, or nearly: members gone, doubled or of another type."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random

DEEP = 3_000
LONG = 20_000
_RAW = "\ue000raw {}\ue000"  # a text of the private use area stands for what json cannot write

RAW = (
    "NaN",
    "Infinity",
    "-Infinity",
    "1e999",
    "-1e999",
    "1" * 400,
    "-0",
    "[" * DEEP + "]" * DEEP,
    '{"a":' * DEEP + "1" + "}" * DEEP,
    "[" * DEEP,
    '"\\ud800"',
    '"\\u0000"',
    "'single'",
    "",
    "01",
    '"\udcff"',
)
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**53 + 1,
    2**63,
    -(2**63) - 1,
    1.5,
    1e308,
    "",
    "x",
    "0",
    "NaN",
    "Infinity",
    "9" * 60,
    "10000-01-01",
    "-290308-12-21T19:59:06.224192Z",
    "../../../etc/passwd",
    "/etc/passwd",
    "file:///etc/passwd",
    "s3://elsewhere/f",
    "%",
    "%00",
    "%2e%2e/f",
    "\x1b[31mred\x1b[0m",
    "a\x00b",
    "\u202e\u2028",
    "x" * LONG,
    [],
    {},
    [None],
    [[]],
    {"": None},
    {"type": "struct", "fields": []},
    list(range(200)),
)


def damage_document(whole: bytes, dice: random.Random) -> bytes:
    """One JSON document with a few changes; bytes that are none come back as they were."""
    try:
        document = json.loads(whole)
    except (ValueError, RecursionError):  # Damaged before, or too deep by an earlier change.
        return whole
    for _ in range(dice.randint(1, 3)):
        document = _changed(document, dice)
    return _written(document, dice)


def damage_lines(whole: bytes, dice: random.Random) -> bytes:
    """A document a line: one of them changed, doubled, gone, or moved."""
    lines = whole.splitlines(keepends=True)
    if not lines:
        return whole
    at = dice.randrange(len(lines))
    match dice.randrange(8):
        case 0:
            del lines[at]
        case 1:
            lines.insert(dice.randrange(len(lines)), lines[at])
        case 2:
            dice.shuffle(lines)
        case _:
            lines[at] = damage_document(lines[at], dice) + b"\n"
    return b"".join(lines)


def _changed(document: Any, dice: random.Random) -> Any:
    """The document with one change somewhere; what was given stays as it is."""
    inside = _inside(document, dice)
    if inside is not None:
        return inside
    match document:
        case dict() if document and dice.random() < 0.75:
            key = dice.choice(list(document))
            return {**document, key: _changed(document[key], dice)}
        case list() if document and dice.random() < 0.75:
            at = dice.randrange(len(document))
            return [*document[:at], _changed(document[at], dice), *document[at + 1 :]]
        case dict() if document:
            return _of_members(document, dice)
        case list() if document:
            return _of_elements(document, dice)
        case _:
            return _other(dice)


def _inside(document: Any, dice: random.Random) -> Any:
    """JSON within a text, as `stats` and `schemaString` are."""
    if not isinstance(document, str) or not document.startswith("{") or dice.random() < 0.2:
        return None
    text = document.encode("utf-8", "surrogatepass")
    return damage_document(text, dice).decode("utf-8", "surrogateescape")


def _of_members(members: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    key = dice.choice(list(members))
    match dice.randrange(4):
        case 0:
            return {k: v for k, v in members.items() if k != key}
        case 1:
            return {**members, key: _other(dice)}
        case 2:
            other = dice.choice(list(members))
            return {**members, key: members[other]}
        case _:
            renamed = dice.choice(["", key.upper(), f"{key} ", "x\x00", key[:-1]])
            return {renamed if k == key else k: v for k, v in members.items()}


def _of_elements(elements: list[Any], dice: random.Random) -> list[Any]:
    at = dice.randrange(len(elements))
    match dice.randrange(4):
        case 0:
            return [*elements[:at], *elements[at + 1 :]]
        case 1:
            return [*elements, elements[at]]
        case 2:
            return elements[::-1]
        case _:
            return [*elements[:at], _other(dice), *elements[at + 1 :]]


def _other(dice: random.Random) -> Any:
    if dice.random() < 0.35:
        return _RAW.format(dice.randrange(len(RAW)))
    return dice.choice(VALUES)


def _written(document: Any, dice: random.Random) -> bytes:
    text = json.dumps(document, ensure_ascii=False)
    for at, raw in enumerate(RAW):
        text = text.replace(f'"{_RAW.format(at)}"', raw)
        text = text.replace(_RAW.format(at), raw)
    if dice.random() < 0.1:
        text = _doubled_member(text, dice)
    return text.encode("utf-8", "surrogatepass" if dice.random() < 0.5 else "surrogateescape")


def _doubled_member(text: str, dice: random.Random) -> str:
    """The same key twice in one object, which readers resolve as they like."""
    starts = [at for at, letter in enumerate(text) if letter == "{"]
    if not starts:
        return text
    at = dice.choice(starts) + 1
    key = text[at:].partition(":")[0]
    return f"{text[:at]}{key}: null, {text[at:]}" if key.startswith('"') else text
