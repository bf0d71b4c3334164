"""Binding of syntax trees to expressions, one function for each kind of node.

A value that whyscan cannot interpret raises Uninterpreted, and the condition around it becomes
opaque. So only the smallest condition around an unknown function is opaque.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from whyscan.errors import SyntaxProblem
from whyscan.predicate.binding import (
    arithmetic,
    bit_operators,
    casts,
    constants,
    dialect_calls,
    in_lists,
    patterns,
    system_functions,
    text_calls,
    time_calls,
)
from whyscan.predicate.binding.arguments import Arguments
from whyscan.predicate.binding.comparisons import (
    all_of,
    any_of,
    between,
    compare,
    is_one_of,
    is_true,
)
from whyscan.predicate.binding.conditionals import NULL_OPERAND, case, if_else
from whyscan.predicate.binding.never_boolean import refuse_other_values
from whyscan.predicate.binding.opaque import column_value, member, opaque
from whyscan.predicate.binding.scope import Operand, Scope, Uninterpreted, span_of
from whyscan.predicate.binding.written_types import fraction_digits, type_named
from whyscan.predicate.syntax.dialects import DialectFamily
from whyscan.predicate.syntax.parse import flatten_chain, unwrapped
from whyscan.predicate.syntax.tokens import MAX_DEPTH, function_name
from whyscan.tree.nodes import CastFailure, Comparator, IsNull, Literal, Not, Operation, type_of
from whyscan.tree.types import DATE, StringType, TimestampType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from whyscan.tree.nodes import Expression
    from whyscan.tree.types import Type

COMPARATORS: dict[type[exp.Expr], Comparator] = {
    exp.EQ: Comparator.EQUAL,
    exp.NEQ: Comparator.NOT_EQUAL,
    exp.LT: Comparator.LESS,
    exp.LTE: Comparator.LESS_EQUAL,
    exp.GT: Comparator.GREATER,
    exp.GTE: Comparator.GREATER_EQUAL,
    exp.NullSafeEQ: Comparator.NULL_SAFE_EQUAL,
}
"""The comparison operator of each node class."""
_SUBQUERIES = (exp.Subquery, exp.Select, exp.SetOperation)


def bind_condition(node: exp.Expr, scope: Scope) -> Expression:
    """Bind a node as a condition. It is opaque if whyscan cannot interpret it."""
    inner = unwrapped(node)
    bind = _CONDITIONS.get(type(inner))
    try:
        if bind is not None:
            return bind(inner, scope)
        return casts.as_condition(_boolean_value(inner, scope), scope)
    except Uninterpreted as gap:
        return opaque(inner, gap.reason, scope)


def _boolean_value(node: exp.Expr, scope: Scope) -> Operand:
    """Bind a value that must be boolean."""
    try:
        return bind_value(node, scope)
    except Uninterpreted:
        refuse_other_values(unwrapped(node), scope)
        raise


def refuse_text(conjuncts: Sequence[exp.Expr], scope: Scope) -> None:
    """Refuse conjuncts that are all strings: Spark casts them only if another is a boolean."""
    if not scope.dialect.is_spark:
        return
    values = [_string_value(node, scope) for node in conjuncts]
    if values[0] is not None and None not in values:
        raise casts.no_condition(values[0], scope)


def _string_value(node: exp.Expr, scope: Scope) -> Operand | None:
    if type(unwrapped(node)) in _CONDITIONS:
        return None
    try:
        operand = bind_value(node, scope)
    except Uninterpreted:
        return None
    return operand if isinstance(type_of(operand.expression), StringType) else None


def bind_value(node: exp.Expr, scope: Scope) -> Operand:
    """Bind a node as a value, with the node as its origin."""
    inner = unwrapped(node)
    if type(inner) in _CONDITIONS:
        return Operand(bind_condition(inner, scope), node)
    bind = _VALUES.get(type(inner))
    if bind is None:
        raise Uninterpreted(_UNSUPPORTED.get(type(inner)) or f"{inner.key} is not supported")
    return Operand(bind(inner, scope), node)


def _and(node: exp.Expr, scope: Scope) -> Expression:
    return all_of([bind_condition(part, scope) for part in flatten_chain(node, exp.And)])


def _or(node: exp.Expr, scope: Scope) -> Expression:
    return any_of([bind_condition(part, scope) for part in flatten_chain(node, exp.Or)])


def _not(node: exp.Expr, scope: Scope) -> Expression:
    """NOT. `NOT NOT a` is `a`."""
    odd = False
    while isinstance(node, exp.Not):
        node, odd = unwrapped(node.this), not odd
    condition = bind_condition(node, scope)
    return Not(condition) if odd else condition


def _comparison(node: exp.Expr, scope: Scope) -> Expression:
    left, right = unwrapped(node.this), unwrapped(node.expression)
    if isinstance(left, exp.Tuple) and isinstance(right, exp.Tuple):
        if not isinstance(node, exp.EQ | exp.NEQ):
            raise Uninterpreted("an order of tuples")
        equal = _tuple_equals(left, right, scope)
        return Not(equal) if isinstance(node, exp.NEQ) else equal
    operator = COMPARATORS[type(node)]
    return compare(operator, bind_value(left, scope), bind_value(right, scope), scope)


def _tuple_equals(left: exp.Tuple, right: exp.Expr, scope: Scope) -> Expression:
    """`(a, b) = (c, d)`. In Spark and DuckDB tuples are structs, in which NULL equals NULL."""
    members = right.expressions if isinstance(right, exp.Tuple) else []
    if len(left.expressions) != len(members):
        raise Uninterpreted("tuples of different lengths")
    structs = scope.dialect.family in {DialectFamily.SPARK, DialectFamily.DUCKDB}
    operator = Comparator.NULL_SAFE_EQUAL if structs else Comparator.EQUAL
    pairs = zip(left.expressions, members, strict=True)
    return all_of(
        [compare(operator, bind_value(a, scope), bind_value(b, scope), scope) for a, b in pairs]
    )


def _distinct(node: exp.Expr, scope: Scope) -> Expression:
    left, right = bind_value(node.this, scope), bind_value(node.expression, scope)
    return Not(compare(Comparator.NULL_SAFE_EQUAL, left, right, scope))


def _between(node: exp.Expr, scope: Scope) -> Expression:
    operand, low, high = (bind_value(node.args[k], scope) for k in ("this", "low", "high"))
    if node.args.get("symmetric"):
        return any_of([between(operand, low, high, scope), between(operand, high, low, scope)])
    return between(operand, low, high, scope)


def _in(node: exp.Expr, scope: Scope) -> Expression:
    if node.args.get("query") is not None:
        raise Uninterpreted("a subquery")
    if node.args.get("unnest") is not None or node.args.get("field") is not None:
        raise Uninterpreted("an array of values")
    if not node.expressions:
        raise SyntaxProblem(
            "IN needs at least one value",
            text=scope.syntax.text,
            span=span_of(node),
            hint="write a value, or FALSE in its place",
        )
    subject = unwrapped(node.this)
    if isinstance(subject, exp.Tuple):
        return any_of([_tuple_equals(subject, unwrapped(v), scope) for v in node.expressions])
    operand, values = bind_value(subject, scope), node.expressions
    long_list = scope.syntax.lists.get(values[0].meta.get("start")) if len(values) == 1 else None
    if long_list is None:
        return is_one_of(operand, [bind_value(value, scope) for value in values], scope)
    return in_lists.is_listed(operand, long_list, scope)


def _is(node: exp.Expr, scope: Scope) -> Expression:
    """IS NULL, IS TRUE, IS FALSE, IS UNKNOWN. The result is never NULL."""
    match node.expression:
        case exp.Null():
            condition: Expression = IsNull(bind_value(node.this, scope).expression)
        case exp.Boolean() as expected:
            condition = is_true(_boolean_value(node.this, scope), bool(expected.this), scope)
        case _:
            raise Uninterpreted("IS with something else than NULL, TRUE or FALSE")
    return Not(condition) if node.args.get("negate") else condition


def _escaped(node: exp.Expr, scope: Scope) -> Expression:
    """`a LIKE b ESCAPE c`."""
    if not isinstance(node.this, exp.Like | exp.ILike):
        raise Uninterpreted("ESCAPE behind something else than LIKE")
    return _like(node.this, scope, bind_value(node.expression, scope))


def _like(node: exp.Expr, scope: Scope, escape: Operand | None = None) -> Expression:
    operand = bind_value(node.this, scope)
    character = patterns.escape_of(escape, scope)
    join, nodes = _quantified(node.expression)
    matches: list[Expression] = []
    for pattern in nodes:
        match = patterns.like(operand, bind_value(pattern, scope), character, scope)
        condition = patterns.ignoring_case(match) if isinstance(node, exp.ILike) else match
        matches.append(Not(condition) if node.args.get("negate") else condition)
    return join(matches)


def _quantified(
    node: exp.Expr,
) -> tuple[Callable[[Sequence[Expression]], Expression], Sequence[exp.Expr]]:
    """AND or OR, and the patterns of LIKE ALL or LIKE ANY; a plain LIKE has one pattern."""
    if not isinstance(node, exp.Any | exp.All):
        return all_of, [node]
    inner = unwrapped(node.this)
    if isinstance(inner, (*_SUBQUERIES, exp.Array)):
        raise Uninterpreted("patterns from elsewhere")
    nodes = inner.expressions if isinstance(inner, exp.Tuple) else [inner]
    return (any_of if isinstance(node, exp.Any) else all_of), nodes


def _regular(node: exp.Expr, scope: Scope) -> Expression:
    if node.args.get("full_match") or node.args.get("flag"):
        raise Uninterpreted("a regular expression with flags, or of the whole text")
    sides = bind_value(node.this, scope), bind_value(node.expression, scope)
    return patterns.regular(node, sides, scope)


def _similar(node: exp.Expr, scope: Scope) -> Expression:
    return patterns.similar(bind_value(node.this, scope), bind_value(node.expression, scope), scope)


def _binder(scope: Scope) -> Callable[[exp.Expr], Operand]:
    return lambda node: bind_value(node, scope)


def _negative(node: exp.Expr, scope: Scope) -> Expression:
    """`-a`. The sign belongs to a literal: -2147483648 is an int, 2147483648 is not."""
    inner = unwrapped(node.this)
    if isinstance(inner, exp.Literal) and not inner.is_string:
        return constants.number("-" + inner.name, Operand(NULL_OPERAND.expression, inner), scope)
    if isinstance(inner, exp.Cast) and _is_digits(inner.this):
        # `-128Y`: the parser turns the suffix into a cast and leaves the sign outside of it.
        signed = inner.copy()
        signed.set("this", exp.Neg(this=inner.this.copy()))
        return _cast(signed, scope)
    return arithmetic.negative(bind_value(inner, scope), scope)


def _is_digits(node: object) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string


def _cast(node: exp.Expr, scope: Scope) -> Expression:
    if node.args.get("format") is not None:
        raise Uninterpreted("a cast by a format")
    # In Spark's dialect the parser turns every CAST into a TryCast; only TRY_CAST is `safe`.
    failure = CastFailure.NULL if node.args.get("safe") else CastFailure.RAISE
    target = type_named(node.args["to"], scope.dialect)
    operand = bind_value(node.this, scope)
    if isinstance(target, TimestampType) and not scope.dialect.is_spark:
        casts.require_fraction(operand, fraction_digits(node.args["to"], scope.dialect))
    return casts.explicit_cast(operand, target, failure, scope)


def _arithmetic(node: exp.Expr, scope: Scope) -> Expression:
    """A chain of arithmetic operators, bound in a loop from its left end."""
    steps: list[tuple[Operation, exp.Expr]] = []
    start = node
    while type(start) in arithmetic.OPERATIONS:
        steps.append((arithmetic.OPERATIONS[type(start)], start.expression))
        start = start.this
    result, deep = bind_value(start, scope), 0
    for operation, right in reversed(steps):
        operand = bind_value(right, scope)
        expression = arithmetic.arithmetic(operation, result, operand, scope)
        result = Operand(expression, node if len(steps) == 1 else start)
        deep += not isinstance(expression, Literal)
    if deep > MAX_DEPTH:
        raise SyntaxProblem(
            f"more than {MAX_DEPTH} operators in a row", text=scope.syntax.text, span=span_of(start)
        )
    return result.expression


def _concatenation(node: exp.Expr, scope: Scope) -> Expression:
    nodes = flatten_chain(node, exp.DPipe)
    if bit_operators.has_unparenthesised_bits(nodes):
        raise Uninterpreted("operators on bits whose order is not written")
    parts = [bind_value(part, scope) for part in nodes]
    if scope.dialect.family is DialectFamily.OTHER:
        raise Uninterpreted("|| in this dialect")
    return text_calls.concatenate(parts, scope)


def _adjacent_strings(node: exp.Expr, scope: Scope) -> Expression:
    """`'a' 'b'`: one string. The function concat has another node class."""
    return text_calls.concatenate([bind_value(part, scope) for part in node.expressions], scope)


def _case(node: exp.Expr, scope: Scope) -> Expression:
    subject = None if node.this is None else bind_value(node.this, scope)
    branches = [
        (_when(subject, branch.this, scope), bind_value(branch.args["true"], scope))
        for branch in node.args["ifs"]
    ]
    default = node.args.get("default")
    return case(branches, NULL_OPERAND if default is None else bind_value(default, scope), scope)


def _when(subject: Operand | None, node: exp.Expr, scope: Scope) -> Expression:
    if subject is None:
        refuse_text([node], scope)
        return bind_condition(node, scope)
    return compare(Comparator.EQUAL, subject, bind_value(node, scope), scope)


def _if(node: exp.Expr, scope: Scope) -> Expression:
    _boolean_value(node.this, scope)
    otherwise = node.args.get("false")
    nodes = [node.this, node.args["true"], *([] if otherwise is None else [otherwise])]
    return if_else(Arguments(nodes, scope, _binder(scope)))


def _call(node: exp.Expr, scope: Scope) -> Expression:
    name = function_name(node)
    arguments = Arguments(node.expressions, scope, _binder(scope))
    if name in dialect_calls.AGGREGATES:
        raise scope.problem(
            f"{name} is an aggregate: a condition sees one row",
            Operand(NULL_OPERAND.expression, node),
            hint="filter on it with HAVING, outside of the scan",
        )
    return dialect_calls.builder_of(name, scope.dialect.family)(arguments)


def _dotted(node: exp.Expr, scope: Scope) -> Expression:
    """A column with a dotted name, or a function of a catalog: `ice.system.days(ts)`."""
    if isinstance(node.expression, exp.Anonymous):
        return system_functions.bind(node, scope, _binder(scope))
    return column_value(node, scope)


def _window(node: exp.Expr, scope: Scope) -> Expression:
    raise scope.problem(
        "a window function has no place in a condition: it sees one row",
        Operand(NULL_OPERAND.expression, node),
        hint="filter on it with QUALIFY, outside of the scan",
    )


def _parameter(node: exp.Expr, scope: Scope) -> Expression:
    raise scope.problem(
        "a parameter has no value here",
        Operand(NULL_OPERAND.expression, node),
        hint="write the value in its place",
    )


def _extract(node: exp.Expr, scope: Scope) -> Expression:
    return dialect_calls.extract_part(
        node.this.name.lower(), bind_value(node.expression, scope), scope
    )


def _substring(node: exp.Expr, scope: Scope) -> Expression:
    nodes = [node.args[key] for key in ("this", "start", "length") if node.args.get(key)]
    return text_calls.substring(Arguments(nodes, scope, _binder(scope)))


def _trim(node: exp.Expr, scope: Scope) -> Expression:
    written = node.args.get("expression")
    characters = None if written is None else bind_value(written, scope)
    side = str(node.args.get("position") or "")
    return text_calls.trim(side, bind_value(node.this, scope), characters, scope)


def _position(node: exp.Expr, scope: Scope) -> Expression:
    if node.args.get("position") is not None or node.args.get("occurrence") is not None:
        raise Uninterpreted("a position from a position")
    if scope.dialect.family is DialectFamily.OTHER:
        raise Uninterpreted("a position in this dialect")
    arguments = Arguments([node.this, node.args["substr"]], scope, _binder(scope))
    return dialect_calls.builder_of("instr", DialectFamily.SPARK)(arguments)


def _coalesce(node: exp.Expr, scope: Scope) -> Expression:
    """COALESCE as a node: qualification replaces a column of JOIN … USING by it."""
    arguments = Arguments([node.this, *node.expressions], scope, _binder(scope))
    return dialect_calls.builder_of("coalesce", DialectFamily.SPARK)(arguments)


def _to_type(target: Type) -> Callable[[exp.Expr, Scope], Expression]:
    """`date(x)`, if the parser has a node for the type: CAST of its only argument."""

    def bind(node: exp.Expr, scope: Scope) -> Expression:
        if [key for key, value in node.args.items() if value and key not in {"this", "with_tz"}]:
            raise Uninterpreted(f"{node.key} of several arguments")
        return casts.explicit_cast(bind_value(node.this, scope), target, CastFailure.RAISE, scope)

    return bind


def _now(make: Callable[[Scope], Literal]) -> Callable[[exp.Expr, Scope], Expression]:
    def bind(node: exp.Expr, scope: Scope) -> Expression:
        if isinstance(node.this, exp.Literal) and node.this.is_string:
            raise Uninterpreted("the time in another zone")
        return make(scope)

    return bind


def _bits(node: exp.Expr, scope: Scope) -> Expression:
    return bit_operators.bind(node, scope, _binder(scope))


_CONDITIONS: dict[type[exp.Expr], Callable[[exp.Expr, Scope], Expression]] = {
    exp.And: _and,
    exp.Or: _or,
    exp.Not: _not,
    **dict.fromkeys(COMPARATORS, _comparison),
    exp.NullSafeNEQ: _distinct,
    exp.Between: _between,
    exp.In: _in,
    exp.Is: _is,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Escape: _escaped,
    exp.RegexpLike: _regular,
    exp.SimilarTo: _similar,
}
_VALUES: dict[type[exp.Expr], Callable[[exp.Expr, Scope], Expression]] = {
    exp.Column: column_value,
    exp.Dot: _dotted,
    exp.Bracket: column_value,
    exp.JSONExtract: member,
    **dict.fromkeys(
        (
            exp.Literal,
            exp.RawString,
            exp.National,
            exp.Boolean,
            exp.Null,
            exp.HexString,
            exp.ByteString,
        ),
        constants.constant,
    ),
    exp.Neg: _negative,
    exp.Interval: constants.interval,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    **dict.fromkeys(arithmetic.OPERATIONS, _arithmetic),
    **dict.fromkeys((*bit_operators.OPERATORS, exp.BitwiseNot), _bits),
    exp.DPipe: _concatenation,
    exp.Concat: _adjacent_strings,
    exp.Case: _case,
    exp.If: _if,
    exp.Anonymous: _call,
    exp.Coalesce: _coalesce,
    exp.Window: _window,
    exp.Placeholder: _parameter,
    exp.Parameter: _parameter,
    exp.Extract: _extract,
    exp.Substring: _substring,
    exp.Trim: _trim,
    exp.StrPosition: _position,
    exp.Date: _to_type(DATE),
    exp.TsOrDsToDate: _to_type(DATE),
    exp.CurrentDate: _now(time_calls.current_date),
    exp.CurrentTimestamp: _now(time_calls.current_timestamp),
    exp.Localtimestamp: _now(time_calls.local_timestamp),
    exp.CurrentDatetime: _now(time_calls.local_timestamp),
}
_UNSUPPORTED: dict[type[exp.Expr], str] = {
    **dict.fromkeys(_SUBQUERIES, "a subquery"),
    exp.Exists: "EXISTS",
    exp.Any: "a comparison with ANY",
    exp.All: "a comparison with ALL",
    exp.Lambda: "a lambda",
    exp.Collate: "a collation",
    exp.AtTimeZone: "a change of time zone",
    exp.Uuid: "uuid is not deterministic",
}
