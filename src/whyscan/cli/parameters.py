"""Types of values on the command line: percentages, sizes, KEY=VALUE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from whyscan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Percent(click.ParamType[float]):
    """A number from 0 to 100, with or without a percent sign."""

    name = "pct"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            number = float(str(value).rstrip("% "))
        except ValueError:
            self.fail(f"{value!r} is not a percentage", param, ctx)
        # NaN fails this check, too.
        if not 0 <= number <= 100:  # noqa: PLR2004 - percent
            self.fail(f"{value!r} is not between 0 and 100", param, ctx)
        return number


class _Size(click.ParamType[int]):
    """A number of bytes: `10GB`, `500MiB`, `4096`."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from whyscan.tables.sizes import parse_size

        try:
            return parse_size(str(value))
        except UsageError as error:
            self.fail(f"{error.message}; {error.hint}", param, ctx)


class TableValue(click.ParamType[tuple[str | None, Any]]):
    """A value, perhaps with the name of a table: `10`, `sales=10`."""

    def __init__(self, kind: click.ParamType[Any]) -> None:
        self._kind = kind
        self.name = kind.name

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str | None, Any]:
        table, equals, bare = str(value).rpartition("=")
        if equals and not table.strip():
            self.fail(f"{value!r} has no name before its =", param, ctx)
        return table.strip() if equals else None, self._kind.convert(bare.strip(), param, ctx)


PERCENT = _Percent()
SIZE = _Size()


def named_layouts(words: Sequence[str]) -> dict[str, str]:
    """Return `NAME: LAYOUT` words as a mapping."""
    layouts: dict[str, str] = {}
    for word in words:
        name, colon, layout = word.partition(":")
        if not colon or not name.strip() or not layout.strip():
            raise UsageError(
                f"--layout takes NAME: LAYOUT, not {word!r}",
                hint="write the name of the table first: --layout 'events: sort by id'",
            )
        if name.strip() in layouts:
            raise UsageError(
                f"table {name.strip()!r} has two layouts", hint="write its clauses in one --layout"
            )
        layouts[name.strip()] = layout.strip()
    return layouts


def pairs(option: str, words: Sequence[str], form: str = "KEY=VALUE") -> dict[str, str]:
    """Return `KEY=VALUE` words as a mapping."""
    mapping: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        # The first = of an address stands before a value that may be a secret.
        if not equals or not key.strip() or "://" in key or "?" in key:
            # A word of --option may be a secret.
            shown = "" if option == "--option" else f", not {word!r}"
            raise UsageError(f"{option} takes {form}{shown}", hint=f"write {option} {form}")
        mapping[key.strip()] = value
    return mapping
