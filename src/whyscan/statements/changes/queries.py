"""Turns a change into the query that it reads; filters are placed in it as in any other query.

| change                                 | reads                                           |
|----------------------------------------|-------------------------------------------------|
| DELETE FROM t USING s WHERE p          | SELECT t.* FROM t, s WHERE p                    |
| UPDATE t SET a = e FROM s WHERE p      | SELECT t.*, e FROM t, s WHERE p                 |
| MERGE                                  | see merge.py                                    |
| INSERT OVERWRITE t PARTITION (d = v) q | q; removes SELECT t.* FROM t WHERE d = v        |
| INSERT INTO t REPLACE WHERE p q        | q; removes SELECT t.* FROM t WHERE p            |
| CREATE OR REPLACE TABLE t AS q         | q; removes all of t                             |
| TRUNCATE TABLE t                       | nothing; removes all of t                       |
| INSERT INTO t q, CREATE TABLE t AS q   | q                                               |

The target is read with all its columns: a file that is rewritten is copied row by row.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct
from sqlglot import exp

from whyscan.errors import SyntaxProblem
from whyscan.statements.sql.syntax import TARGET

if TYPE_CHECKING:
    from collections.abc import Sequence


class TargetFiles(Enum):
    """What happens to files of the target that have rows on which the change acts."""

    DROPPED = "one whose rows all go is dropped, another rewritten"
    REWRITTEN = "each may be rewritten"
    REPLACED = "each is replaced if its partition is written"
    KEPT = "none is touched"


class DynamicPartitions(Struct, frozen=True):
    """A dynamic overwrite: only partitions for which the query returns rows are replaced.

    `columns` are the partition columns that PARTITION names without a value, in its order; None
    without that clause. `by_name`: outputs of the query are written to columns of the same name.
    """

    columns: tuple[str, ...] | None
    by_name: bool = False


class Change(Struct, frozen=True):
    """The query that a statement reads, and the query of the target rows that it acts on.

    `target_query` is None where `query` already has these rows. `optional`: the target need not
    exist, because nothing of it is read.
    """

    operation: str
    query: exp.Query
    target_query: exp.Query | None = None
    target_files: TargetFiles = TargetFiles.KEPT
    optional: bool = False
    dynamic: DynamicPartitions | None = None
    notes: tuple[str, ...] = ()


OVERWRITES = (
    "what is replaced is told for spark.sql.sources.partitionOverwriteMode=static, Spark's own "
    "default; dynamic replaces only the partitions that the query gives rows of"
)


def change_of(tree: exp.Expr, dialect: str, text: str) -> Change:
    """The change that a statement other than MERGE makes; a plain query only reads itself."""
    match tree:
        case exp.Query():
            return Change(tree.key, tree)
        case exp.Delete():
            return _delete(tree, text)
        case exp.Update():
            return _update(tree, text)
        case exp.Insert():
            return _insert(tree, dialect)
        case exp.MultitableInserts():
            return _insert(_one_insert(tree, text), dialect)
        case exp.TruncateTable():
            return _truncate(tree, text)
        case _:
            return _create(tree)


def _delete(tree: exp.Delete, text: str) -> Change:
    """DELETE reads the target with its WHERE, joined with USING."""
    tables = [tree.this] if tree.this else (tree.args.get("tables") or [])
    chosen = {table.name.lower() for table in tree.args.get("tables") or tables}
    if len(tables) != 1 or chosen - {tables[0].alias_or_name.lower(), tables[0].name.lower()}:
        raise SyntaxProblem(
            "DELETE of another table than the first", text=text, hint="name what is deleted first"
        )
    target = marked_target(tables[0], text)
    query = select_from([star(target), *returning(tree)], target, tree)
    for other in tree.args.get("using") or ():
        query.append("joins", exp.Join(this=other.copy()))
    # With LIMIT, metadata cannot say which rows are deleted.
    has_limit = tree.args.get("limit") is not None
    return Change(
        "delete", query, target_files=TargetFiles.REWRITTEN if has_limit else TargetFiles.DROPPED
    )


def _update(tree: exp.Update, text: str) -> Change:
    """UPDATE reads the target with its WHERE, joined with FROM, and the right sides of SET."""
    target = marked_target(tree.this, text)
    target_names = {"", target.name.lower(), target.alias_or_name.lower()}
    for part in tree.expressions:
        if (
            not isinstance(part, exp.EQ)
            or getattr(part.this, "table", "").lower() not in target_names
        ):
            raise SyntaxProblem(
                "SET of what is no column of the first table", text=text, hint="SET column = value"
            )
    values = [part.expression.copy() for part in tree.expressions if is_value(part.expression)]
    query = select_from([star(target), *values, *returning(tree)], target, tree)
    start = tree.args.get("from_")
    if start is not None:
        query.append("joins", exp.Join(this=start.this.copy()))
    return Change("update", query, target_files=TargetFiles.REWRITTEN)


def _insert(tree: exp.Insert, dialect: str) -> Change:
    """INSERT reads its query; with OVERWRITE or REPLACE WHERE it removes target rows too."""
    query = _inserted(tree)
    condition = tree.args.get("where")
    if not tree.args.get("overwrite") and condition is None:
        conflicts = tree.args.get("conflict") is not None
        notes = ("what ON CONFLICT looks up in the target is not counted",) if conflicts else ()
        return Change("insert", query, notes=notes)
    target = marked_target(tree.this, "")
    parts = target.args.get("partition")
    target.set("partition", None)
    partition_terms = [] if parts is None else parts.expressions
    terms = [_is_value(part) for part in partition_terms if isinstance(part, exp.EQ)]
    terms += [] if condition is None else [condition.copy()]
    open_columns = tuple(part.name for part in partition_terms if not isinstance(part, exp.EQ))
    dynamic = None
    if condition is None and open_columns and dialect == "hive":
        dynamic = DynamicPartitions(open_columns, bool(tree.args.get("by_name")))
    return Change(
        "insert overwrite",
        query,
        target_query=_with_terms(select_from([star(target)], target), terms),
        target_files=TargetFiles.DROPPED if dynamic is None else TargetFiles.REPLACED,
        optional=True,
        dynamic=dynamic,
        notes=_overwriting(open_columns, partition_terms, condition, dialect),
    )


def _inserted(tree: exp.Insert) -> exp.Query:
    """The query whose rows are inserted; `TABLE s` is a query too."""
    source = tree.args.get("source")
    if isinstance(source, exp.Table):
        return select_from([exp.Star()], source.copy(), tree)
    return with_ctes(tree.expression, tree)


def _overwriting(
    open_columns: Sequence[str],
    partition_terms: Sequence[exp.Expr],
    condition: exp.Expr | None,
    dialect: str,
) -> tuple[str, ...]:
    """A note where a session setting decides what is replaced, and the text does not say it."""
    is_certain = condition is not None or (partition_terms and not open_columns)
    if is_certain or dialect not in {"spark", "databricks", "spark2"}:
        return ()
    return (OVERWRITES,)


def _one_insert(tree: exp.MultitableInserts, text: str) -> exp.Insert:
    """Hive's `FROM s INSERT … SELECT …` in the usual order."""
    first = tree.expressions[0]
    if len(tree.expressions) != 1 or not isinstance(first, exp.Insert):
        raise SyntaxProblem("this inserts several times", text=text, hint="explain one at a time")
    insert = first.copy()
    insert.expression.set("from_", exp.From(this=tree.args["source"].copy()))
    insert.set("with_", tree.args.get("with_"))
    return insert


def _truncate(tree: exp.TruncateTable, text: str) -> Change:
    """TRUNCATE reads nothing and removes all rows, or those of the named partitions."""
    if len(tree.expressions) != 1:
        raise SyntaxProblem("TRUNCATE of several tables", text=text, hint="explain them one by one")
    target = marked_target(tree.expressions[0], text)
    parts = tree.args.get("partition")
    terms = [_is_value(part) for part in ([] if parts is None else parts.expressions)]
    removed = _with_terms(select_from([star(target)], target), terms)
    return Change("truncate", exp.Select(), removed, TargetFiles.DROPPED)


def _create(tree: exp.Expr) -> Change:
    """CREATE TABLE AS reads its query; with OR REPLACE it removes all rows of the old table."""
    query = with_ctes(tree.expression, tree)
    table = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    is_table = str(tree.args.get("kind")).upper() == "TABLE"
    if not is_table or not tree.args.get("replace") or not isinstance(table, exp.Table):
        return Change("create", query)
    target = marked_target(table, "")
    removed = select_from([star(target)], target)
    return Change("create or replace", query, removed, TargetFiles.DROPPED, optional=True)


def marked_target(node: exp.Expr, text: str) -> exp.Table:
    """A copy of the written table, marked as the target of the query."""
    table = node.this if isinstance(node, exp.Schema) else node
    if not isinstance(table, exp.Table):
        raise SyntaxProblem("what is changed is not a table", text=text)
    target = table.copy()
    target.meta[TARGET] = True
    return target


def star(source: exp.Expr) -> exp.Column:
    """All columns of a source: `t.*`."""
    alias = source.args.get("alias")
    name = source.this if alias is None else alias.this
    return exp.Column(this=exp.Star(), table=name.copy())


def select_from(
    expressions: Sequence[exp.Expr], start: exp.Expr, tree: exp.Expr | None = None
) -> exp.Select:
    """SELECT from a source, with the WITH and the WHERE of a statement."""
    query = exp.Select(expressions=list(expressions)).from_(start, copy=False)
    for clause in ("with_", "where"):
        clause_tree = None if tree is None else tree.args.get(clause)
        if clause_tree is not None:
            query.set(clause, clause_tree.copy())
    return query


def with_ctes(query: exp.Expr | None, tree: exp.Expr) -> exp.Query:
    """The query with the WITH of its statement; an empty SELECT where the rows are listed."""
    if not isinstance(query, exp.Query):
        return exp.Select()
    with_query, around = query.copy(), tree.args.get("with_")
    if around is None:
        return with_query
    inner = with_query.args.get("with_")
    both = around.copy()
    if inner is not None:
        both.set("expressions", [*both.expressions, *inner.expressions])
        both.set("recursive", bool(both.recursive or inner.recursive))
    with_query.set("with_", both)
    return with_query


def is_value(node: exp.Expr) -> bool:
    """Whether the node is a value: the keyword DEFAULT looks like a column and is none."""
    bare = isinstance(node, exp.Column | exp.Var) and node.name.upper() == "DEFAULT"
    return not (bare and not getattr(node, "table", ""))


def returning(tree: exp.Expr) -> list[exp.Expr]:
    """The expressions of RETURNING."""
    clause = tree.args.get("returning")
    return [] if clause is None else [part.copy() for part in clause.expressions]


def _is_value(part: exp.EQ) -> exp.Expr:
    """A term of a PARTITION clause as a condition; `d = NULL` becomes `d IS NULL`."""
    if isinstance(part.expression, exp.Null):
        return exp.Is(this=part.this.copy(), expression=exp.Null())
    return part.copy()


def _with_terms(query: exp.Select, terms: Sequence[exp.Expr]) -> exp.Select:
    return query.where(*terms, copy=False) if terms else query
