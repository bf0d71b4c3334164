"""The version of a table that a statement names: `t VERSION AS OF 5`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct
from sqlglot import exp

from whyscan.errors import SyntaxProblem

if TYPE_CHECKING:
    from whyscan.errors import TextSpan

_AT_VERSION = re.compile(r"v(\d+)", re.IGNORECASE)


class WrittenVersion(Struct, frozen=True):
    """A number, the name of a branch or tag, or a time: exactly one of them."""

    number: int | None = None
    ref: str | None = None
    time: str | None = None


def mark_versions(tree: exp.Expr) -> None:
    """Change Delta's `t@v5`, which the parser reads as an alias, to `t VERSION AS OF 5`."""
    for table in tree.find_all(exp.Table):
        alias = table.args.get("alias")
        written = alias.this if isinstance(alias, exp.TableAlias) else None
        if isinstance(written, exp.Parameter) and _AT_VERSION.fullmatch(written.name):
            number = exp.Literal.number(written.name[1:])
            table.set("alias", None)
            table.set("version", exp.Version(this="VERSION", kind="AS OF", expression=number))


def version_of(table: exp.Table, text: str, span: TextSpan | None) -> WrittenVersion | None:
    """The version that a table's clause names; None for the newest."""
    clause = table.args.get("version") or table.args.get("when")
    if clause is None:
        return None
    inner = clause.expression
    while isinstance(inner, exp.Cast):
        inner = inner.this
    kind = clause.this if isinstance(clause, exp.Version) else clause.args.get("kind")
    at = str(clause.args.get("kind") if isinstance(clause, exp.Version) else clause.this).upper()
    if not isinstance(inner, exp.Literal) or at not in {"AS OF", "AT"}:
        raise SyntaxProblem(
            "a version that is no plain value cannot be opened",
            text=text,
            span=span,
            hint="write VERSION AS OF with a number or a name, or TIMESTAMP AS OF with a time",
        )
    if str(kind).upper() == "TIMESTAMP":
        return WrittenVersion(time=inner.name)
    return (
        WrittenVersion(ref=inner.name)
        if inner.is_string
        else WrittenVersion(number=int(inner.name))
    )
