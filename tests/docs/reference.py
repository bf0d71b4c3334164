"""The reference pages of the documentation, made from docstrings, schemas and help texts."""

from __future__ import annotations

import inspect
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

import whyscan
import whyscan.spark
from whyscan.cli.main import COMMANDS
from whyscan.cli.main import whyscan as program
from whyscan.cli.schema import DOCUMENTS
from whyscan.reports.schema import schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

WIDTH = 100
OBJECTS = ("Table", "Plan", "Report")
"""The classes whose methods are on the page of Python."""


def python_page() -> str:
    """Every function, method, record and error that `whyscan` exports."""
    exported = {name: getattr(whyscan, name) for name in whyscan.__all__ if name != "spark"}
    functions = {n: each for n, each in exported.items() if inspect.isfunction(each)}
    errors = {n: each for n, each in exported.items() if _is_error(each)}
    others = exported.keys() - functions.keys() - errors.keys() - set(OBJECTS)
    stages = {n: getattr(whyscan.spark, n) for n in whyscan.spark.__all__}
    lines = [
        *_title("Python reference", "what `help()` shows. [Python](../python.md) has examples"),
        *_functions("Functions", "whyscan.", functions),
    ]
    for name in OBJECTS:
        methods = {n: m for n, m in vars(exported[name]).items() if _is_public(n, m)}
        lines += _functions(name, "", methods, _summary(exported[name]))
    lines += _functions(
        "Spark", "whyscan.spark.", {n: s for n, s in stages.items() if inspect.isfunction(s)}
    )
    lines += ["## Types", "", "| type | what it is |", "|---|---|"]
    lines += [f"| `{name}` | {_first_line(exported[name])} |" for name in sorted(others)]
    lines += ["", "## Errors", "", "| error | raised if | exit code |", "|---|---|---|"]
    lines += [f"| `{n}` | {_first_line(e)} | {e.exit_code} |" for n, e in sorted(errors.items())]
    return "\n".join((*lines, ""))


def options_page() -> str:
    """Every option of the command line, with the commands that have it."""
    context = click.Context(program)
    commands: dict[tuple[str, str], list[str]] = {}
    for name in COMMANDS:
        for option in _options(program.get_command(context, name)):
            commands.setdefault((_spelled(option), _cell(option.help or "")), []).append(name)
    lines = [
        *_title("Options", "what `--help` shows, by option"),
        "| option | meaning | commands |",
        "|---|---|---|",
    ]
    for (option, text), names in sorted(commands.items(), key=lambda each: each[0]):
        links = ", ".join(f"[{name}](../commands/{name}.md)" for name in dict.fromkeys(names))
        lines.append(f"| {option} | {text} | {links} |")
    return "\n".join((*lines, ""))


def json_page() -> str:
    """Every field of every document."""
    parts: dict[str, Mapping[str, Any]] = {}
    lines = _title("JSON reference", "what `whyscan schema DOCUMENT` prints, as tables")
    for name, place in DOCUMENTS.items():
        module, _, record = place.rpartition(".")
        document = schema(name, getattr(import_module(module), record))
        parts |= document.get("$defs", {})
        lines += [f"## {name}", "", document.get("description", ""), "", *_fields(document)]
    lines += ["## Parts", ""]
    for name in sorted(parts):
        part = parts[name]
        lines += [f"### {name}", "", part.get("description", ""), ""]
        lines += _fields(part) if "properties" in part else [_values(part), ""]
    return "\n".join(lines)


PAGES: dict[str, Callable[[], str]] = {
    "python": python_page,
    "options": options_page,
    "json": json_page,
}


def _title(title: str, what: str) -> list[str]:
    return [f"# {title}", "", f"Made from the source: {what}.", ""]


def _functions(
    title: str, prefix: str, functions: Mapping[str, Any], text: str = ""
) -> Iterator[str]:
    yield from (f"## {title}", "", *((text, "") if text else ()))
    for name in sorted(functions):
        function = functions[name]
        if isinstance(function, property):
            yield from (f"### `{name}`", "", _text(function.fget), "")
            continue
        function = getattr(function, "__func__", function)
        yield from (f"### `{name}`", "", "```text", _signature(prefix + name, function), "```", "")
        yield from (_text(function), "")


def _signature(name: str, function: Any) -> str:
    """A signature on one line, or with one parameter a line."""
    signature = inspect.signature(function)
    parameters = [p for p in signature.parameters.values() if p.name not in {"self", "cls"}]
    kinds, keyword = [each.kind for each in parameters], inspect.Parameter.KEYWORD_ONLY
    shown = [_parameter(each) for each in parameters]
    if keyword in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        shown.insert(kinds.index(keyword), "*")
    returned = signature.return_annotation
    ending = f") -> {str(returned).strip(chr(39))}"
    line = f"{name}({', '.join(shown)}{ending}"
    if len(line) <= WIDTH:
        return line
    return "\n".join((f"{name}(", *(f"    {each}," for each in shown), ending))


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    shown = f"{stars.get(parameter.kind, '')}{parameter.name}"
    if parameter.annotation is not parameter.empty:
        shown += f": {parameter.annotation}"
    if parameter.default is not parameter.empty:
        shown += f" = {_default(parameter.default)}"
    return shown


def _default(default: Any) -> str:
    if inspect.isfunction(default):
        return "..."
    return repr(dict(default) if isinstance(default, MappingProxyType) else default)


def _text(documented: Any) -> str:
    return inspect.getdoc(documented) or ""


def _summary(documented: Any) -> str:
    return _text(documented).split("\n\n")[0].replace("\n", " ")


def _first_line(documented: Any) -> str:
    return _cell(_summary(documented))


def _is_public(name: str, member: Any) -> bool:
    kinds = (property, staticmethod, classmethod)
    return not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, kinds))


def _is_error(exported: Any) -> bool:
    return isinstance(exported, type) and issubclass(exported, Exception)


def _options(command: click.Command | None) -> Iterator[click.Option]:
    if command is None:
        return
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            yield from _options(inner)
    yield from (each for each in command.params if isinstance(each, click.Option) and each.help)


def _spelled(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in sorted(option.opts, key=lambda n: (-len(n), n)))
    metavar = _cell(option.make_metavar(click.Context(program)))
    return names if option.is_flag else f"{names} `{metavar}`"


def _fields(record: Mapping[str, Any]) -> Iterator[str]:
    """The fields of a record as a table. A field that may be missing has a question mark."""
    required = set(record.get("required", ()))
    yield from ("| field | type | meaning |", "|---|---|---|")
    for name, field in record.get("properties", {}).items():
        shown = f"`{name}`" if name in required else f"`{name}`?"
        yield f"| {shown} | {_type(field)} | {_cell(field.get('description', ''))} |"
    yield ""


def _type(field: Mapping[str, Any] | bool) -> str:
    """The type of a field in words, with links to the parts of this page."""
    if isinstance(field, bool):
        return "any value"
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(_type(each) for each in field["anyOf"]))
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return _values(field)
    if field.get("type") == "array" and "items" in field:
        return f"list of {_type(field['items'])}"
    if field.get("type") == "object" and isinstance(field.get("additionalProperties"), dict):
        return f"object of {_type(field['additionalProperties'])}"
    kind = field.get("type", "any value")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _values(field: Mapping[str, Any]) -> str:
    return ", ".join("null" if each is None else f"`{each}`" for each in field.get("enum", ()))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
