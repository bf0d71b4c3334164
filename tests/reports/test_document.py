"""Records are documents: every text has a kind, and redaction follows the kinds alone."""

import json
from datetime import UTC, datetime
from importlib import import_module
from types import UnionType
from typing import Annotated, Union, get_args, get_origin

import pytest
from msgspec import Struct
from msgspec.structs import replace

from support.memory_table import DataFile, MemoryTable
from support.schemas import valid, validator
from support.statement_reports import scan
from whyscan.cli.schema import DOCUMENTS
from whyscan.errors import TableError
from whyscan.fields import Record, TextKind
from whyscan.reports.document import document, to_json
from whyscan.reports.redaction import redacted
from whyscan.reports.schema import typed_members
from whyscan.spark.stages.audit.report import Audit, AuditedScan, AuditRun, Drift, QueryLine
from whyscan.spark.stages.inventory.report import InventoriedTable, InventoryRun, TableRow
from whyscan.spark.stages.verify.result import (
    Lie,
    NativeRows,
    PlanCounts,
    PredicateProof,
    TableProof,
    UncheckedTable,
    UnreadableFile,
    Verification,
    Wrong,
)
from whyscan.spark.stages.workload.query import Unparsed
from whyscan.tree.types import INT, STRING

NOW = datetime(2024, 1, 1, tzinfo=UTC)
SECRETS = ("Zanzibar", "771177")
PREDICATE = "city = 'Zanzibar' AND n > 771177"
CITIES = MemoryTable({"city": STRING, "n": INT}, [DataFile("a.parquet", {}, [])], uri="lake/t")


def record_of(name):
    module, _, record = DOCUMENTS[name].rpartition(".")
    return getattr(import_module(module), record)


def texts_without_kind(kind, seen, where):
    """Where a type has a text of which nothing says what it is."""
    if kind is str:
        yield where
    elif get_origin(kind) is Annotated:
        plain, *metadata = get_args(kind)
        if not any(isinstance(m, TextKind) for m in metadata):
            yield from texts_without_kind(plain, seen, where)
    elif get_origin(kind) in {Union, UnionType} or get_args(kind):
        for part in get_args(kind):
            yield from texts_without_kind(part, seen, where)
    elif isinstance(kind, type) and issubclass(kind, Struct) and kind not in seen:
        seen.add(kind)
        assert issubclass(kind, Record), kind
        for member in typed_members(kind):
            yield from texts_without_kind(member.type, seen, f"{kind.__name__}.{member.name}")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_text_of_a_document_has_a_kind(name):
    assert list(texts_without_kind(record_of(name), set(), name)) == []


def test_a_text_without_a_kind_is_seen():
    assert list(texts_without_kind(tuple[str, ...], set(), "here")) == ["here"]


VERIFICATION = Verification(
    (
        TableProof(
            name="t",
            uri="lake/t",
            format="delta",
            version=1,
            files_total=1,
            files_read=1,
            row_groups_read=1,
            rows=4,
            live=4,
            columns=("city",),
            native=NativeRows("delta", 4),
            predicates=(
                PredicateProof(
                    PREDICATE,
                    "spark",
                    planned=PlanCounts(1, 0, None, None, 0, 0, 0),
                    rows_true=1,
                    lost=(Wrong("files", "city=Zanzibar/f.parquet", None, 1, 0),),
                ),
                PredicateProof(PREDICATE, "spark", why="no rule for n > 771177"),
            ),
            lies=(Lie("city=Zanzibar/f.parquet", None, "n", "lower", 771177, "Zanzibar"),),
            unreadable=(UnreadableFile("city=Zanzibar/g.parquet", "bad page: 'Zanzibar'"),),
        ),
    ),
    (UncheckedTable("q", "cannot be read: n > 771177"),),
)
INVENTORY = InventoryRun(
    (
        InventoriedTable(
            "a",
            "lake/a",
            "read",
            TableRow("a", "lake/a", "delta", "1", "", "files", 1, 0, 1, None, None, 1, 1, NOW, ""),
        ),
        InventoriedTable("b", "lake/b", "failed", None, TableError("gone", hint="look")),
    ),
    containers_at="c",
    tables_at="t",
    form="parquet",
    depth="files",
    seconds=0.1,
)
AUDIT = Audit(
    AuditRun("run", NOW, 0.1, "UTC", "files", 0.1),
    (
        QueryLine(
            f"SELECT 1 FROM t WHERE {PREDICATE}",
            "SELECT ? FROM t WHERE city = ? AND n > ?",
            "spark",
            1,
            first=NOW,
            days={"2024-01-01": 1},
            tables=(
                AuditedScan(replace(scan(CITIES, PREDICATE, "t"), plan=None, answer="771177")),
            ),
            notes=("n > 771177 is opaque",),
            error="t: city = 'Zanzibar' cannot be read",
        ),
    ),
    unparsed=(Unparsed("log:1", PREDICATE, "Expecting (: 'Zanzibar'"),),
    drift=(Drift("n > ?", "n > 771177", "t", 0.1, 0.2, "run", NOW, 1, 2),),
)


@pytest.mark.parametrize(
    ("name", "record"),
    [("verify", VERIFICATION), ("inventory", INVENTORY), ("audit", AUDIT)],
    ids=["verify", "inventory", "audit"],
)
def test_the_text_is_the_document_and_redaction_leaves_no_secret(name, record):
    written, hidden = to_json(record), to_json(record.redacted())

    assert valid(name, json.loads(written)) == json.loads(json.dumps(document(record)))
    valid(name, json.loads(hidden))
    assert [secret for secret in SECRETS if secret in hidden] == []


def test_the_figures_of_a_redacted_verification_stay():
    plain, hidden = document(VERIFICATION), document(redacted(VERIFICATION))

    assert (
        hidden["tables"][0]["predicates"][0]["plan"] == plain["tables"][0]["predicates"][0]["plan"]
    )
    assert hidden["exit_code"] == plain["exit_code"]
    assert hidden["tables"][0]["predicates"][0]["predicate"] == "city = ? AND n > ?"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_schema_refuses_what_it_does_not_name(name):
    schema = validator(name).schema

    assert schema["additionalProperties"] is False
    assert schema["$id"] == f"urn:whyscan:{name}:1.0"
    objects = [d for d in schema["$defs"].values() if d.get("type") == "object"]
    assert all(d["additionalProperties"] is False for d in objects)


@pytest.mark.parametrize(
    ("wasted", "most", "passed"), [(10, 10, True), (11, 10, False), (None, 10, False)]
)
def test_the_gates_of_an_audit_are_in_its_document(wasted, most, passed):
    audit = replace(AUDIT, queries=(replace(AUDIT.queries[0], wasted=wasted),))
    made = valid("audit", document(audit.gated(max_wasted=most, fail_on_drift=True)))

    waste, drift = made["assertions"]
    assert waste == {
        "name": "max_wasted",
        "threshold": most,
        "actual": wasted,
        "result": "pass" if passed else "fail",
    }
    assert (drift["name"], drift["actual"], drift["result"]) == ("drift", 1, "fail")
    assert made["result"] == "fail"
    assert document(audit.gated(max_wasted=most))["result"] == ("pass" if passed else "fail")
    assert document(AUDIT)["assertions"] == []
