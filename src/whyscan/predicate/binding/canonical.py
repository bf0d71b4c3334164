"""A canonical form of SQL text, to see whether two texts are the same query.

White space, comments, the case of keywords and names, and parentheses without effect are
ignored. Everything else counts: `1 = a` is not `a = 1`.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from whyscan.predicate.syntax.parse import dialect_named

LONGEST = 20_000
"""The longest text, in characters, that is parsed. A longer text is compared by its tokens."""


def canonical(text: str, dialect: str) -> str:
    """The text that all spellings of a query have in common. It is not SQL, only comparable."""
    language = dialect_named(dialect)
    try:
        if len(text) <= LONGEST:
            return " ; ".join(_text(tree) for tree in language.parse(text) if tree is not None)
        return " ".join(token.text for token in language.tokenize(text))
    # The parser indexes into lists without a check of their length.
    except (SqlglotError, RecursionError, IndexError, ValueError, TypeError, AttributeError):
        return " ".join(text.split())


def _text(node: Any) -> str:
    match node:
        case exp.Paren(this=inner):
            return _text(inner)
        case exp.And() | exp.Or():
            return f"({node.key} {' '.join(map(_text, _flat(node, type(node))))})"
        case exp.Identifier(this=name):
            return f"`{str(name).lower()}`"
        case exp.Literal(this=value, is_string=is_string):
            return repr(str(value)) if is_string else str(value).lower()
        case exp.Expr():
            # Other texts are kinds of strings, so their case matters.
            folded = isinstance(node, exp.Anonymous | exp.Var)
            parts = {name: value for name, value in node.args.items() if value}
            if folded and isinstance(node.this, str):
                parts["this"] = node.this.lower()
            return f"({node.key} {' '.join(f'{k}={_text(v)}' for k, v in parts.items())})"
        case list():
            return f"[{' '.join(map(_text, node))}]"
        case _:
            return repr(node)


def _flat(node: Any, kind: type[exp.Expr]) -> list[Any]:
    """The operands of a chain of ANDs or ORs, with any parentheses."""
    pending, operands = [node], []
    while pending:
        operand = pending.pop()
        while isinstance(operand, exp.Paren):
            operand = operand.this
        if isinstance(operand, kind):
            pending += (operand.expression, operand.this)
        else:
            operands.append(operand)
    return operands
