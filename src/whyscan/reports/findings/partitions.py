"""Findings about partitions: missing filters, functions on partition columns, old specs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from whyscan.planning.plan.replan import with_other
from whyscan.planning.why.equivalence import where_true
from whyscan.planning.why.implied import implied
from whyscan.planning.why.obstacles import changes_type, columns_compared_by_range
from whyscan.planning.why.pushdown import PSEUDO_COLUMNS
from whyscan.planning.why.reason_codes import Reason
from whyscan.pruning.domains import where_true as domains_of
from whyscan.pruning.transforms import Bucket
from whyscan.reports.findings.finding import Code, Effect, Facts, Finding, Severity
from whyscan.reports.listing import join_partitions
from whyscan.reports.words import counted, size, staying
from whyscan.tables.history import WithRegistration
from whyscan.tree.nodes import columns_of
from whyscan.tree.rendering import to_sql

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.planning.plan.judgement import Flags
    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.tree.nodes import Conjunct, Expression

FEW = 0.1
"""If statistics keep at most this share of the files, a partition filter saves little."""

REPACKED_AT_MOST = 200_000
"""The most files that are sorted by partition to estimate the effect of sorted manifests."""


def partitions(facts: Facts) -> Iterator[Finding]:
    """Yield all findings of this family."""
    yield from _no_partition_filter(facts)
    yield from _functions(facts)
    yield from _ranges_on_buckets(facts)
    yield from _old_spec(facts)
    yield from _catalog_differs(facts)
    yield from _mixed_manifests(facts)


def _no_partition_filter(facts: Facts) -> Iterator[Finding]:
    sources = facts.plan.snapshot.partition_sources
    if not sources or {c.path for c in facts.plan.predicate.columns()} & set(sources):
        return
    read, total = facts.files.kept, facts.files.total
    if facts.files.every == read or total == 1:
        return  # Nothing is read, all rows of the files match, or there is nothing to choose from.
    columns = [".".join(path) for path in sources]
    names = ", ".join(columns)
    message = f"the table is partitioned by {names}, and no conjunct names a partition column"
    condition = None if facts.workings.closed else implied(facts.plan)
    few = read <= FEW * total
    if condition is None:
        if not few:
            message = f"{message}: {read:,} of {counted(total, 'file')} are read"
            fix = f"if the query allows it, add a condition on {names}"
            code = Code.NO_PARTITION_FILTER
            yield Finding(
                code, Severity.WARNING, message, fix, {"files": read}, columns=tuple(columns)
            )
        return
    rewrite = to_sql(condition.expression)
    kind = "snapshot" if facts.plan.snapshot.format == "iceberg" else "version"
    yield Finding(
        Code.NO_PARTITION_FILTER,
        Severity.INFO if few else Severity.WARNING,
        f"{message}; the files that can match lie in {condition.values:,} of its "
        f"{counted(condition.of_values, 'value')} of {condition.column}",
        f"add {rewrite}: no row of this {kind} is lost by it, and partition values alone then "
        f"rule out {condition.outside:,} of {counted(facts.workings.listed, 'file')}",
        {"values": condition.values, "of_values": condition.of_values},
        rewrite,
        Effect("files removed by partition", 0, condition.outside),
        columns=tuple(columns),
    )


def _functions(facts: Facts) -> Iterator[Finding]:
    """Find conditions that name a partition column only inside a function."""
    sources = set(facts.plan.snapshot.partition_sources)
    for position, conjunct in enumerate(facts.plan.predicate.conjuncts):
        columns = columns_of(conjunct.expression)
        if len(columns) != 1 or columns[0].path not in sources:
            continue
        if columns[0].path in PSEUDO_COLUMNS or domains_of(conjunct.expression):
            continue
        if changes_type(conjunct.expression):  # LITERAL_TYPE reports it.
            continue
        other, proof = _equivalent(facts, position, conjunct)
        if other is not None:
            yield from _function_finding(facts, position, other, proof)


def _equivalent(facts: Facts, position: int, conjunct: Conjunct) -> tuple[Expression | None, str]:
    """Return an equivalent condition on the bare column, and how the equivalence was proved."""
    spans = where_true(conjunct.expression, facts.plan.zone)
    if spans is not None:
        return spans.as_ranges(), spans.proof
    from whyscan.planning.why.implied import listed

    if not facts.workings.conjuncts[position].outcomes.settled:
        return None, ""
    column = columns_of(conjunct.expression)[0]
    return (
        listed(facts.plan, column, position),
        "checked on every partition value that is there",
    )


def _function_finding(
    facts: Facts, position: int, other: Expression, proof: str
) -> Iterator[Finding]:
    before = facts.read_without(position)
    after = facts.read_with(with_other(facts.plan, position, other))
    if before is None or after.files >= before.files:
        return
    rewrite, sql, left = to_sql(other), facts.conjuncts[position].sql, after.files
    all_files = counted(facts.files.total, "file")
    read = facts.files.kept
    sees = "" if read > left else "; whyscan sees through it, and engines may not"
    yield Finding(
        Code.FUNCTION_ON_PARTITION,
        Severity.WARNING if read > left else Severity.INFO,
        f"{sql} names the partition column inside a function: an engine that takes bare "
        f"columns alone reads {before.files:,} of {all_files}{sees}",
        f"{rewrite} means the same ({proof}) and reads {left:,} of {all_files} instead of "
        f"{before.files:,}",
        {"files_without": before.files, "files_with": left},
        rewrite,
        Effect("files", before.files, left, before.bytes, after.bytes),
        conjunct=position,
    )


def _ranges_on_buckets(facts: Facts) -> Iterator[Finding]:
    if not facts.stays.named(Reason.TRANSFORM_LOSSY):
        return
    buckets = {
        path: t
        for spec in facts.plan.snapshot.specs
        for path, transforms in spec.items()
        for t in transforms
        if isinstance(t, Bucket)
    }
    for position, conjunct in enumerate(facts.plan.predicate.conjuncts):
        for path in columns_compared_by_range(conjunct.expression) & buckets.keys():
            stays = facts.stays.named(Reason.TRANSFORM_LOSSY, [position])
            if stays:
                name = ".".join(path)
                message = (
                    f"{conjunct.sql} is a range of {name}, and files are partitioned by "
                    f"{buckets[path]} of it, which says nothing of a range: {staying(stays)} for "
                    "that"
                )
                yield _bucket_finding(facts, position, conjunct, message, stays)


def _bucket_finding(
    facts: Facts, position: int, conjunct: Conjunct, message: str, stays: int
) -> Finding:
    spans = where_true(conjunct.expression, facts.plan.zone)
    other = None if spans is None else spans.as_list()
    before = facts.files
    after = None if other is None else facts.read_with(with_other(facts.plan, position, other))
    if spans is None or other is None or after is None or after.files >= before.kept:
        return Finding(
            Code.RANGE_ON_BUCKET,
            Severity.INFO,
            message,
            None,
            {"files": stays},
            conjunct=position,
        )
    rewrite, proof = to_sql(other), spans.proof
    return Finding(
        Code.RANGE_ON_BUCKET,
        Severity.WARNING,
        message,
        f"its values listed mean the same ({proof}), and are hashed: {rewrite} "
        f"reads {after.files:,} instead of {counted(before.kept, 'file')}",
        {"files": stays},
        rewrite,
        Effect("files", before.kept, after.files, before.bytes_kept, after.bytes),
        conjunct=position,
    )


def _old_spec(facts: Facts) -> Iterator[Finding]:
    files, weight = facts.stays.named(Reason.OLD_SPEC), facts.workings.old_bytes
    if not files:
        return
    current = next(spec for spec in facts.plan.snapshot.numbered_specs if spec.current)
    yield Finding(
        Code.OLD_SPEC,
        Severity.WARNING,
        f"{counted(files, 'file')} ({size(weight)}) "
        f"{'was' if files == 1 else 'were'} written before the table was partitioned by "
        f"{', '.join(current.fields)}, and cannot be skipped by partition",
        "rewrite them under the current spec (Spark: CALL system.rewrite_data_files with "
        "rewrite-all)",
        {"files": files, "current_spec": current.id},
        effect=Effect("files under an old spec", files, 0),
    )


def _catalog_differs(facts: Facts) -> Iterator[Finding]:
    """Compare the partitions that a catalog has registered with the folders of the table."""
    snapshot = facts.plan.snapshot
    registration = snapshot.registration if isinstance(snapshot, WithRegistration) else None
    if registration is None or not registration.differs:
        return
    sentences = []
    if count := registration.unregistered_files:
        folders = counted(registration.unregistered_folders, "folder")
        weight = size(registration.unregistered_bytes)
        sentences.append(
            f"{counted(count, 'file')} ({weight}) in {folders} of no registered partition "
            f"{'is' if count == 1 else 'are'} not read"
        )
    if count := registration.nested_files:
        sentences.append(
            f"{counted(count, 'file')} in folders inside those of partitions "
            f"{'is' if count == 1 else 'are'} not read: Athena reads them, and Spark does not"
        )
    if count := registration.without_files:
        partitions = counted(registration.partitions, "registered partition")
        sentences.append(f"{count:,} of {partitions} {'has' if count == 1 else 'have'} no file")
    unread = registration.unregistered_files + registration.nested_files
    yield Finding(
        Code.CATALOG_DIFFERS,
        Severity.WARNING if unread else Severity.INFO,
        f"the catalog and the folders differ: {'; '.join(sentences)}",
        "if the folders are right, let the catalog follow them (Spark and Hive: MSCK REPAIR TABLE "
        "... SYNC PARTITIONS)",
        {
            "partitions": registration.partitions,
            "without_files": registration.without_files,
            "unregistered_files": registration.unregistered_files,
            "nested_files": registration.nested_files,
        },
    )


def _mixed_manifests(facts: Facts) -> Iterator[Finding]:
    above = next((level for level in facts.levels if level.level == "manifests"), None)
    workings = facts.workings
    listed = counted(workings.listed, "file")
    if above is None or workings.manifests_opened <= 1 or workings.listed > REPACKED_AT_MOST:
        return
    if not 0 < workings.wanted < workings.listed:
        return
    needed = _manifests_when_sorted(facts.plan.each(_partitions_wanted), workings.manifests_opened)
    read = above.kept
    if needed is not None and needed * 2 <= read:
        yield Finding(
            Code.MIXED_MANIFESTS,
            Severity.WARNING,
            f"{counted(read, 'manifest')} of {above.total:,} had to be read: their files "
            f"are of many partitions, and {workings.wanted:,} of {listed} "
            "are of those that were asked for",
            f"sorted by partition (Spark: CALL system.rewrite_manifests), as many manifests would "
            f"have left {needed:,} to read",
            {"manifests": read, "needed": needed},
            effect=Effect("manifests", read, needed),
        )


def _partitions_wanted(plan: ScanPlan) -> tuple[pa.Table, Flags]:
    """Return the partition values of each file, and one boolean per file: kept by partition."""
    return plan.evidence.files.partition, plan.evidence.by_partition.kept


def _manifests_when_sorted(parts: Sequence[tuple[pa.Table, Flags]], manifests: int) -> int | None:
    """Count the manifests that hold a wanted file if the files were sorted by partition."""
    partition = join_partitions(
        [(table, len(wanted_files)) for table, wanted_files in parts if len(wanted_files)]
    )
    wanted = np.concatenate([wanted_files for _, wanted_files in parts])
    if not partition.num_columns:
        return None
    keys = [(name, "ascending") for name in partition.column_names]
    order = pc.sort_indices(partition, sort_keys=keys).to_numpy()
    pack = np.arange(len(order)) * manifests // len(order)
    return len(np.unique(pack[wanted[order]]))
