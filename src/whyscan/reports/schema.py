"""JSON Schemas, made from the records that are the documents (`reports/document.py`)."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from enum import Enum
from inspect import get_annotations
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from msgspec import Meta, Struct, UnsetType

from whyscan.reports.document import SCHEMA_VERSION, Json, members_of

_SCALARS: dict[Any, Json] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    NoneType: {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
}


class TypedMember(NamedTuple):
    """One member of a document with its type; the type of a flat member has its own members."""

    name: str
    type: Any
    description: str | None = None
    flat: bool = False
    optional: bool = False


def schema(name: str, record: type[Struct]) -> Json:
    """Return the JSON Schema of a document, which needs no other file."""
    definitions: dict[str, Json] = {}
    body = _object(record, definitions)
    tool = {
        "type": "object",
        "additionalProperties": False,
        "required": ["name", "version"],
        "properties": {"name": {"const": "whyscan"}, "version": {"type": "string"}},
    }
    head = {"schema_version": {"const": SCHEMA_VERSION}, "tool": tool}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:whyscan:{name}:{SCHEMA_VERSION}",
        "title": f"The {name} document of whyscan",
        **body,
        "required": [*head, *body["required"]],
        "properties": head | body["properties"],
        "$defs": dict(sorted(definitions.items())),
    }


def typed_members(record: type[Struct]) -> Iterator[TypedMember]:
    """Yield the members of a record's document with their types."""
    for member in members_of(record):
        computed = getattr(record, member.attribute, None)
        if isinstance(computed, property) and computed.fget is not None:
            getter = computed.fget
            kind = eval(getter.__annotations__["return"], getter.__globals__)  # noqa: S307 - our own annotations
            yield TypedMember(member.name, kind, _first_line(getter.__doc__))
        else:
            kind = field_type(record, member.attribute)
            yield TypedMember(member.name, kind, None, member.flat, member.optional)


def field_type(record: type[Struct], attribute: str) -> Any:
    """Return the type of a field, with the metadata of its annotation."""
    owner = next(c for c in record.__mro__ if attribute in get_annotations(c))
    annotation = get_annotations(owner)[attribute]
    return eval(annotation, vars(sys.modules[owner.__module__]))  # noqa: S307 - our own annotations


def _object(record: type[Struct], definitions: dict[str, Json]) -> Json:
    required: list[str] = []
    properties: dict[str, Json] = {}
    for member in typed_members(record):
        optional = member.optional or UnsetType in get_args(member.type)
        if member.flat:
            (inner,) = (c for c in _alternatives(member.type) if c is not NoneType)
            body = _object(inner, definitions)
            properties |= body["properties"]
            required += [] if NoneType in _alternatives(member.type) else body["required"]
            continue
        properties[member.name] = _schema(member.type, definitions)
        if member.description is not None:
            properties[member.name]["description"] = member.description
        required += [] if optional else [member.name]
    return {
        "description": _first_line(record.__doc__),
        "type": "object",
        "additionalProperties": False,
        "required": required,
        "properties": properties,
        **getattr(record, "RULES", {}),
    }


def _schema(kind: Any, definitions: dict[str, Json]) -> Json:
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in _SCALARS:
        return dict(_SCALARS[kind])
    if origin is Annotated:
        return _annotated(arguments[0], arguments[1:], definitions)
    if origin in {Union, UnionType}:
        return _union(_alternatives(kind), definitions)
    if origin is tuple and arguments[-1] is not ...:
        items = [_schema(item, definitions) for item in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "items": False}
    if origin in {tuple, Iterator}:
        return {"type": "array", "items": _schema(arguments[0], definitions)}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _schema(arguments[1], definitions)}
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}  # A record may have parts of its own type.
        definitions[kind.__name__] = (
            _enumeration(kind) if issubclass(kind, Enum) else _object(kind, definitions)
        )
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _enumeration(kind: type[Enum]) -> Json:
    return {"description": _first_line(kind.__doc__), "enum": [member.value for member in kind]}


def _annotated(kind: Any, metadata: tuple[Any, ...], definitions: dict[str, Json]) -> Json:
    result = _schema(kind, definitions)
    for meta in (m for m in metadata if isinstance(m, Meta)):
        limits = {"minimum": meta.ge, "maximum": meta.le, "description": meta.description}
        result |= {name: value for name, value in limits.items() if value is not None}
        result |= meta.extra_json_schema or {}
    if "enum" in result and NoneType in _alternatives(kind):
        result["enum"] = [*result["enum"], None]
    return result


def _union(kinds: tuple[Any, ...], definitions: dict[str, Json]) -> Json:
    """Return one schema if all alternatives are plain types, as a number or null."""
    schemas = [_schema(kind, definitions) for kind in kinds if kind is not UnsetType]
    if len(schemas) == 1:
        return schemas[0]
    if all(isinstance(s.get("type"), str) and "enum" not in s for s in schemas):
        merged: Json = {}
        for alternative in schemas:
            merged |= alternative
        return merged | {"type": [s["type"] for s in schemas]}
    return {"anyOf": schemas}


def _alternatives(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in {Union, UnionType} else (kind,)


def _first_line(docstring: str | None) -> str:
    """Return the first sentence of a docstring, without line breaks."""
    return " ".join((docstring or "").split("\n\n", 1)[0].split())
