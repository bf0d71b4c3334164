"""The program that renders dbt models, in a process that its parent can end.

A template is a program. Jinja's sandbox keeps it away from the machine, but does not stop it from
running for ever or using all memory. This process limits its memory, and its parent ends it when a
model takes too long.

It reads one JSON object per line, with `text` and the limits, and writes one per line: `sql` and
`settings` of a rendered model, or `problem`, the kind of an error, with its `message`. It imports
nothing from whyscan: it is started from its source text.
"""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import suppress
from functools import partial
from typing import Any

SETTINGS = (
    "materialized",
    "unique_key",
    "incremental_strategy",
    "incremental_predicates",
    "predicates",
    "partition_by",
    "partitions",
)
"""The settings of a model's `config` that decide which statement a run executes."""

LONGEST_MESSAGE = 300


UNSET = "\ue000{}\ue001"
"""How a variable without a default is rendered: its name between two characters of no text."""


class TooLong(Exception):
    """The model gives more SQL than is ever read."""


class ConfigCall:
    """The function `config(…)` of a model: records its settings and renders as an empty text."""

    def __init__(self) -> None:
        self._set: dict[str, Any] = {}

    def __call__(self, *positional: dict[str, Any], **named: Any) -> str:
        for settings in (*positional, named):
            self._set.update(settings)
        return ""

    def get(self, name: str, default: Any = None) -> Any:
        return self._set.get(name, default)

    def settings(self) -> dict[str, Any]:
        """The settings that decide about the statement, as JSON values."""
        return {name: _plain(self._set[name]) for name in SETTINGS if name in self._set}


def _plain(value: Any) -> Any:
    match value:
        case None | bool() | int() | float():
            return value
        case str():
            return str(value)
        case list() | tuple() | set() | frozenset():
            return [_plain(part) for part in value]
        case dict():
            return {str(key): _plain(part) for key, part in value.items()}
        case _:
            # An undefined value raises Jinja's error when it becomes text.
            str(value)
            raise TypeError(f"a setting of config() is a {type(value).__name__}")


def render(text: str, longest: int) -> dict[str, Any]:
    """The SQL and the settings of a model; raises Jinja's error where it cannot be rendered."""
    from jinja2 import StrictUndefined, nodes
    from jinja2.sandbox import SandboxedEnvironment

    class Unset(StrictUndefined):
        """A variable without a default. It raises where the template computes with it."""

        def marker(self) -> str:
            return UNSET.format(re.sub(r"\W", "_", str(self._undefined_name)))

    def variable(kind: str, name: str, *default: Any) -> Any:
        hint = f"the {kind} {name!r} has no default in the model"
        return default[0] if default else Unset(hint=hint, name=name)

    def shown(value: Any) -> Any:
        return value.marker() if isinstance(value, Unset) and not captured else value

    environment = SandboxedEnvironment(
        undefined=StrictUndefined, extensions=["jinja2.ext.do"], finalize=shown
    )
    # What these write is a text in the template, which may compare it.
    capturing = (nodes.AssignBlock, nodes.CallBlock, nodes.FilterBlock, nodes.Macro)
    captured = any(environment.parse(text).find_all(capturing))
    config = ConfigCall()
    names = {
        "config": config,
        "this": "this",
        "ref": lambda *names, **_: names[-1],
        "source": lambda group, name: f"{group}.{name}",
        "is_incremental": lambda: True,
        "var": partial(variable, "variable"),
        "env_var": partial(variable, "environment variable"),
        "execute": True,
    }
    pieces, size = [], 0
    for piece in environment.from_string(text).generate(names):
        size += len(piece)
        if size > longest:
            raise TooLong
        pieces.append(piece)
    return {"sql": "".join(pieces), "settings": config.settings()}


def answer(text: str, longest: int) -> dict[str, Any]:
    """The rendered model, or the problem of the template."""
    from jinja2 import TemplateError, TemplateSyntaxError

    try:
        return render(text, longest)
    except TemplateSyntaxError as error:
        return {"problem": "syntax", "message": _line(error.message), "line": error.lineno}
    except TemplateError as error:
        return {"problem": "template", "message": _line(error)}
    except TooLong:
        return {"problem": "failed", "message": f"it gives more than {longest:,} characters"}
    except MemoryError:
        return {"problem": "memory", "message": ""}
    except RecursionError:
        return {"problem": "failed", "message": "it nests too deep, or calls itself without end"}
    except Exception as error:  # noqa: BLE001 - a template may raise what it likes
        return {"problem": "failed", "message": _line(error)}


def _line(error: object) -> str:
    message = " ".join(str(error).split())
    return message if len(message) <= LONGEST_MESSAGE else message[:LONGEST_MESSAGE] + "\u2026"


def _limit(memory: int, seconds: float) -> None:
    """Limit the memory of the process, and end it after some seconds if the parent is gone.

    Windows has neither limit: only the parent ends the process.
    """
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    import signal

    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def main() -> None:
    """Render models until the input ends."""
    with os.fdopen(os.dup(1), "w", encoding="ascii") as answers:
        for line in sys.stdin:
            task = json.loads(line)
            _limit(task["memory"], 2 * task["seconds"])
            result = answer(task["text"], task["longest"])
            try:
                line_out = json.dumps(result)
            except (ValueError, TypeError, MemoryError, RecursionError) as error:
                problem = {"problem": "failed", "message": _line(error)}
                line_out = json.dumps(problem)
            answers.write(line_out + "\n")
            answers.flush()
            _limit(task["memory"], 0)


if __name__ == "__main__":
    main()
