"""The predicate tree as DuckDB SQL, where DuckDB means the same as Spark; else None.

The list of functions is closed: each was compared with Spark on printable ASCII text, and only such
text is sent to DuckDB (see `where_it_means_the_same`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from threading import Timer
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.pruning.mask import Mask, all_of, tally, unknown_as
from whyscan.tree import arrow
from whyscan.tree.nodes import (
    And,
    Arithmetic,
    Between,
    Call,
    Case,
    Cast,
    Coalesce,
    Column,
    Comparator,
    Comparison,
    Expression,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Opaque,
    Or,
    Path,
    type_of,
    walk,
)
from whyscan.tree.types import (
    BooleanType,
    DateType,
    DecimalType,
    IntegerType,
    StringType,
    TimestampType,
    Type,
)

if TYPE_CHECKING:
    import duckdb

Names = Mapping[Path, str]


class NotTheSame(Exception):
    """DuckDB has no expression with this meaning."""


def to_duckdb(expression: Expression, names: Names) -> str | None:
    """The SQL of an expression; `names` are the names of its columns. None if DuckDB may differ."""
    try:
        return _sql(expression, names)
    except NotTheSame:
        return None


def _sql(expression: Expression, names: Names) -> str:
    def sql(inner: Expression) -> str:
        return _sql(inner, names)

    match expression:
        case Column():
            return names[expression.path]
        case Literal():
            return _literal(expression)
        case And():
            return "(" + " AND ".join(map(sql, expression.operands)) + ")"
        case Or():
            return "(" + " OR ".join(map(sql, expression.operands)) + ")"
        case Not():
            return f"(NOT {sql(expression.operand)})"
        case IsNull():
            return f"({sql(expression.operand)} IS NULL)"
        case Comparison():
            return f"({sql(expression.left)} {_comparator(expression)} {sql(expression.right)})"
        case Between():
            operand, low, high = map(sql, (expression.operand, expression.low, expression.high))
            return f"({operand} BETWEEN {low} AND {high})"
        case Coalesce():
            return "coalesce(" + ", ".join(map(sql, expression.operands)) + ")"
        case Case():
            branches = (f"WHEN {sql(c)} THEN {sql(v)}" for c, v in expression.branches)
            return f"(CASE {' '.join(branches)} ELSE {sql(expression.otherwise)} END)"
        case Call():
            return _call(expression, names)
        case Cast():
            return _cast(expression, names)
        case In():
            return f"({sql(expression.operand)} IN ({_listed(expression)}))"
        case Like():
            return f"({sql(expression.operand)} {_pattern(expression)})"
        case Arithmetic() | Opaque():
            # DuckDB turns p + 1 > 3 into p > 2, and so loses the overflow that Spark raises.
            raise NotTheSame


def _listed(listed: In) -> str:
    """The values of an IN list, with NULL where the list has one."""
    kind = type_of(listed.operand)
    # Decimals of a list may have more digits than their type.
    if listed.nan or isinstance(kind, DecimalType):
        raise NotTheSame
    values = [_literal(Literal(arrow.value(v, kind), kind)) for v in listed.values]
    if not (values or listed.null):
        raise NotTheSame
    return ", ".join([*values, "NULL"] if listed.null else values)


def _pattern(like: Like) -> str:
    operator = "ILIKE" if like.ignore_case else "LIKE"
    escape = "" if like.escape is None else f" ESCAPE {_text(like.escape)}"
    return f"{operator} {_text(like.pattern)}{escape}"


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _comparator(comparison: Comparison) -> str:
    if comparison.operator is Comparator.NULL_SAFE_EQUAL:
        return "IS NOT DISTINCT FROM"
    return str(comparison.operator.value)


def _literal(literal: Literal) -> str:
    match literal.value:
        case None:
            return "NULL"
        case bool() as value:
            return "TRUE" if value else "FALSE"
        case int() as value if isinstance(literal.type, IntegerType):
            return f"CAST({value} AS {_type_name(literal.type)})"
        case int() as value if isinstance(literal.type, DateType):
            return f"(DATE '1970-01-01' + CAST({value} AS INTEGER))"
        case Decimal() as value:
            return f"CAST('{value}' AS {_type_name(literal.type)})"
        case str() as text:
            return _text(text)
        case _:
            raise NotTheSame


def _type_name(kind: Type) -> str:
    match kind:
        case IntegerType():
            return {8: "TINYINT", 16: "SMALLINT", 32: "INTEGER", 64: "BIGINT"}[kind.bits]
        case DecimalType():
            return f"DECIMAL({kind.precision},{kind.scale})"
        case StringType():
            return "VARCHAR"
        case DateType():
            return "DATE"
        case BooleanType():
            return "BOOLEAN"
        case _:
            raise NotTheSame


def _cast(cast: Cast, names: Names) -> str:
    """Casts on which both engines agree: integers and dates to text, and wider integers."""
    source, target = type_of(cast.operand), cast.type
    agree = (
        (isinstance(source, IntegerType | DateType | StringType) and isinstance(target, StringType))
        or (
            isinstance(source, IntegerType)
            and isinstance(target, IntegerType)
            and target.bits >= source.bits
        )
        or (isinstance(source, IntegerType) and isinstance(target, DecimalType))
    )
    if not agree:
        raise NotTheSame
    return f"CAST({_sql(cast.operand, names)} AS {_type_name(target)})"


Template = Callable[[Call, list[str]], str]


def _plain(template: str, arity: int) -> Template:
    def render(_: Call, arguments: list[str]) -> str:
        if len(arguments) != arity:
            raise NotTheSame
        return template.format(*arguments)

    return render


def _regexp(template: str, arity: int) -> Template:
    def render(call: Call, arguments: list[str]) -> str:
        if len(arguments) != arity:
            raise NotTheSame
        _portable(call.arguments[1])
        return template.format(*arguments)

    return render


def _regexp_replace(call: Call, arguments: list[str]) -> str:
    """Replaces every match by a text without references, which Java and RE2 write differently.

    After a match Java finds an empty match in the same place and RE2 does not: `x*` in `xa`. A
    pattern that can match nothing also matches the empty text, where `^` and `$` hold.
    """
    match call.arguments:
        case (_, pattern, Literal(value=str() as text)) if "$" not in text and "\\" not in text:
            if _portable(pattern).match("") is None:
                return f"regexp_replace({', '.join(arguments)}, 'g')"
        case _:
            pass
    raise NotTheSame


def _regexp_extract(call: Call, arguments: list[str]) -> str:
    """The first match or one of its groups. The group must exist: otherwise Spark raises.

    If a group is repeated, Java and RE2 disagree on which repetition it holds.
    """
    match call.arguments:
        case (_, pattern, Literal(value=int() as group)):
            compiled = _portable(pattern)
            if group == 0 or (
                0 < group <= compiled.groups and not any(_repeated(compiled.pattern))
            ):
                return f"regexp_extract({', '.join(arguments)})"
        case _:
            pass
    raise NotTheSame


def _substring(call: Call, arguments: list[str]) -> str:
    """A positive literal position: Spark and DuckDB count differently from the end."""
    at_least = (1, 0)
    for position, least in zip(call.arguments[1:], at_least, strict=False):
        match position:
            case Literal(value=int() as number) if number >= least:
                continue
            case _:
                raise NotTheSame
    return f"substring({', '.join(arguments)})"


def _padded(name: str) -> Template:
    """A literal length and a non-empty filler: DuckDB does not pad with an empty text."""

    def render(call: Call, arguments: list[str]) -> str:
        match call.arguments[1:]:
            case (Literal(value=int() as length), *rest) if 0 <= length <= LONGEST_PADDED:
                if not rest:
                    return f"{name}({arguments[0]}, {length}, ' ')"
                if isinstance(rest[0], Literal) and rest[0].value:
                    return f"{name}({arguments[0]}, {length}, {arguments[2]})"
            case _:
                pass
        raise NotTheSame

    return render


def _split_part(call: Call, arguments: list[str]) -> str:
    """A non-empty separator and a positive index: the engines count differently otherwise."""
    match call.arguments:
        case (_, Literal(value=str() as by), Literal(value=int() as at)) if by and at > 0:
            return f"split_part({', '.join(arguments)})"
        case _:
            raise NotTheSame


def _joined_by(_: Call, arguments: list[str]) -> str:
    """A separator and at least one value: DuckDB has no `concat_ws` without values."""
    if len(arguments) == 1:
        raise NotTheSame
    return f"concat_ws({', '.join(arguments)})"


LONGEST_PADDED = 1_000
LONGEST_PATTERN = 1_000
"""Characters of a regular expression: longer ones take more time and stack to compile and check."""

_REGEXP_SYNTAX = re.compile(
    r"(?:[ !\"#%&',/0-9:;<=>@A-Z_`a-z~.^$|()*+?-]|\\[dDwW.\\*+?()\[\]{}|^$/-]"
    r"|\[\^?(?:[ !\"#%',/0-9:;<=>@A-Z_`a-z~.$|()*+?-]|\\[dw.\\\]-])+\]|\{[0-9]+(?:,[0-9]*)?\})*"
)


# Python warns that `--`, `||` and `~~` between brackets may mean operations one day.
_UNSURE = re.compile(r"\(\?|[*+?}]\+|\[[^]]*(?:--|\|\||~~)")


def _portable(pattern: Expression) -> re.Pattern[str]:
    """The pattern, if Java and RE2 read it alike: no look-around, back reference or flag.

    Nor a repeated group that may be empty: Java ends the repetition at its first empty match.
    """
    match pattern:
        case Literal(value=str() as text) if _has_portable_syntax(text):
            if not _UNSURE.search(text):
                compiled = _compiled(text)
                if not any(_compiled(group).match("") for group in _repeated(text)):
                    return compiled
        case _:
            pass
    raise NotTheSame


def _has_portable_syntax(pattern: str) -> bool:
    return len(pattern) <= LONGEST_PATTERN and _REGEXP_SYNTAX.fullmatch(pattern) is not None


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise NotTheSame from error


_REGEXP_TOKEN = re.compile(r"\\.|\[(?:\\.|[^]\\])*]|.")


def _repeated(pattern: str) -> Iterator[str]:
    """The text of each group of the pattern that a quantifier follows."""
    opened: list[int] = []
    for token in _REGEXP_TOKEN.finditer(pattern):
        if token[0] == "(":
            opened.append(token.end())
        elif token[0] == ")":
            start = opened.pop()
            if pattern[token.end() : token.end() + 1] in {"*", "+", "?", "{"}:
                yield pattern[start : token.start()]


SAME_MEANING: Mapping[str, Template] = MappingProxyType(
    {
        "rlike": _regexp("regexp_matches({0}, {1})", 2),
        "regexp_like": _regexp("regexp_matches({0}, {1})", 2),
        "regexp_replace": _regexp_replace,
        "regexp_extract": _regexp_extract,
        "concat": lambda _, arguments: "(" + " || ".join(arguments) + ")",
        "lower": _plain("lower({0})", 1),
        "upper": _plain("upper({0})", 1),
        "length": _plain("length({0})", 1),
        "reverse": _plain("reverse({0})", 1),
        "trim": _plain("trim({0}, ' ')", 1),
        "ltrim": _plain("ltrim({0}, ' ')", 1),
        "rtrim": _plain("rtrim({0}, ' ')", 1),
        "replace": _plain("replace({0}, {1}, {2})", 3),
        "md5": _plain("md5({0})", 1),
        "ascii": _plain("ascii({0})", 1),
        "octet_length": _plain("strlen({0})", 1),
        "lpad": _padded("lpad"),
        "rpad": _padded("rpad"),
        "split_part": _split_part,
        "translate": _plain("translate({0}, {1}, {2})", 3),
        "concat_ws": _joined_by,
        "instr": _plain("instr({0}, {1})", 2),
        "contains": _plain("contains({0}, {1})", 2),
        "startswith": _plain("starts_with({0}, {1})", 2),
        "endswith": _plain("ends_with({0}, {1})", 2),
        "substring": _substring,
        "left": _plain("left({0}, CAST(greatest({1}, 0) AS BIGINT))", 2),
        "right": _plain("right({0}, CAST(greatest({1}, 0) AS BIGINT))", 2),
        "repeat": _plain("repeat({0}, greatest({1}, 0))", 2),
    }
)


def _call(call: Call, names: Names) -> str:
    template = SAME_MEANING.get(call.function)
    instants = any(isinstance(type_of(a), TimestampType) for a in call.arguments)
    if template is None or instants:
        raise NotTheSame
    return template(call, [_sql(argument, names) for argument in call.arguments])


ANY_TEXT = frozenset(
    {"concat", "contains", "endswith", "left", "length", "replace", "startswith", "substring"}
)
"""Functions that mean the same on text of any letters: they count and compare code points."""

_PRINTABLE = "^[ -~]*$"
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "enable_external_access": "false",
    "preserve_insertion_order": "true",
    "memory_limit": "512MB",
    "max_temp_directory_size": "0B",
}
SECONDS = 10.0
"""How long DuckDB may take for one conjunct, before the interpreter's own answer is used."""


def takes_any_text(expression: Expression) -> bool:
    """DuckDB means the same as Spark beyond printable ASCII, too."""
    for node in walk(expression):
        match node:
            case Call() if node.function not in ANY_TEXT:
                return False
            case Like(ignore_case=True):
                return False
            case _:
                continue
    return True


def means_the_same(expression: Expression, values: Sequence[pa.Array]) -> bool:
    """DuckDB means the same as Spark on all these values and on the text literals."""
    count = len(values[0])
    sent = where_it_means_the_same(expression, values)
    return writes_the_same(expression) and tally(sent, count) == count


def writes_the_same(expression: Expression) -> bool:
    """The text literals of the expression mean the same in DuckDB as in Spark."""
    if takes_any_text(expression):
        return True
    written = pa.array(list(_texts(expression)), pa.string())
    return tally(_is_printable(written), len(written)) == len(written)


def where_it_means_the_same(expression: Expression, values: Sequence[pa.Array]) -> Mask:
    """One boolean per row: DuckDB means the same as Spark on the row's values."""
    return True if takes_any_text(expression) else all_of(map(_is_printable, values))


def _texts(expression: Expression) -> Iterator[str]:
    """Text literals that functions take or ILIKE folds; those of IN lists are only compared."""
    for node in walk(expression):
        match node:
            case Literal(value=str() as text) | Like(pattern=text):
                yield text
            case _:
                continue


def _is_printable(values: pa.Array) -> Mask:
    """Printable ASCII, on which Java's and DuckDB's text functions agree; true for other types."""
    if not pa.types.is_string(values.type):
        return True
    return unknown_as(pc.match_substring_regex(values, _PRINTABLE), verdict=True)


class DuckDBConnection:
    """A DuckDB connection that is opened when the first expression is run."""

    def __init__(self) -> None:
        self._connection: duckdb.DuckDBPyConnection | None = None

    def answers(self, sql: str, tuples: pa.Table) -> pa.Array | None:
        """One answer per tuple, in order; None where DuckDB fails.

        DuckDB fails where a value makes the expression raise (Spark would raise too), where a
        regular expression is too much for RE2 or an expression too deep for the parser, and where a
        limit of memory or time is reached. The interpreter's answer is then used.
        """
        import duckdb

        self._connection = self._connection or duckdb.connect(config=_SETTINGS)
        self._connection.register("tuples", tuples)
        timer = Timer(SECONDS, self._connection.interrupt)
        timer.daemon = True
        timer.start()
        try:
            query = f"SELECT {sql} AS answer FROM tuples"  # noqa: S608 - our own SQL
            result = self._connection.sql(query).to_arrow_table()
        except (
            duckdb.ConversionException,
            duckdb.InvalidInputException,
            duckdb.OutOfRangeException,
            duckdb.OutOfMemoryException,
            duckdb.InterruptException,
            duckdb.ParserException,
            duckdb.BinderException,
        ):
            return None
        finally:
            timer.cancel()
            self._connection.unregister("tuples")
        return result.column("answer").combine_chunks()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
