"""The report as the JSON document that `report.schema.json` describes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from msgspec.json import Encoder, decode
from msgspec.json import format as spaced

from whyscan.reports.report import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.planning.why.attribution import Share
    from whyscan.planning.why.engine_words import Words
    from whyscan.reports.conjuncts import ConjunctLine, PartLine
    from whyscan.reports.coverage import Coverage
    from whyscan.reports.findings import Effect, Finding
    from whyscan.reports.gates import Assertion
    from whyscan.reports.levels import Level
    from whyscan.reports.listing import Listing
    from whyscan.reports.report import Report, Subject
    from whyscan.tables.snapshot import SpecLine

Json = dict[str, Any]


def to_json(report: Report) -> str:
    """Return the JSON document as text."""
    return as_text(_about(report), report.listing)


def as_text(document: Json, listing: Listing | None) -> str:
    """Return a report's document as text, with one line per file.

    The text is ASCII, so that a name with escape codes cannot control a terminal.
    """
    text = json.dumps(document, indent=2, allow_nan=False)
    if listing is None:
        return f"{text}\n"
    lines = ",".join(f"\n    {line}" for line in _lines(listing))
    return "".join((text[:-2], ',\n  "files": [', lines, "\n  ]\n}\n"))


def _lines(listing: Listing) -> Iterator[str]:
    """Yield the text of one file at a time: dictionaries of all files would need much memory."""
    encode = Encoder().encode
    for line in listing.lines():
        text = spaced(encode(line), indent=0)
        yield text.decode() if text.isascii() else json.dumps(decode(text), allow_nan=False)


def document(report: Report) -> Json:
    """Return the document as dictionaries and lists, in the order in which people read them."""
    return {**_about(report), **files_of(report)}


def _about(report: Report) -> Json:
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "whyscan", "version": version()},
        **of_report(report),
    }


def of_report(report: Report) -> Json:
    """Return the members about one table, without the tool's name and without the files."""
    return {
        "table": of_subject(report.table),
        "predicate": report.question.predicate,
        "dialect": report.question.dialect,
        "timezone": report.question.timezone,
        "now": moment(report.question.now),
        "assume_no_nan": report.question.assume_no_nan,
        "confidence": report.confidence.value,
        "levels": [of_level(level) for level in report.levels],
        "unchecked": [{"level": level, "why": why} for level, why in report.unchecked],
        "notes": list(report.notes),
        "rows_matched": {
            "at_least": report.rows_matched.at_least,
            "at_most": report.rows_matched.at_most,
        },
        "conjuncts": [of_conjunct(conjunct) for conjunct in report.conjuncts],
        "mechanisms": {
            "partition": of_share(report.overlap.partition),
            "statistics": of_share(report.overlap.statistics),
            "both": of_share(report.overlap.both),
        },
        "residual": report.residual,
        "survivors": [{"reason": s.reason.value, "files": s.files} for s in report.survivors],
        "statistics": [_coverage(column) for column in report.statistics],
        "contradictory_statistics": report.contradictory_statistics,
        "findings": [of_finding(finding) for finding in report.findings],
        **_selection(report),
        **_proofs(report),
        "assertions": [of_assertion(assertion) for assertion in report.assertions],
        "metadata": {
            "objects": report.metadata.objects,
            "bytes": report.metadata.bytes,
            "from_cache": report.metadata.from_cache,
            "seconds": round(report.metadata.seconds, 6),
        },
        "result": "pass" if report.passed else "fail",
    }


def version() -> str:
    """Return the version of the installed package."""
    from importlib.metadata import version as installed

    return installed("whyscan")


def moment(microseconds: int | None) -> str | None:
    """Format microseconds since 1970 as ISO 8601 in UTC."""
    if microseconds is None:
        return None
    instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
    return instant.isoformat().replace("+00:00", "Z")


def of_subject(table: Subject) -> Json:
    """Return the members of the table."""
    return {
        "uri": table.uri,
        "format": table.format,
        "version": table.version,
        "partitioned_by": list(table.partitioned_by),
        "specs": [_spec(spec) for spec in table.specs],
    }


def of_level(level: Level) -> Json:
    """Return the counts of one level."""
    emptied = {} if level.files_emptied is None else {"files_emptied": level.files_emptied}
    return {
        "level": level.level,
        "total": level.total,
        "kept": level.kept,
        "all": level.every,
        "kept_without_nan": level.kept_without_nan,
        "confidence": level.confidence.value,
        "bytes_total": level.bytes_total,
        "bytes_kept": level.bytes_kept,
        "rows_total": level.rows_total,
        "rows_kept": level.rows_kept,
        "kept_unchecked": level.unchecked,
        "pruned_by": dict(level.pruned_by),
        **emptied,
        **_selected_bytes(level),
    }


def _selected_bytes(level: Level) -> Json:
    if level.selected_total is None and level.selected_kept is None:
        return {}
    return {
        "selected_bytes_total": level.selected_total,
        "selected_bytes_kept": level.selected_kept,
    }


def of_conjunct(conjunct: ConjunctLine) -> Json:
    """Return one conjunct of the predicate."""
    return {
        "sql": conjunct.sql,
        "columns": list(conjunct.columns),
        "bucket": conjunct.bucket.value,
        "pushdown": conjunct.pushdown.value,
        "alone": of_share(conjunct.alone),
        "only": of_share(conjunct.only),
        "why": conjunct.why,
        "engines": _words(conjunct.words),
        "operator": conjunct.operator,
        "parts": [_part(part) for part in conjunct.parts],
        **({"joined": True} if conjunct.joined else {}),
    }


def _part(part: PartLine) -> Json:
    return {
        "sql": part.sql,
        "operator": part.operator,
        "bucket": part.bucket.value,
        "pushdown": part.pushdown.value,
        "engines": _words(part.words),
        "files_kept": part.kept,
        "alone": of_share(part.removed),
        "parts": [_part(inner) for inner in part.parts],
    }


def _words(words: Words) -> Json:
    return {
        "trino": words.trino.value,
        "delta_spark": words.delta_spark.value,
        "datafusion": words.datafusion.value,
        "remains_above_scan": words.remains,
    }


def of_share(share: Share) -> Json:
    """Return the files, bytes and rows that were removed."""
    at_least = {"at_least": True} if share.at_least else {}
    return {"files": share.files, "bytes": share.bytes, "rows": share.rows, **at_least}


def _coverage(column: Coverage) -> Json:
    return {
        "column": column.column,
        "files": column.files,
        "files_with_bounds": column.files_with_bounds,
        "mode": column.mode,
    }


def of_finding(finding: Finding) -> Json:
    """Return one finding."""
    return {
        "code": finding.code.value,
        "severity": finding.severity.value,
        "message": finding.message,
        "fix": finding.fix,
        "evidence": dict(finding.evidence),
        "rewrite": finding.rewrite,
        "effect": _effect(finding.effect),
    }


def _effect(effect: Effect | None) -> Json | None:
    if effect is None:
        return None
    return {"unit": effect.unit, "before": effect.before, "after": effect.after}


def _selection(report: Report) -> Json:
    if report.selection is None:
        return {}
    chosen = report.selection
    return {"selection": {"columns": list(chosen.columns), "bytes": chosen.bytes}}


def _spec(spec: SpecLine) -> Json:
    return {"id": spec.id, "fields": list(spec.fields), "current": spec.current}


def _proofs(report: Report) -> Json:
    if report.listing is None:
        return {}
    from whyscan.reports.proofs import PROOFS

    proofs = [
        {"evidence": p.evidence, "proves": p.proves, "leaves_open": p.leaves_open} for p in PROOFS
    ]
    return {"proofs": proofs}


def files_of(report: Report) -> Json:
    """Return every live file, if the report lists them."""
    if report.listing is None:
        return {}
    encode = Encoder().encode
    return {"files": [decode(encode(line)) for line in report.listing.lines()]}


def of_assertion(assertion: Assertion) -> Json:
    """Return the outcome of one gate."""
    return {
        "name": assertion.name,
        "threshold": assertion.threshold,
        "actual": assertion.actual,
        "result": assertion.result,
        **_missing_statistics(assertion),
        **_exemption(assertion),
    }


def _missing_statistics(assertion: Assertion) -> Json:
    if assertion.missing_statistics is None:
        return {}
    missing = assertion.missing_statistics
    return {
        "files_without_statistics": {
            "count": missing.files,
            "of": missing.total,
            "columns": list(missing.columns),
            "files": list(missing.examples),
        }
    }


def _exemption(assertion: Assertion) -> Json:
    if assertion.exemption is None:
        return {}
    exemption = {
        "reason": assertion.exemption.reason,
        "until": assertion.exemption.until.isoformat(),
    }
    return {"exemption": exemption | {"expired": assertion.expired}}
