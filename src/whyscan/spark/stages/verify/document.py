"""Write a verification as the JSON document that `verify.schema.json` describes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from whyscan.reports.document import Json, version

if TYPE_CHECKING:
    from whyscan.spark.stages.verify.result import (
        EngineRead,
        Lie,
        PredicateProof,
        TableProof,
        Verification,
        Wrong,
    )

SCHEMA_VERSION = "1.0"


def to_json(verification: Verification) -> str:
    """The document as ASCII text: escape codes in names stay inert."""
    return json.dumps(document(verification), indent=2, allow_nan=False) + "\n"


def document(verification: Verification) -> Json:
    """The document as dictionaries and lists, in reading order."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "whyscan", "version": version()},
        "tables": [_table(table) for table in verification.tables],
        "failures": [
            {"name": failure.name, "why": failure.why} for failure in verification.failures
        ],
        "result": "pass" if verification.sound and verification.evaluated else "fail",
        "exit_code": verification.exit_code,
    }


def _table(table: TableProof) -> Json:
    return {
        "name": table.name,
        "uri": table.uri,
        "format": table.format,
        "version": table.version,
        "files_total": table.files_total,
        "files_read": table.files_read,
        "row_groups_read": table.row_groups_read,
        "rows": table.rows,
        "live": table.live,
        "columns": list(table.columns),
        "native": {
            "reader": table.native.reader,
            "rows": table.native.rows,
            "why": table.native.why,
        },
        "predicates": [_predicate(proof) for proof in table.predicates],
        "lies": [_lie(item) for item in table.lies],
        "contradictions": [
            {
                "level": item.level,
                "column": item.column,
                "containers": item.containers,
                "paths": list(item.paths),
            }
            for item in table.contradictions
        ],
        "unreadable": [{"path": item.path, "why": item.why} for item in table.unreadable],
        "unchecked": list(table.unchecked),
        "seconds": round(table.seconds, 3),
        "result": "pass" if table.sound and table.evaluated else "fail",
    }


def _predicate(proof: PredicateProof) -> Json:
    plan = proof.planned
    return {
        "predicate": proof.predicate,
        "dialect": proof.dialect,
        "why": proof.why,
        "plan": None
        if plan is None
        else {
            "files_total": plan.files_total,
            "files_kept": plan.files_kept,
            "row_groups_total": plan.row_groups_total,
            "row_groups_kept": plan.row_groups_kept,
            "rows_kept": plan.rows_kept,
            "rows_matched": {"at_least": plan.at_least, "at_most": plan.at_most},
        },
        "rows_true": proof.rows_true,
        "rows_true_native": proof.native,
        "rows_raising": proof.raised,
        "lost": [_wrong(wrong) for wrong in proof.lost],
        "false_all": [_wrong(wrong) for wrong in proof.false_all],
        "engines": [_engine(read) for read in proof.engines],
        "sound": None if proof.why is not None else proof.sound,
    }


def _wrong(wrong: Wrong) -> Json:
    return {
        "level": wrong.level,
        "path": wrong.path,
        "row_group": wrong.row_group,
        "rows": wrong.rows,
        "position": wrong.position,
    }


def _lie(lie: Lie) -> Json:
    return {
        "path": lie.path,
        "row_group": lie.row_group,
        "column": lie.column,
        "what": lie.what,
        "recorded": lie.recorded,
        "found": lie.actual,
    }


def _engine(read: EngineRead) -> Json:
    return {
        "engine": read.engine,
        "why": read.why,
        "sql": read.sql,
        "rows": read.rows,
        "files": read.files,
        "row_groups": read.row_groups,
        "rows_read": read.rows_read,
        "sound": read.sound,
        "compared_by": read.by,
        "reads": None if read.reads is None else read.reads.value,
        "more": read.more,
    }
