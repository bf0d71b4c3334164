"""What each finding and each gate is about, in one sentence, with its page of the documentation."""

from __future__ import annotations

from whyscan.reports.findings.finding import Code

DOCUMENTATION = "https://github.com/whyscan/whyscan/blob/main/docs"
GATE = "gate/"
"""How the rule of a gate begins."""

ABOUT = {
    Code.NOTHING_KEPT: "No file can hold a matching row.",
    Code.WEAK_PRUNING: "At least nine files in ten are read, and not because their rows match.",
    Code.NO_PARTITION_FILTER: "No condition names a partition column of a partitioned table.",
    Code.FUNCTION_ON_PARTITION: "A partition column stands inside a function.",
    Code.RANGE_ON_BUCKET: "A range is compared with a bucket, which keeps no order.",
    Code.OLD_SPEC: "Files from before a change of the partition spec keep the old partitions.",
    Code.CATALOG_DIFFERS: "The partitions of a catalog are not the folders of the table.",
    Code.MIXED_MANIFESTS: "Manifests hold files of every partition, so that all must be read.",
    Code.NO_STATISTICS: "A column of the predicate has no bounds in some files.",
    Code.BEYOND_STATISTICS_BUDGET: "Writers record statistics of the first columns only.",
    Code.TYPE_WITHOUT_STATISTICS: "The format keeps no bounds of columns of this type.",
    Code.TRUNCATED_BOUNDS: "Bounds of text are cut off and do not separate values.",
    Code.NAN_UNCOUNTED: "NaN was not counted, and bounds do not exclude it.",
    Code.CONTRADICTORY_STATISTICS: "A statistic cannot be true.",
    Code.UNREADABLE_STATISTICS: "A statistic cannot be read.",
    Code.UNINTERPRETED: "A part of the predicate cannot be evaluated from metadata.",
    Code.LITERAL_TYPE: "Text is compared with a number.",
    Code.UNSPLITTABLE_OR: "An OR joins partition columns with other columns.",
    Code.OR_ENDS_PRUNING: "One branch of an OR excludes nothing, so that the whole OR does not.",
    Code.NEGATION_EXCLUDES_NOTHING: "A negation excludes only files with no other value.",
    Code.WIDE_BOUNDS: "The bounds of the files overlap, so that most of them are read.",
    Code.SMALL_FILES: "Many small files are read.",
    Code.CROSS_JOIN: "No condition joins two tables.",
    Code.FILTER_ON_WRONG_SIDE: "A condition of an outer join filters nothing where it stands.",
    Code.FUNCTION_ON_JOIN_KEY: "A join compares a function of its key.",
    Code.JOIN_TYPE_MISMATCH: "The keys of a join have different types.",
    Code.JOIN_KEY_WITHOUT_STATISTICS: "The key of a join has no bounds in some files.",
    Code.FULL_SCAN_OF_LARGER_SIDE: "The larger side of a join is read whole.",
    Code.FILTER_ABOVE_BARRIER: "A condition cannot move below a LIMIT, a DISTINCT ON or a window.",
    Code.SCANNED_TWICE: "A table is scanned more than once with the same conditions.",
    Code.UNUSED_CTE: "Nothing reads a CTE.",
    Code.MERGE_WITHOUT_PARTITION_TERM: "A MERGE names no partition column of its target.",
    Code.MERGE_KEY_IN_FUNCTION: "A MERGE compares a function of its target's key.",
    Code.MERGE_VALUES_AT_RUN_TIME: "The values that prune a MERGE are known when it runs.",
    Code.NOT_MATCHED_BY_SOURCE_READS_ALL: "A MERGE acts on every row without a partner.",
    Code.ENGINE_READS_MORE: "An engine reads much more than metadata proves, or than its profile.",
    Code.UNUSED_BLOOM_FILTERS: "The bloom filters of a column remove no row group.",
    Code.NO_BLOOM_FILTERS: "A column of many values has no bloom filters.",
}
"""One sentence for each finding."""

ABOUT_GATES = {
    "min_pruning": "Too few files are skipped.",
    "min_pruning_bytes": "Too few bytes are skipped.",
    "max_files": "Too many files are read.",
    "max_bytes": "Too many bytes are read.",
    "max_cost": "Reading costs too much.",
    "stats_complete": "A file lacks statistics.",
    "partition_filter": "No condition on partition columns can skip files.",
    "baseline": "Fewer files are skipped than the baseline says.",
    "baseline_bytes": "Fewer bytes are skipped than the baseline says.",
    "regression": "Fewer files are skipped than before.",
    "regression_bytes": "Fewer bytes are skipped than before.",
    "max_wasted": "A log wastes too many bytes.",
    "drift": "Queries waste more than in an earlier audit.",
}
"""One sentence for each gate, about its failure."""


def about(rule: str) -> str:
    """Return the sentence of a rule: the code of a finding, or a gate with its prefix."""
    if rule.startswith(GATE):
        return ABOUT_GATES[rule.removeprefix(GATE)]
    return ABOUT[Code(rule)]


def page(rule: str) -> str:
    """Return the address of the documentation of a rule."""
    if rule.startswith(GATE):
        return f"{DOCUMENTATION}/gates.md"
    return f"{DOCUMENTATION}/findings.md#{rule.lower()}"
