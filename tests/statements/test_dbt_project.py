"""A dbt project: what its models read, how models are chosen, and what a change makes of them."""

from __future__ import annotations

import json

import pytest

import whyscan
from support.commands import whyscan as run
from support.dbt_projects import EUROPE, RECENT, SENIORS, model, shop, write_project
from whyscan.errors import UsageError


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dbt")
    run("demo", cwd=folder)
    return folder / "whyscan-demo"


@pytest.fixture
def tables(lake):
    return {
        "raw.users": lake / "users-delta",
        "raw.months": lake / "months",
        "mart.europe": lake / "users-delta",
    }


@pytest.fixture
def places(tables):
    return [word for name, path in tables.items() for word in ("--table", f"{name}={path}")]


def dbt(project, *words):
    return run("dbt", project, *words, cwd=project)


def read(report):
    return {model.name: model.reading.files_read for model in report.models}


def test_each_model_has_what_its_run_reads_and_the_others_a_reason(tmp_path, tables):
    report = whyscan.explain_dbt(write_project(tmp_path, shop()), tables)

    assert read(report) == {"europe": 4, "recent": 2, "seniors": 1}
    assert {one.name: (one.why, one.failed) for one in report.unexplained} == {
        "german_users": ("a view reads nothing when it is made", False),
        "guess": ("a model in Python has no SQL", False),
    }
    assert report.reading.files_total == 12 + 12 + 6


def test_an_incremental_model_is_the_merge_that_its_run_executes(tmp_path, tables):
    project = write_project(tmp_path, shop())

    (europe,) = whyscan.explain_dbt(project, tables, select=["europe"]).models
    (whole,) = whyscan.explain_dbt(project, tables, select=["europe"], full_refresh=True).models

    assert europe.statement.operation == "merge"
    assert europe.statement.notes[0] == "an incremental run of a dbt model, by the strategy merge"
    assert (whole.statement.sql, whole.reading.files_read) == (EUROPE, 2)


def test_a_view_of_the_project_is_read_through_whatever_its_readers_call_their_ctes(
    tmp_path, tables
):
    (seniors,) = whyscan.explain_dbt(
        write_project(tmp_path, shop()), tables, select=["seniors"]
    ).models

    assert "german_users as (select" in SENIORS
    assert [line.sql for line in seniors.statement.scans[0].report.conjuncts] == [
        "country = 'DE'",
        "age > 40",
    ]
    assert seniors.reading.files_read == 1


def test_views_of_views_are_created_in_the_order_of_their_use(tmp_path, tables):
    users = "`lake`.`raw`.`users`"
    inner = model("inner_view", f"select * from {users} where country = 'DE'", "view")
    outer = model(
        "outer_view",
        "select * from `lake`.`mart`.`inner_view` where age > 40",
        "view",
        depends_on={"nodes": ["model.shop.inner_view"]},
    )
    last = model(
        "last",
        "select * from `lake`.`mart`.`outer_view`",
        depends_on={"nodes": ["model.shop.outer_view"]},
    )

    report = whyscan.explain_dbt(write_project(tmp_path, [outer, last, inner]), tables)

    assert read(report) == {"last": 1}


def test_compiled_sql_is_read_from_the_target_folder_and_nowhere_else(tmp_path, tables):
    inside = model("recent", None, raw_code="{{ package.macro() }}")
    outside = model("other", None, original_file_path="../../../secret.sql")
    project = write_project(tmp_path / "shop", [inside, outside])
    compiled = project / "target" / "compiled" / "shop" / "models" / "marts"
    compiled.mkdir(parents=True)
    (compiled / "recent.sql").write_text(RECENT, "utf-8")
    (tmp_path / "shop" / "target" / "secret.sql").write_text(RECENT, "utf-8")

    report = whyscan.explain_dbt(project, tables)

    assert read(report) == {"recent": 2}
    assert [(one.name, one.why) for one in report.unexplained] == [
        ("other", "a model has no compiled SQL")
    ]


def test_a_model_that_was_not_compiled_is_rendered_from_its_own_text(tmp_path, tables):
    raw = "select id from {{ source('raw', 'months') }} where month >= 11"

    report = whyscan.explain_dbt(
        write_project(tmp_path, [model("recent", None, raw_code=raw)]), tables
    )

    assert read(report) == {"recent": 2}


def test_sql_that_was_compiled_without_its_incremental_part_is_noted(tmp_path, tables):
    raw = (
        "select id from x {% if is_incremental() %} "
        "where id > (select max(id) from {{ this }}) {% endif %}"
    )
    first = model("europe", EUROPE, "incremental", raw_code=raw)

    (europe,) = whyscan.explain_dbt(write_project(tmp_path, [first]), tables).models

    assert any("left the incremental part out" in note for note in europe.statement.notes)


def test_one_model_that_fails_does_not_stop_the_others(tmp_path, tables, places):
    nodes = [*shop(), model("lost", "select * from `lake`.`raw`.`nowhere`")]
    project = write_project(tmp_path, nodes)

    report = whyscan.explain_dbt(project, tables)
    done = dbt(project, *places)

    assert len(report.models) == 3
    assert [one.name for one in report.failed] == ["lost"]
    assert "there is no path lake.raw.nowhere" in report.failed[0].why
    assert done.code == 3
    assert "error: there is no path lake.raw.nowhere" in done.out


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["recent"], {"recent"}),
        (["rec*"], {"recent"}),
        (["marts"], {"europe", "recent", "seniors"}),
        (["shop.marts.seniors"], {"seniors"}),
        (["models/marts"], {"europe", "recent", "seniors"}),
        (["path:models/marts/europe.sql"], {"europe"}),
        (["tag:nightly"], {"recent"}),
        (["config.materialized:incremental"], {"europe"}),
        (["source:raw.months+"], {"recent"}),
        (["german_users+"], {"seniors"}),
        (["+seniors"], {"seniors"}),
        (["1+german_users"], set()),
        (["tag:nightly europe"], {"recent", "europe"}),
        (["marts,config.materialized:table"], {"recent", "seniors"}),
    ],
    ids=lambda words: " ".join(sorted(words)) or "none",
)
def test_models_are_selected_as_dbt_does(words, names, tmp_path, tables):
    report = whyscan.explain_dbt(write_project(tmp_path, shop()), tables, select=words)

    assert set(read(report)) == names


def test_excluded_models_are_left_out(tmp_path, tables):
    project = write_project(tmp_path, shop())

    assert set(read(whyscan.explain_dbt(project, tables, exclude=["tag:nightly"]))) == {
        "europe",
        "seniors",
    }


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("nowhere", "--select 'nowhere' names no model of shop"),
        ("@recent", "--select cannot read '@recent'"),
        ("owner:me", "--select cannot read 'owner:me'"),
        ("state:modified", "state:modified needs another manifest"),
    ],
)
def test_words_that_select_nothing_are_refused(word, message, tmp_path, tables):
    with pytest.raises(UsageError, match=message):
        whyscan.explain_dbt(write_project(tmp_path, shop()), tables, select=[word])


@pytest.fixture
def two_states(tmp_path):
    """Before, `recent` read one month, and its tables were those of another target."""
    before = [
        model(
            "recent",
            "select id, amount, month from `prod`.`raw`.`months` where month >= 12",
            relation_name="`prod`.`mart`.`recent`",
        ),
        model("seniors", SENIORS, depends_on={"nodes": ["model.shop.german_users"]}),
        *(one for one in shop() if one["name"] == "german_users"),
        model("dropped", "select 1 as x"),
    ]
    return write_project(tmp_path / "now", shop()), write_project(tmp_path / "before", before)


def test_two_manifests_are_compared_by_what_each_reads_of_todays_tables(two_states, tables):
    project, before = two_states

    report = whyscan.explain_dbt(project, tables, against=before)
    changes = {
        model.name: (model.change, model.before and model.before.files_read)
        for model in report.models
    }

    assert changes == {"europe": ("new", None), "recent": ("modified", 1), "seniors": ("same", 1)}
    assert report.removed == ("dropped",)


def test_a_model_that_only_another_target_names_otherwise_is_the_same(tmp_path, tables):
    project, other = (write_project(tmp_path / name, shop()) for name in "ab")
    manifest = other / "target" / "manifest.json"
    manifest.write_text(manifest.read_text("utf-8").replace("`lake`", "`prod`"), "utf-8")

    report = whyscan.explain_dbt(project, tables, against=other)

    assert {model.change for model in report.models} == {"same"}


def test_modified_models_are_selected_by_their_state(two_states, tables):
    project, before = two_states

    modified = whyscan.explain_dbt(project, tables, against=before, select=["state:modified"])
    new = whyscan.explain_dbt(project, tables, against=before, select=["state:new"])

    assert set(read(modified)) == {"europe", "recent"}
    assert set(read(new)) == {"europe"}


@pytest.mark.parametrize(
    ("gates", "code", "failed"),
    [
        (["--max-files", "4"], 0, set()),
        (["--max-files", "3"], 1, {"europe"}),
        (["--max-files", "recent=1"], 1, {"recent"}),
        (["--max-files", "recent=0", "--max-files", "9"], 1, {"recent"}),
        (["--min-pruning", "80"], 1, {"europe"}),
        (["--max-regression", "10"], 0, set()),
        (["--max-regression", "8"], 1, {"recent"}),
        (["--max-regression-bytes", "8"], 1, {"recent"}),
    ],
)
def test_a_gate_is_for_each_model_or_for_the_one_that_it_names(
    gates, code, failed, two_states, places
):
    project, before = two_states
    done = dbt(project, *places, "--against", before, *gates, "--format", "json")
    document = json.loads(done.out)

    def fails(model):
        outcomes = [*model["assertions"], *model["statement"]["assertions"]]
        return any(outcome["result"] == "fail" for outcome in outcomes)

    assert done.code == code
    assert {one["name"] for one in document["models"] if fails(one)} == failed
    assert document["result"] == ("fail" if code else "pass")


def test_a_failed_gate_is_placed_at_the_file_of_the_model(tmp_path, places):
    project = write_project(tmp_path, shop())

    sarif = dbt(project, *places, "--max-files", "recent=0", "--format", "sarif")
    junit = dbt(project, *places, "--max-files", "recent=0", "--format", "junit")

    (result,) = json.loads(sarif.out)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert (result["ruleId"], place) == ("gate/max_files", "models/marts/recent.sql")
    assert 'classname="recent" name="max_files"' in junit.out


@pytest.mark.parametrize("form", ["text", "markdown", "html", "json"])
def test_a_redacted_report_has_no_literal(form, tmp_path, places):
    done = dbt(write_project(tmp_path, shop()), *places, "--redact", "--format", form)

    assert done.code == 0
    assert "'DE'" not in done.out
    assert "&#39;DE&#39;" not in done.out


def test_a_baseline_holds_each_model(tmp_path, places):
    project, file = write_project(tmp_path, shop()), tmp_path / "baseline.json"

    assert dbt(project, *places, "--baseline", file, "--update-baseline").code == 0
    assert dbt(project, *places, "--baseline", file).code == 0
    assert len(json.loads(file.read_text("utf-8"))["questions"]) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "there is no manifest.json in"),
        ("{", "is not JSON"),
        ("[]", "is no manifest of dbt"),
        ('{"nodes": {"model.a.b": 3}}', "is no manifest of dbt"),
        ('{"nodes": {}, "sources": 3}', "is no manifest of dbt"),
    ],
)
def test_what_is_no_manifest_is_refused_with_its_path(text, message, tmp_path):
    if text is not None:
        (tmp_path / "manifest.json").write_text(text, "utf-8")

    done = dbt(tmp_path)

    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert "dbt compile writes target/manifest.json" in done.err


@pytest.mark.parametrize(
    ("adapter", "dialect"),
    [("trino", "trino"), ("athena", "athena"), ("glue", "spark"), ("unheard-of", "spark")],
)
def test_the_dialect_is_that_of_the_adapter(adapter, dialect, tmp_path, tables):
    nodes = [model("recent", "select id from lake.raw.months where month >= 11")]
    project = write_project(tmp_path, nodes, adapter)

    report = whyscan.explain_dbt(project, tables)

    assert (report.dialect, read(report)) == (dialect, {"recent": 2})
    assert whyscan.explain_dbt(project, tables, dialect="duckdb").dialect == "duckdb"
