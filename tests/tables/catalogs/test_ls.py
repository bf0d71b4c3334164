"""`whyscan ls`: the names of a real SQL catalog, each of which opens what it names."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

import whyscan
from support.commands import whyscan as command
from tables.catalogs import events


@pytest.fixture
def prod(configure, tmp_path):
    properties = {"uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"file://{tmp_path}"}
    made = events.catalog("prod", **properties)
    events.write(made, "db", "events")
    events.write(made, "db", "events.2024")
    made.create_namespace(("db", "staging"))
    made.create_namespace("empty")
    made.close()
    configure("prod", **properties)


def listed(*words):
    return json.loads(command("ls", *words, "--format", "json", cwd=".").out)


@pytest.mark.usefixtures("prod")
def test_catalogs_namespaces_and_tables_are_listed_by_whole_names():
    assert listed()["catalogs"] == ["prod"]
    assert listed("prod")["namespaces"] == ["prod.db", "prod.empty"]
    assert listed("prod.empty")["tables"] == []
    of_db = listed("prod.db")
    assert of_db["namespaces"] == ["prod.db.staging"]
    assert of_db["tables"] == ["prod.db.`events.2024`", "prod.db.events"]
    assert [whyscan.open(name).format for name in of_db["tables"]] == ["iceberg", "iceberg"]


@pytest.mark.usefixtures("prod")
def test_the_text_has_a_name_a_line_and_the_document_its_schema():
    text = command("ls", "prod.db", cwd=".").out
    schema = json.loads(command("schema", "ls", cwd=".").out)

    assert text.startswith("prod.db: 1 namespace, 2 tables\n")
    assert "prod.db.events" in text.split()
    assert list(Draft202012Validator(schema).iter_errors(listed("prod"))) == []


@pytest.mark.usefixtures("prod")
@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("prd", "no catalog 'prd'"),
        ("prod.nothing", "the catalog 'prod' has no namespace nothing"),
        ("a/b", "is no name of a catalog"),
    ],
)
def test_what_is_not_there_is_one_line_with_a_hint(place, message):
    done = command("ls", place, cwd=".")

    assert done.code in {2, 3}
    assert message in done.err
    assert done.out == ""
