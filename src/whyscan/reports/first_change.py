"""Chooses the change to try first among the findings of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from whyscan.fields import Count, Record, Sentence, Sql, Word, one_of
from whyscan.planning.plan.file_scans import joined
from whyscan.reports.findings import Code, Effect, Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

REPLACES_CONJUNCT = frozenset({Code.FUNCTION_ON_PARTITION, Code.LITERAL_TYPE, Code.RANGE_ON_BUCKET})
"""Findings whose rewrite is a condition instead of the conjunct."""

PROVEN = REPLACES_CONJUNCT | {Code.UNSPLITTABLE_OR}
"""Findings with a rewrite that is proven to mean the same, planned on the same snapshot."""

ABOUT_TABLE = frozenset(
    {
        Code.OLD_SPEC,
        Code.CATALOG_DIFFERS,
        Code.MIXED_MANIFESTS,
        Code.NO_STATISTICS,
        Code.BEYOND_STATISTICS_BUDGET,
        Code.TYPE_WITHOUT_STATISTICS,
        Code.TRUNCATED_BOUNDS,
        Code.NAN_UNCOUNTED,
        Code.CONTRADICTORY_STATISTICS,
        Code.UNREADABLE_STATISTICS,
        Code.WIDE_BOUNDS,
        Code.SMALL_FILES,
        Code.JOIN_KEY_WITHOUT_STATISTICS,
        Code.UNUSED_BLOOM_FILTERS,
        Code.NO_BLOOM_FILTERS,
    }
)
"""Findings whose fix changes the table, and not the query."""


class FirstChange(Record, frozen=True):
    """The change to try first, of the finding whose fix saves the most.

    `effect` is what was planned with the change; None where it could not be planned.
    """

    OMITTED: ClassVar = ("severity",)

    code: Code
    severity: Severity
    finding: Annotated[Count, Meta(description="The position of the finding.")]
    changes: Annotated[Word, Meta(description="What is changed."), one_of("query", "table")]
    fix: Sentence
    rewrite: Annotated[
        Sql | None, Meta(description="Text to copy: a condition, a statement or a setting.")
    ]
    predicate: Annotated[
        Sql | None, Meta(description="Text to copy: the whole predicate with the change.")
    ]
    effect: Effect | None
    scan: Annotated[
        Count | None,
        Meta(description="The position of the scan; null for a finding about several tables."),
    ] = None

    @property
    def rank(self) -> tuple[int, bool, int]:
        """The bytes that the change saves, whether it is a warning, and the files that it saves.

        A number that is unknown is 0.
        """
        effect, warns = self.effect, self.severity is Severity.WARNING
        if effect is None or effect.after >= effect.before:
            return 0, warns, 0
        files = effect.before - effect.after
        if effect.bytes_before is None or effect.bytes_after is None:
            return 0, warns, files
        return effect.bytes_before - effect.bytes_after, warns, files


def first_change(
    findings: Sequence[Finding], conjuncts: Sequence[str] = (), scan: int | None = None
) -> FirstChange | None:
    """Return the change that saves the most bytes, else of the first warning; None for none.

    `conjuncts` are the SQL texts of the predicate that the findings are about.
    """
    changes = [
        _change(finding, position, conjuncts, scan)
        for position, finding in enumerate(findings)
        # A query that keeps nothing cannot read less.
        if finding.fix is not None and finding.code is not Code.NOTHING_KEPT
    ]
    useful = [change for change in changes if any(change.rank)]
    return max(useful, key=lambda change: change.rank, default=None)


def _change(
    finding: Finding, position: int, conjuncts: Sequence[str], scan: int | None
) -> FirstChange:
    predicate = None
    if finding.rewrite is not None and finding.code in REPLACES_CONJUNCT and conjuncts:
        changed = list(conjuncts)
        changed[finding.conjunct or 0] = finding.rewrite
        predicate = joined(changed)
    elif finding.rewrite is not None and finding.code is Code.NO_PARTITION_FILTER:
        written = [sql for sql in conjuncts if sql.upper() != "TRUE"]
        predicate = joined([*written, finding.rewrite])
    elif finding.code is Code.ENGINE_READS_MORE:
        predicate = finding.rewrite
    return FirstChange(
        code=finding.code,
        severity=finding.severity,
        finding=position,
        changes="table" if finding.code in ABOUT_TABLE else "query",
        fix=finding.fix or "",
        rewrite=finding.rewrite,
        predicate=predicate,
        effect=finding.effect,
        scan=scan,
    )
