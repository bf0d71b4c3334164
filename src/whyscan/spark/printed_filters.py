"""The conditions of a scan whose plan was printed, in the terms of the table that it reads."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from whyscan.predicate.types import (
    DateType,
    DecimalType,
    IntegerType,
    StringType,
    StructType,
    TimestampType,
    Unit,
)
from whyscan.spark.workload.event_logs.catalyst import (
    IS_DELETED,
    Columns,
    Read,
    members,
    quoted,
    read_filters,
    text_of,
)
from whyscan.statements.report import Stayed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from whyscan.predicate.types import Type
    from whyscan.spark.plan_text import PrintedScan
    from whyscan.tables.snapshot import Snapshot

AT_RUN_TIME = "its values are known when the query runs"
NOT_SURE = "as the server prints it, it is not sure what it means"
OF_ANOTHER_TYPE = "the server does not tell the type of a partition column in it"
_ATTRIBUTE = re.compile(r"[^,\[\]]+?#\d+L?(?=,|\]|$)")
_RUN = re.compile(r"\bsubquery#\d|\bdynamicpruning#\d", re.IGNORECASE)
_CUT = re.compile(r"\.\.\. \d+ more")
_UNKNOWN = "unknown"
_PUSHED = re.compile(r"\bfilters=(?P<filters>.*), runtimeFilters=", re.DOTALL)
_QUOTED = r"'(?P<text>[^']*)'"
_ONE = re.compile(
    rf"(?P<column>[^\s,'()]+) (?:(?P<test>IS (?:NOT )?NULL)|(?P<operator><=|>=|<|>|=) "
    rf"(?:{_QUOTED}|(?P<number>-?\d+(?:\.\d+)?)))"
)
_LONGEST_SHOWN = 200


class Conditions(Struct, frozen=True):
    """What a scan reads and by which conditions, as Spark SQL; `stayed` are those left out."""

    columns: tuple[str, ...]
    read: tuple[str, ...]
    stayed: tuple[Stayed, ...]

    def without(self, columns: list[str]) -> Conditions:
        """Without the conditions on some columns."""
        named = [text for text in self.read if any(quoted(name) in text for name in columns)]
        return replace(
            self,
            read=tuple(text for text in self.read if text not in named),
            stayed=(*self.stayed, *(Stayed(text, OF_ANOTHER_TYPE) for text in named)),
        )


def conditions_of(scan: PrintedScan, snapshot: Snapshot, timezone: str) -> Conditions:
    """The conditions of a scan that have one meaning only."""
    tokens = [token.strip() for token in _ATTRIBUTE.findall(scan.output)]
    columns = Columns(dict(_types(tokens, scan, snapshot)), timezone)
    whole = [text for text in scan.conditions if not _CUT.search(text)]
    read = read_filters(whole, columns)
    others = [*scan.unsure, *(text for text in scan.conditions if text not in whole)]
    names = tuple(token.rpartition("#")[0] for token in tokens)
    pushed, unread = _taken_over(scan.pushed, snapshot, read)
    conjuncts = tuple(dict.fromkeys((*read.conjuncts, *pushed)))
    left = [text for text in read.left_out if f"{IS_DELETED}#" not in text]
    stayed = dict.fromkeys([*left, *others, *unread])
    return Conditions(names, conjuncts, tuple(map(_stayed, stayed)))


def _stayed(text: str) -> Stayed:
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
    return Stayed(shown, AT_RUN_TIME if _RUN.search(text) else NOT_SURE)


def _types(
    tokens: list[str], scan: PrintedScan, snapshot: Snapshot
) -> Iterator[tuple[str, str | None]]:
    """The type of each column, as the table and the scan both know it."""
    names = [token.rpartition("#")[0] for token in tokens]
    schema = snapshot.schema(named=tuple(names))
    fields = {field.name.lower(): field.type for field in schema.fields}
    told = members(scan.schema)
    for token, name in zip(tokens, names, strict=True):
        kind = fields.get(name.lower())
        spelled = _UNKNOWN if kind is None else _spelled(kind)
        same = told.get(name, spelled) == spelled and token.endswith("L") == (spelled == "bigint")
        yield token, spelled if same else _UNKNOWN


def _spelled(kind: Type) -> str:
    """As a schema of Spark has it."""
    if not isinstance(kind, StructType):
        return str(kind)
    inner = ",".join(f"{field.name}:{_spelled(field.type)}" for field in kind.fields)
    return f"struct<{inner}>"


def _taken_over(said: str, snapshot: Snapshot, above: Read) -> tuple[list[str], list[str]]:
    """The filters of an Iceberg scan that Spark's plan has no more, and those that are not read.

    Texts stand in quotes there that nothing escapes. One that Spark repeats is as it seems, and
    so is a single one besides; of two it is not sure where the first ends.
    """
    found = _PUSHED.search(said)
    if found is None:
        return [], [said] if said else []
    text: str = found["filters"]
    fields = {field.name: field.type for field in snapshot.schema().fields}
    filters = list(_listed(text))
    doubts = [one for one in filters if one["text"] is not None]
    doubts = [one for one in doubts if _sql(one, fields) not in above.conjuncts]
    sure_until = len(text)
    if len(doubts) > 1 or text.count("'") != sum(one[0].count("'") for one in filters):
        sure_until = text.find("'")
    sure = [one for one in filters if one.end() <= sure_until]
    readings = [_sql(one, fields) for one in sure]
    rest = text[sure[-1].end() if sure else 0 :].removeprefix(", ")
    missing = [one[0] for one, sql in zip(sure, readings, strict=True) if sql is None]
    repeated = " ".join((*above.conjuncts, *above.left_out))
    unread = [part for part in (*missing, rest) if part and not _is_named(part, repeated)]
    return [sql for sql in readings if sql is not None], unread


def _is_named(part: str, repeated: str) -> bool:
    """Whether Spark checks the column of a filter again."""
    column = part.lstrip("(").split(" ")[0].split(".")[0]
    return quoted(column) in repeated or f"{column}#" in repeated


def _listed(text: str) -> Iterator[re.Match[str]]:
    """The filters up to the first that is of another kind: where that ends, is not known."""
    at = 0
    while (found := _ONE.match(text, at)) is not None:
        if not (found.end() == len(text) or text.startswith(", ", found.end())):
            return
        yield found
        at = found.end() + 2


def _sql(found: re.Match[str], fields: Mapping[str, Type]) -> str | None:
    kind = fields.get(found["column"])
    if kind is None:
        return None
    name = quoted(found["column"])
    if found["test"] is not None:
        return f"{name} {found['test']}"
    value = _literal(found, kind)
    return None if value is None else f"{name} {found['operator']} {value}"


def _literal(found: re.Match[str], kind: Type) -> str | None:
    """A value as Iceberg prints it: dates and times are numbers."""
    if found["text"] is not None:
        return text_of(found["text"]) if isinstance(kind, StringType) else None
    number: str = found["number"]
    if isinstance(kind, DecimalType):
        return number
    if "." in number:
        return None
    try:
        match kind:
            case IntegerType():
                return number
            case DateType():
                return f"DATE '{date(1970, 1, 1) + timedelta(days=int(number))}'"
            case TimestampType(unit=Unit.MICROSECOND):
                moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(number))
                wall = moment.replace(tzinfo=None).isoformat(" ")
                return f"TIMESTAMP '{wall} UTC'" if kind.instant else f"TIMESTAMP_NTZ '{wall}'"
            case _:
                return None
    except OverflowError:
        return None
