# ruff: noqa: E501  a case is a line
"""Every error has a message, underlines its place in the text and has a hint."""

import pytest

from predicate.schemas import EVENTS
from whyscan.errors import SyntaxProblem, TypeProblem, UnknownColumn, UsageError
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.tree.types import INT, Field, Schema

# text, error, what is underlined, message, hint (None: the usual one of the error)
CASES = [
    ("prise < 5", UnknownColumn, "prise", "unknown column 'prise'", "did you mean price?"),
    ("id = 1 AND contry = 'x'", UnknownColumn, "contry", "unknown column 'contry'", "did you mean Country?"),
    ("a.b.x = 1", UnknownColumn, "a.b.x", "unknown column 'a.b.x'", "the columns are c, d e"),
    ("id.x = 1", UnknownColumn, "x", "id is of type int and has no members", "a column whose name has a dot is written in quotes"),
    ("my_udf(nme) = 1", UnknownColumn, "nme", "unknown column 'nme'", "did you mean name?"),
    ("id = 'abc'", TypeProblem, "'abc'", "cannot read 'abc' as bigint: not an integer", None),
    ("id IN (1, 'abc')", TypeProblem, "'abc'", "cannot read 'abc' as bigint: not an integer", None),
    ("day = '2024-13-45'", TypeProblem, "'2024-13-45'", "cannot read '2024-13-45' as date: not a date", None),
    ("ts > '2024-03-01 12:00Z'", TypeProblem, "'2024-03-01 12:00Z'", "cannot read '2024-03-01 12:00Z' as timestamp: not a timestamp", None),
    ("key = 'abc'", TypeProblem, "'abc'", "cannot read 'abc' as uuid: not a uuid", None),
    ("CAST('x' AS INT) = id", TypeProblem, "'x'", "cannot read 'x' as int: not an integer", None),
    ("price < " + "9" * 39, TypeProblem, "9" * 39, "a number has at most 38 digits", None),
    ("d < 1e400", TypeProblem, "1e400", "out of range for double", None),
    ("id = true", TypeProblem, "id", "cannot compare int with boolean", "cast one of them to the type you mean"),
    ("day > 5", TypeProblem, "5", "cannot compare date with int", "cast one of them to the type you mean"),
    ("CAST(day AS INT) = 5", TypeProblem, "day", "cannot cast date to int", None),
    ("flag + 1 = 2", TypeProblem, "flag", "cannot compute boolean + int", None),
    ("id", TypeProblem, "id", "a condition is boolean, this is int", "compare it with something"),
    ("id = 1 OR price", TypeProblem, "price", "a condition is boolean, this is decimal(10,2)", "compare it with something"),
    ("name", TypeProblem, "name", "a condition is boolean, this is string", "compare it with something"),
    ("(name)", TypeProblem, "name", "a condition is boolean, this is string", "compare it with something"),
    ("upper(name)", TypeProblem, "upper(name", "a condition is boolean, this is string", "compare it with something"),
    ("name AND name", TypeProblem, "name", "a condition is boolean, this is string", "compare it with something"),
    ("'abc'", TypeProblem, "'abc'", "a condition is boolean, this is string", "compare it with something"),
    ("'true'", TypeProblem, "'true'", "a condition is boolean, this is string", "compare it with something"),
    ("1", TypeProblem, "1", "a condition is boolean, this is int", "compare it with something"),
    ("CASE WHEN name THEN flag END", TypeProblem, "name", "a condition is boolean, this is string", "compare it with something"),
    ("if(name, flag, true)", TypeProblem, "name", "a condition is boolean, this is string", "compare it with something"),
    ("max(id) = 1", TypeProblem, "max(id", "max is an aggregate: a condition sees one row", "filter on it with HAVING, outside of the scan"),
    ("row_number() OVER (ORDER BY id) = 1", TypeProblem, "row_number() OVER (ORDER BY id", "a window function has no place in a condition: it sees one row", "filter on it with QUALIFY, outside of the scan"),
    ("name LIKE 'a\\\\b'", TypeProblem, "'a\\\\b'", "in a pattern '\\\\' stands before %, _ or itself", "write '\\\\\\\\' for the character itself"),
    ("name LIKE 'a!b' ESCAPE '!!'", TypeProblem, "'!!'", "ESCAPE takes one character", None),
    ("id = :x", TypeProblem, None, "a parameter has no value here", "write the value in its place"),
    ("", SyntaxProblem, None, "the predicate is empty", "write a condition, or true"),
    ("  -- nothing\n", SyntaxProblem, None, "the predicate is empty", "write a condition, or true"),
    ("id =", SyntaxProblem, "=", "an operand is missing here", None),
    ("id = 1 AND", SyntaxProblem, "AND", "an operand is missing here", None),
    ("(id = 1", SyntaxProblem, "1", "expected ) after this", None),
    ("id = 1)", SyntaxProblem, ")", "this does not belong here", None),
    ("id = 1 foo", SyntaxProblem, "foo", "this does not belong here", None),
    ("id = 1\n  foo", SyntaxProblem, "foo", "this does not belong here", None),
    ("id = 1, flag", SyntaxProblem, ",", "this does not belong here", None),
    ("name = 'x", SyntaxProblem, "'x", "the SQL breaks off inside a string, a quoted name or a comment", "close the quotes"),
    ("id = 1; DROP TABLE t", SyntaxProblem, ";", "a predicate is one condition, without semicolons", "leave the semicolon out"),
    ("SELECT 1", SyntaxProblem, "SELECT", "this is a statement, not a condition", "give the condition behind WHERE alone, or the whole query with --sql"),
    ("WHERE id = 1", SyntaxProblem, "WHERE", "a predicate starts behind WHERE", "leave out the word WHERE"),
    ("id IN ()", SyntaxProblem, "id", "IN needs at least one value", "write a value, or FALSE in its place"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "error", "underlined", "message", "hint"), CASES)
def test_a_refusal_underlines_its_cause(text, error, underlined, message, hint):
    with pytest.raises(error) as caught:
        bind(text, EVENTS)
    problem = caught.value
    span = problem.span
    place = None if span is None else problem.text[span.start : span.end]
    expected = hint or error.usual_hint
    assert (problem.message, place, problem.hint) == (message, underlined, expected)
    assert problem.exit_code == 3


def test_names_that_differ_in_case_alone_are_ambiguous():
    schema = Schema((Field("Id", INT), Field("id", INT)))
    with pytest.raises(UnknownColumn, match="'id' is ambiguous: 'Id', 'id'"):
        bind("id = 1", schema)


@pytest.mark.parametrize(
    ("session", "message", "hint"),
    [
        (Session("sparc"), "unknown dialect 'sparc'", "did you mean spark?"),
        (Session(timezone="Europe/Pariss"), "unknown time zone 'Europe/Pariss'", "did you mean Europe/Paris?"),
    ],
)  # fmt: skip
def test_an_unknown_dialect_or_zone_is_a_usage_error(session, message, hint):
    with pytest.raises(UsageError) as caught:
        bind("id = 1", EVENTS, session)
    assert (caught.value.message, caught.value.hint, caught.value.exit_code) == (message, hint, 2)
