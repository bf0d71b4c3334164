"""Suggestions for shell completion; nothing heavy is imported for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Iterable

    import click

DEPTHS = ("auto", "dictionary", "files", "pages", "row-groups")


def places(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    """Let the shell complete files and folders."""
    return [CompletionItem(typed, type="file")]


def named_places(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    """Let the shell complete files and folders behind `NAME=`."""
    return [CompletionItem(typed, type="file")] if "=" in typed else []


def depths(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    return _beginning(typed, DEPTHS)


def dialects(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    from whyscan.predicate.syntax.parse import DIALECTS

    return _beginning(typed, DIALECTS)


def timezones(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    from zoneinfo import available_timezones

    return _beginning(typed, sorted(available_timezones()))


def engines(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    from whyscan.profiles.engine_names import ENGINES, EVERY

    return _beginning(typed, [*(engine.name for engine in ENGINES), EVERY])


def _beginning(typed: str, words: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(word) for word in words if word.startswith(typed)]
