"""A profile as the JSON document that `stats.schema.json` describes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from whyscan.reports.document import Json, of_subject, version

if TYPE_CHECKING:
    from whyscan.reports.stats.columns import ColumnStats
    from whyscan.reports.stats.distribution import Distribution
    from whyscan.reports.stats.profile import TableStats

SCHEMA_VERSION = "1.0"


def to_json(stats: TableStats) -> str:
    """Return the JSON document as ASCII text, so that escape codes in names have no effect."""
    return json.dumps(document(stats), indent=2, allow_nan=False) + "\n"


def document(stats: TableStats) -> Json:
    """Return dictionaries and lists; the columns that prune best come first."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "whyscan", "version": version()},
        "table": of_subject(stats.table),
        "files": stats.files,
        "bytes": stats.bytes,
        "rows": stats.rows,
        "columns": [_column(column) for column in stats.columns],
        "file_bytes": _distribution(stats.file_sizes),
        "row_group_bytes": _distribution(stats.row_group_sizes),
        "row_group_rows": _distribution(stats.row_group_rows),
        "manifests": stats.manifests,
        "manifest_overlap": [asdict(overlap) for overlap in stats.manifest_overlap],
        "unchecked": [{"level": level, "why": why} for level, why in stats.unchecked],
        "metadata": asdict(stats.metadata) | {"seconds": round(stats.metadata.seconds, 6)},
    }


def _column(column: ColumnStats) -> Json:
    depth = column.depth
    return {
        "column": column.column,
        "type": column.type,
        "partitioned": column.partitioned,
        "collected": column.collected,
        "files_with_bounds": column.bounded,
        "bytes_with_bounds": column.bytes_bounded,
        "constant_files": column.constant,
        "median_width": _rounded(column.width),
        "depth": None
        if depth is None
        else {
            "median": depth.median,
            "ideal": depth.ideal,
            "histogram": _distribution(depth.spread),
        },
        "skipped_by_equality": _rounded(column.skipped),
        "never_tight": column.never_tight,
        "files_with_cut_bounds": column.cut,
        "files_with_nulls": column.nulls,
        "files_with_uncounted_nulls": column.nulls_uncounted,
        "files_with_nan": column.nan,
    }


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 6)


def _distribution(distribution: Distribution | None) -> Json | None:
    if distribution is None:
        return None
    return {
        "count": distribution.count,
        "total": distribution.total,
        "least": distribution.least,
        "quartiles": list(distribution.quartiles),
        "greatest": distribution.greatest,
        "start": distribution.start,
        "bins": list(distribution.bins),
    }
