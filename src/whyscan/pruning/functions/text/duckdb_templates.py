"""Functions of text as DuckDB SQL: templates that give None where DuckDB may differ from Spark.

Each was compared with Spark on printable ASCII text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from whyscan.tree.nodes import Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.pruning.functions.function import Template
    from whyscan.tree.nodes import Call, Expression

LONGEST_PADDED = 1_000
LONGEST_PATTERN = 1_000
"""Characters of a regular expression: longer ones take more time and stack to compile and check."""


def concat(_: Call, arguments: list[str]) -> str:
    return "(" + " || ".join(arguments) + ")"


def concat_ws(_: Call, arguments: list[str]) -> str | None:
    """A separator and at least one value: DuckDB has no `concat_ws` without values."""
    return f"concat_ws({', '.join(arguments)})" if len(arguments) > 1 else None


def substring(call: Call, arguments: list[str]) -> str | None:
    """A positive literal position: Spark and DuckDB count differently from the end."""
    for position, least in zip(call.arguments[1:], (1, 0), strict=False):
        match position:
            case Literal(value=int() as number) if number >= least:
                continue
            case _:
                return None
    return f"substring({', '.join(arguments)})"


def padded(name: str) -> Template:
    """A literal length and a non-empty filler: DuckDB does not pad with an empty text."""

    def render(call: Call, arguments: list[str]) -> str | None:
        match call.arguments[1:]:
            case (Literal(value=int() as length), *rest) if 0 <= length <= LONGEST_PADDED:
                if not rest:
                    return f"{name}({arguments[0]}, {length}, ' ')"
                if isinstance(rest[0], Literal) and rest[0].value:
                    return f"{name}({arguments[0]}, {length}, {arguments[2]})"
        return None

    return render


def split_part(call: Call, arguments: list[str]) -> str | None:
    """A non-empty separator and a positive index: the engines count differently otherwise."""
    match call.arguments:
        case (_, Literal(value=str() as by), Literal(value=int() as at)) if by and at > 0:
            return f"split_part({', '.join(arguments)})"
        case _:
            return None


def rlike(call: Call, arguments: list[str]) -> str | None:
    portable = _portable(call.arguments[1])
    return None if portable is None else f"regexp_matches({', '.join(arguments)})"


def regexp_replace(call: Call, arguments: list[str]) -> str | None:
    """Replaces every match by a text without references, which Java and RE2 write differently.

    After a match Java finds an empty match in the same place and RE2 does not: `x*` in `xa`. A
    pattern that can match nothing also matches the empty text, where `^` and `$` hold.
    """
    match call.arguments:
        case (_, pattern, Literal(value=str() as text)) if "$" not in text and "\\" not in text:
            portable = _portable(pattern)
            if portable is not None and portable.match("") is None:
                return f"regexp_replace({', '.join(arguments)}, 'g')"
    return None


def regexp_extract(call: Call, arguments: list[str]) -> str | None:
    """The first match or one of its groups. The group must exist: otherwise Spark raises.

    If a group is repeated, Java and RE2 disagree on which repetition it holds.
    """
    match call.arguments:
        case (_, pattern, Literal(value=int() as group)) if (
            portable := _portable(pattern)
        ) is not None:
            if group == 0 or (
                0 < group <= portable.groups and not any(_repeated(portable.pattern))
            ):
                return f"regexp_extract({', '.join(arguments)})"
    return None


_SYNTAX = re.compile(
    r"(?:[ !\"#%&',/0-9:;<=>@A-Z_`a-z~.^$|()*+?-]|\\[dDwW.\\*+?()\[\]{}|^$/-]"
    r"|\[\^?(?:[ !\"#%',/0-9:;<=>@A-Z_`a-z~.$|()*+?-]|\\[dw.\\\]-])+\]|\{[0-9]+(?:,[0-9]*)?\})*"
)
# Python warns that `--`, `||` and `~~` between brackets may mean operations one day.
_UNSURE = re.compile(r"\(\?|[*+?}]\+|\[[^]]*(?:--|\|\||~~)")
_TOKEN = re.compile(r"\\.|\[(?:\\.|[^]\\])*]|.")


def _portable(pattern: Expression) -> re.Pattern[str] | None:
    """The pattern, if it means the same in Java and RE2: no look-around, back reference or flag.

    Nor a repeated group that may be empty: Java ends the repetition at its first empty match.
    """
    match pattern:
        case Literal(value=str() as text) if len(text) <= LONGEST_PATTERN:
            if _SYNTAX.fullmatch(text) is None or _UNSURE.search(text):
                return None
        case _:
            return None
    try:
        compiled = re.compile(text, re.ASCII)
        repeated_empty = any(re.compile(g, re.ASCII).match("") for g in _repeated(text))
    except (re.error, OverflowError, RecursionError):
        return None
    return None if repeated_empty else compiled


def _repeated(pattern: str) -> Iterator[str]:
    """The text of each group of the pattern that a quantifier follows."""
    opened: list[int] = []
    for token in _TOKEN.finditer(pattern):
        if token[0] == "(":
            opened.append(token.end())
        elif token[0] == ")":
            start = opened.pop()
            if pattern[token.end() : token.end() + 1] in {"*", "+", "?", "{"}:
                yield pattern[start : token.start()]
