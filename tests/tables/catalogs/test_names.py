"""Which words name a table of a catalog."""

from __future__ import annotations

import sys

import pytest

from whyscan.tables.catalogs.names import table_name


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("prod.db.events", ("prod", "db", "events")),
        ("prod.a.b.events", ("prod", "a", "b", "events")),
        ("my-prod.db_1.events$", ("my-prod", "db_1", "events$")),
        ("prod.db.`events.2024`", ("prod", "db", "events.2024")),
        ('prod."my db"."a/b"', ("prod", "my db", "a/b")),
        ('"my.prod".db."say ""hi"""', ("my.prod", "db", 'say "hi"')),
        ("prod.db.`tick``s`", ("prod", "db", "tick`s")),
        ("prod.db.événements", ("prod", "db", "événements")),
    ],
)
def test_names(word, parts):
    name = table_name(word)

    assert (name.catalog, *name.parts) == parts


@pytest.mark.parametrize(
    "word",
    [
        "events",
        "db.events",
        "./a.b.c",
        "lake/a.b.c",
        "s3://bucket/a.b.c",
        "file:a.b.c",
        "~.a.b",
        "part.*.parquet",
        "part.[01].parquet",
        "prod..events",
        ".prod.db.events",
        "prod.db.events.",
        'prod.db."events',
        'prod.db.""',
        "prod.my db.events",
        "prod.db." + "x" * 100 + "/y",
    ],
)
def test_paths(word):
    assert table_name(word) is None


def test_what_exists_is_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prod.db.events").mkdir()

    assert table_name("prod.db.events") is None


def test_a_name_of_any_length_is_looked_at():
    assert table_name("prod.db." + "x" * 10_000) is not None


def test_without_a_catalog_of_that_name_the_configured_ones_are_listed(configure, error):
    assert "hint: no catalog is configured" in error("prod.db.events")

    configure("lake", uri="sqlite://")
    configure("attic", uri="sqlite://")
    said = error("prod.db.events")
    near = error("laek.db.events")

    assert "there is no path prod.db.events, and no catalog 'prod'" in said
    assert "hint: the configured catalogs are attic, lake" in said
    assert "hint: did you mean lake?" in near


def test_a_configuration_that_cannot_be_read_is_not_quoted(error, tmp_path, monkeypatch):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".pyiceberg.yaml").write_text("catalog: {prod: {token: canary}\n  x")

    assert "cannot ask the catalog 'prod': its configuration" in error("prod.db.events")


def test_without_pyiceberg_the_error_says_how_to_install_it(error, monkeypatch):
    for module in [name for name in sys.modules if name.partition(".")[0] == "pyiceberg"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "pyiceberg", None)

    said = error("prod.db.events")

    assert "the catalog needs PyIceberg, which is not installed" in said
    assert "hint: pip install 'whyscan[catalogs]'" in said
