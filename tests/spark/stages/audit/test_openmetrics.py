"""Metrics of an audit, read back by a checker of OpenMetrics' grammar of its own."""

import re
from collections import defaultdict

import pytest

from support.audit_reports import altered, audit, iceberg, joined, nothing, wasteful, wasteful_scan
from support.markup import NAMES, SEEN
from whyscan.spark.stages.audit.by_shape import digest
from whyscan.spark.stages.audit.openmetrics import openmetrics

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)?\}})? ({NUMBER})")
METADATA = re.compile(rf"# (TYPE|UNIT|HELP) ({NAME}) (.+)")
SUFFIX = {"counter": "_total", "gauge": "", "info": "_info"}
ESCAPED = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


def parsed(text):
    """Every sample by its name and labels, once all rules of the format hold."""
    *lines, last, end = text.split("\n")
    assert (last, end) == ("# EOF", "")
    families, values, current = defaultdict(dict), {}, None
    for line in lines:
        if match := METADATA.fullmatch(line):
            kind, name, value = match.groups()
            assert name == current or name not in families, "a family in two places"
            assert kind not in families[name], "told twice"
            families[name][kind] = value
            current = name
            continue
        match = SAMPLE.fullmatch(line)
        assert match, line
        family = families[current]
        assert match[1] == current + SUFFIX[family["TYPE"]], "a sample of another family"
        labels = re.findall(LABEL, match[2] or "")
        assert len(dict(labels)) == len(labels), "a label twice"
        key = (match[1], frozenset((k, unescaped(v)) for k, v in labels))
        assert key not in values, "a sample twice"
        values[key] = float(match.groups()[-1])
        if family["TYPE"] in {"counter", "info"}:
            assert values[key] >= 0
    for name, family in families.items():
        assert {"TYPE", "HELP"} <= family.keys()
        assert name.endswith("_" + family.get("UNIT", name.rpartition("_")[2]))
        assert not name.endswith(("_total", "_info"))
    samples = [name for name, _ in values]
    assert not set(samples) & (
        families.keys() - {n for n, f in families.items() if f["TYPE"] == "gauge"}
    )
    return values


def unescaped(text):
    return re.sub(r'\\["\\n]', lambda m: ESCAPED[m[0]], text)


def value(samples, name, **labels):
    return samples.get((name, frozenset(labels.items())))


def test_scans_have_the_names_and_numbers_of_icebergs_own_reports_over_all_runs():
    samples = parsed(openmetrics(audit()))
    of = {"table": "lake.events", "shape": digest(iceberg().shape)}

    assert value(samples, "iceberg_scan_result_data_files_total", **of) == 4 * 6
    assert value(samples, "iceberg_scan_data_files_skipped_total", **of) == 4 * 194
    assert value(samples, "iceberg_scan_data_manifests_total", **of) == 4 * 10
    assert value(samples, "iceberg_scan_data_manifests_scanned_total", **of) == 4 * 3
    assert value(samples, "iceberg_scan_data_manifests_skipped_total", **of) == 4 * 7
    assert value(samples, "iceberg_scan_file_size_bytes_total", **of) == 4 * 60_000
    assert value(samples, "whyscan_scan_wasted_bytes_total", **of) == 60_000
    assert value(samples, "whyscan_scan_kept_ratio", **of) == 0.03


def test_queries_of_one_shape_are_one_series():
    samples = parsed(openmetrics(audit(queries=(wasteful(), wasteful(sql="other", times=2)))))
    of = {"table": "orders", "shape": digest(wasteful().shape)}

    assert value(samples, "whyscan_query_runs_total", shape=of["shape"]) == 32
    assert value(samples, "whyscan_scan_read_bytes_total", **of) == 32 * 120_000
    assert value(samples, "whyscan_scans_total", **of) == 32


def test_what_is_not_known_has_no_sample():
    unknown = altered(wasteful_scan(), bytes_read=None, bytes_kept=None, actual=None)
    samples = parsed(openmetrics(audit(queries=(wasteful(tables=(unknown,)), joined()))))
    of = {"table": "orders", "shape": digest(wasteful().shape)}

    assert value(samples, "whyscan_scan_read_bytes_total", **of) is None
    assert value(samples, "whyscan_scan_kept_ratio", **of) is None
    assert value(samples, "iceberg_scan_result_data_files_total", **of) == 30 * 12
    names = {name for name, _ in samples}
    assert "iceberg_scan_data_manifests_total" not in names
    assert "whyscan_scan_actual_bytes_total" not in names


def test_what_metadata_answers_reads_no_file():
    answered = altered(wasteful_scan(), answer="count(*) is 24")
    samples = parsed(openmetrics(audit(queries=(wasteful(tables=(answered,)),))))
    of = {"table": "orders", "shape": digest(wasteful().shape)}

    assert value(samples, "iceberg_scan_result_data_files_total", **of) == 0
    assert value(samples, "iceberg_scan_file_size_bytes_total", **of) == 0


def test_what_could_not_be_done_is_counted():
    samples = parsed(openmetrics(audit()))

    states = [
        value(samples, "whyscan_audit_queries", state=s) for s in ("audited", "failed", "unparsed")
    ]
    assert states == [3, 1, 1]
    assert value(samples, "whyscan_audit_tables", state="failed") == 1
    assert value(samples, "whyscan_audit_drifts") == 2
    assert value(samples, "whyscan_audit_duration_seconds") == 12.5


@pytest.mark.parametrize("secret", ["4711", "Ada", "Lovelace", "xyzzy", "= 3", "99"])
def test_no_literal_is_in_it(secret):
    assert secret in "".join(line.sql for line in audit().queries)
    text = re.sub(r" [\d.]+\n", "\n", openmetrics(audit()))
    assert secret not in re.sub(r'shape="[0-9a-f]+"', "", text)


def test_what_is_no_sql_is_not_quoted():
    broken = wasteful(sql="SELECT 'never closed", shape="SELECT 'never closed")

    assert "never closed" not in openmetrics(audit(queries=(broken,)))


def test_names_are_escaped_and_come_back_as_they_are_shown():
    queries = tuple(
        wasteful(shape=name, tables=(altered(wasteful_scan(), name=f'{name}"\\'),))
        for name in NAMES
    )
    samples = parsed(openmetrics(audit(queries=queries)))

    for name in NAMES:
        of = {"table": SEEN.get(name, name) + '"\\', "shape": digest(name)}
        assert value(samples, "whyscan_scans_total", **of) == 30


def test_an_empty_audit_is_an_exposition():
    assert value(parsed(openmetrics(nothing())), "whyscan_audit_queries", state="audited") == 0
