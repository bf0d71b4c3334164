"""The pushdown contract of a predicate: a tree of conditions, each with its pushdown class.

| node | exact | unsupported | inexact |
|---|---|---|---|
| AND | every operand is exact | no operand excludes a file | else |
| OR | every operand is exact | an operand excludes nothing | else |
| any other | partition values alone decide it | no statistic excludes a file | else |

NOT changes AND into OR and OR into AND. The classes come from truth sets over partition values and
statistics, so a condition such as `p = 1 OR p <> 1` may be better than the table says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta
from msgspec.structs import replace

from whyscan.errors import shortened
from whyscan.fields import Sentence, Sql, Word
from whyscan.planning.plan.replan import conjunct
from whyscan.planning.why.engine_words import DeltaSpark, Words, words
from whyscan.planning.why.operands import count_parts, operator, parts
from whyscan.planning.why.pushdown import (
    Class,
    ConjunctBucket,
    Pushdown,
    classify,
    conjunct_outcomes,
    interpreted,
)
from whyscan.reports.conjuncts import collected_bounds, why_class
from whyscan.reports.rendering import WrittenReport
from whyscan.reports.view import (
    Cell,
    CodeSpan,
    FactsBlock,
    GridBlock,
    Head,
    NamedValue,
    NotesBlock,
    Section,
    TitleBlock,
)
from whyscan.tree.nodes import And, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.planning.why.engine_words import Measured
    from whyscan.planning.why.operands import OperandOutcome
    from whyscan.reports.view import Blocks, GridRow, Inline
    from whyscan.tree.nodes import Expression

NODES_AT_MOST = 256
"""A condition with more operands below it is one node."""

PRUNING_MOST = (DeltaSpark.DATA, DeltaSpark.PARTITION, DeltaSpark.UNUSED)

MEANINGS = {
    Pushdown.EXACT: "partition values decide it, nothing remains for the engine",
    Pushdown.INEXACT: "files are skipped, and it remains: the engine filters the rows once more",
    Pushdown.UNSUPPORTED: "nothing is skipped, and it remains: the engine filters the rows",
}


class PushdownNode(WrittenReport, frozen=True, rename={"words": "engines"}):
    """A condition with its pushdown class, the reason, and its operands as `children`.

    `operator` is AND, OR or NOT, None for a plain condition. `words` are what Trino, Delta on Spark
    and DataFusion call a condition of this class.
    """

    sql: Sql
    pushdown: Pushdown
    reason: Sentence
    operator: Annotated[Word | None, Meta(description="The word that joins the children.")]
    words: Words
    children: tuple[PushdownNode, ...]

    def view(self) -> Blocks:
        """Return the tree as a table, one row per condition, and the reasons below it."""
        nodes = tuple(_below(self))
        reasons = dict.fromkeys(_line(node) for node, _ in nodes if not _repeats_children(node))
        return (
            TitleBlock(f"{self.pushdown.value}: {MEANINGS[self.pushdown]}"),
            FactsBlock((NamedValue("predicate", CodeSpan(self.sql)),)),
            GridBlock(HEADS, tuple(_row(*pair) for pair in nodes), label="Conditions"),
            Section("why", (NotesBlock(tuple(reasons)),)),
            Section("classes", (FactsBlock(CLASSES),), aside=True),
        )

    def __repr__(self) -> str:
        below = f", {len(self.children)} children" if self.children else ""
        return f"<PushdownNode {shortened(self.sql)!r}: {self.pushdown.value}{below}>"


HEADS = tuple(map(Head, ("condition", "class", "Trino", "Delta filter", "DataFusion")))
CLASSES = tuple(NamedValue(word.value, meaning) for word, meaning in MEANINGS.items())


def _below(node: PushdownNode, depth: int = 0) -> Iterator[tuple[PushdownNode, int]]:
    """Yield the node and all nodes below it, each with its depth."""
    yield node, depth
    for child in node.children:
        yield from _below(child, depth + 1)


def _row(node: PushdownNode, depth: int) -> GridRow:
    return (
        Cell(node.operator or CodeSpan(node.sql), depth=depth),
        node.pushdown.value,
        node.words.trino.value,
        node.words.delta_spark.value.removesuffix(" filter"),
        node.words.datafusion.value,
    )


def _line(node: PushdownNode) -> Inline:
    if node.sql in node.reason:
        return node.reason
    return CodeSpan(node.sql), f": {node.reason}"


def _repeats_children(node: PushdownNode) -> bool:
    """True if all children have the class of the node: then their reasons are its reason."""
    return bool(node.children) and {child.pushdown for child in node.children} == {node.pushdown}


def pushdown_tree(plan: ScanPlan) -> PushdownNode:
    """Return the tree of a plan's predicate."""
    measured = collected_bounds(plan)
    conjuncts = plan.predicate.conjuncts
    classes = classify(plan, conjunct_outcomes(plan), interpreted(plan, plan.counted.decided))
    nodes = []
    for each, its_class in zip(conjuncts, classes, strict=True):
        operands = parts(each.expression, count_parts(each.expression, plan, NODES_AT_MOST), plan)
        nodes.append(_node(each.expression, each.sql, its_class, operands, measured))
    if len(nodes) == 1:
        return nodes[0]
    return _conjunction(plan, classes, nodes, measured)


def _conjunction(
    plan: ScanPlan, classes: Sequence[Class], nodes: Sequence[PushdownNode], measured: Measured
) -> PushdownNode:
    """Return the node above all conjuncts."""
    buckets = {its_class.bucket for its_class in classes}
    whole = Class(
        buckets.pop() if len(buckets) == 1 else ConjunctBucket.UNSPLITTABLE,
        _class_of_all([node.pushdown for node in nodes]),
        interpreted=all(its_class.interpreted for its_class in classes),
    )
    # Delta splits a conjunction: the whole has the word of the part that prunes most.
    parts_words = {node.words.delta_spark for node in nodes}
    strongest = next(word for word in PRUNING_MOST if word in parts_words)
    return PushdownNode(
        plan.predicate.text,
        whole.pushdown,
        _reason_of_all(whole.pushdown, nodes),
        "AND",
        replace(words(plan.predicate.expression, whole, measured), delta_spark=strongest),
        tuple(nodes),
    )


def _class_of_all(classes: Sequence[Pushdown]) -> Pushdown:
    """The class of a conjunction: an operand that excludes nothing may be left out of it."""
    return classes[0] if len(set(classes)) == 1 else Pushdown.INEXACT


def _node(
    expression: Expression,
    sql: str,
    its_class: Class,
    operands: Sequence[OperandOutcome],
    measured: Measured,
) -> PushdownNode:
    children = tuple(
        _node(part.expression, part.sql, part.conjunct_class, part.parts, measured)
        for part in operands
    )
    reason = _reason(expression, sql, its_class, operands, children)
    kind = operator(expression) if children else None
    named = words(expression, its_class, measured)
    return PushdownNode(sql, its_class.pushdown, reason, kind, named, children)


def _reason(
    expression: Expression,
    sql: str,
    its_class: Class,
    operands: Sequence[OperandOutcome],
    children: Sequence[PushdownNode],
) -> str:
    match expression:
        case Literal(value=True):
            return "it is TRUE: every row matches"
        case Literal():
            return "it is never TRUE: no row matches"
        case And() if children:
            return _reason_of_all(its_class.pushdown, children)
        case _:
            return why_class(conjunct(expression, sql), its_class, tuple(operands))


def _reason_of_all(pushdown: Pushdown, nodes: Sequence[PushdownNode]) -> str:
    """Return why a conjunction has its class."""
    useless = [node.sql for node in nodes if node.pushdown is Pushdown.UNSUPPORTED]
    match pushdown:
        case Pushdown.EXACT:
            return "partition values alone decide each part"
        case Pushdown.UNSUPPORTED:
            return "no part excludes a file"
        case Pushdown.INEXACT if useless:
            return f"an AND may be pruned without the part that excludes nothing: {useless[0]}"
        case Pushdown.INEXACT:
            return "it can exclude files, and the rows of the others are checked again"
