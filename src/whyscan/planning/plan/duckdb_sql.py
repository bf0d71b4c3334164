"""The predicate tree as DuckDB SQL, where DuckDB means the same as Spark; else None.

The list of functions is closed: each was compared with Spark on printable ASCII text, and only such
text is sent to DuckDB (see `where_it_means_the_same`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from threading import Timer

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.pruning.functions import FUNCTIONS
from whyscan.pruning.mask import Mask, all_of, both, tally, unknown_as
from whyscan.tables import duckdb_engine
from whyscan.tables.duckdb_engine import Purpose
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
            if expression.nan_unordered:
                raise NotTheSame
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
    operand = _sql(cast.operand, names)
    written = f"CAST({operand} AS {_type_name(target)})"
    if isinstance(source, DateType):
        # Text of other years differs between engines. The error leaves it to the interpreter.
        outside = f"{operand} NOT BETWEEN {_FIRST_DAY} AND {_LAST_DAY}"
        return f"(CASE WHEN {outside} THEN error('another year') ELSE {written} END)"
    return written


def _call(call: Call, names: Names) -> str:
    function = FUNCTIONS.get(call.function)
    instants = any(isinstance(type_of(a), TimestampType) for a in call.arguments)
    if function is None or function.duckdb is None or instants:
        raise NotTheSame
    sql = function.duckdb_sql(call, [_sql(argument, names) for argument in call.arguments])
    if sql is None:
        raise NotTheSame
    return sql


_FIRST_DAY, _LAST_DAY = "DATE '0001-01-01'", "DATE '9999-12-31'"
_PRINTABLE = "^[ -~]*$"
SECONDS = 10.0
"""How long DuckDB may take for one conjunct, before the interpreter's own answer is used."""


def takes_any_text(expression: Expression) -> bool:
    """DuckDB means the same as Spark beyond printable ASCII, too."""
    for node in walk(expression):
        match node:
            case Call() if not (node.function in FUNCTIONS and FUNCTIONS[node.function].any_text):
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
    printable = True if takes_any_text(expression) else all_of(map(_is_printable, values))
    if not any(_is_text_of_date(node) for node in walk(expression)):
        return printable
    return both(printable, all_of(map(_has_four_digits, values)))


def _is_text_of_date(node: Expression) -> bool:
    if not isinstance(node, Cast) or not isinstance(node.type, StringType):
        return False
    return isinstance(type_of(node.operand), DateType)


def _has_four_digits(values: pa.Array) -> Mask:
    """Dates of the years 0001 to 9999, whose text is the same everywhere; true for other types."""
    if not pa.types.is_date(values.type):
        return True
    first, last = (pa.scalar(dt.date(*day)) for day in ((1, 1, 1), (9999, 12, 31)))
    inside = pc.and_(pc.greater_equal(values, first), pc.less_equal(values, last))
    return unknown_as(inside, verdict=True)


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


def answers(sql: str, tuples: pa.Table) -> pa.Array | None:
    """One answer per tuple, in order; None where DuckDB fails.

    DuckDB fails where a value makes the expression raise (Spark would raise too), where a regular
    expression is too much for RE2 or an expression too deep for the parser, and where a limit of
    memory or time is reached. The interpreter's answer is then used.
    """
    import duckdb

    with duckdb_engine.connection(Purpose.VALUES) as connection:
        connection.register("tuples", tuples)
        timer = Timer(SECONDS, connection.interrupt)
        timer.daemon = True
        timer.start()
        try:
            query = f"SELECT {sql} AS answer FROM tuples"  # noqa: S608 - our own SQL
            return duckdb_engine.arrow(connection, query).column("answer").combine_chunks()
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
            connection.unregister("tuples")
