"""`whyscan doctor`: what is installed, what is missing, and no secret."""

from __future__ import annotations

import json
from importlib import metadata

import pytest

from whyscan import diagnosis
from whyscan.diagnosis import CORE, EXTRAS, MISSING, OK, PROBLEM, diagnose


def checks_of(**options):
    return {check.name: check for check in diagnose(**options).checks}


def test_every_part_of_the_development_environment_is_there():
    checks = checks_of(catalogs=False)

    assert {checks[package].detail for package in CORE} == {metadata.version(p) for p in CORE}
    assert {checks[f"extra {extra}"].state for extra in EXTRAS} == {OK}
    assert checks["Java for Spark"].state == OK


@pytest.mark.parametrize(
    ("gone", "name", "state", "hint"),
    [
        ("pyarrow", "pyarrow", PROBLEM, "pip install pyarrow"),
        ("polars", "extra engines", MISSING, "pip install 'whyscan[engines]'"),
    ],
)
def test_a_package_that_is_gone_is_named_with_what_installs_it(
    gone, name, state, hint, monkeypatch, whyscan
):
    version = diagnosis._version
    monkeypatch.setattr(diagnosis, "_version", lambda p: None if p == gone else version(p))

    check = checks_of(catalogs=False)[name]

    assert (check.state, check.hint) == (state, hint)
    assert whyscan("doctor", "--no-catalogs").code == (state == PROBLEM)


def test_a_catalog_that_does_not_answer_is_a_problem(monkeypatch, whyscan):
    monkeypatch.setenv("PYICEBERG_CATALOG__NEARBY__URI", "http://127.0.0.1:9")

    done = whyscan("doctor", "--format", "json")

    checks = {check["name"]: check for check in json.loads(done.out)["checks"]}
    assert done.code == 1
    assert checks["nearby"]["state"] == PROBLEM
    assert "did not answer" in checks["nearby"]["detail"]


def test_credentials_are_named_and_never_shown(monkeypatch, whyscan):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "PLANTED-KEY")
    monkeypatch.setenv("AZURE_CLIENT_SECRET", "PLANTED-SECRET")

    for form in ("text", "json", "markdown", "html"):
        shown = whyscan("doctor", "--no-catalogs", "--format", form).out

        assert "PLANTED" not in shown
        assert "KEY" in shown
        assert "SECRET" in shown
