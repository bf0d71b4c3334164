"""--baseline and --update-baseline."""

import json

import pytest

from whyscan.reports.baseline import same_sql, same_table


def test_from_the_command_line(whyscan, lake, tmp_path):
    file = tmp_path / "baseline.json"
    ask = ("explain", "users", "-w", "country = 'DE' AND age > 40", "--baseline", file)

    assert whyscan(*ask).code == 2
    assert whyscan(*ask, "--update-baseline").code == 0
    assert whyscan(*ask).code == 0
    baseline = json.loads(file.read_text())
    baseline["questions"][0]["pruned_files"] = 99.0
    file.write_text(json.dumps(baseline))
    failed = whyscan(*ask, "--format", "json")
    assert failed.code == 1
    baseline["exemptions"] = [
        {"table": "users", "gate": "baseline", "reason": "backfill", "until": "2999-01-01"}
    ]
    file.write_text(json.dumps(baseline))
    excused = whyscan(*ask)
    assert excused.code == 0
    assert "exempt until 2999-01-01: backfill" in " ".join(excused.out.split())
    assert whyscan("explain", "users", "-w", "age > 40", "--update-baseline").code == 2


SAME_SQL = (
    ("a = 1", "a=1"),
    ("a = 1", "  a  =\n 1 -- why"),
    ("a = 1 AND b IN (1, 2)", "a=1 and b in(1,2)"),
    ("a = 1", "(a = 1)"),
    ("a = 1 AND b = 2 AND c = 3", "a = 1 AND (b = 2 AND ((c = 3)))"),
    ("Age > 40", "`age` > 40"),
    ("a <> 1", "a != 1"),
    ("a IS NOT NULL", "a is not null"),
    ("nobodys(a) = TRUE", "NOBODYS(a) = true"),
    ("date_trunc('month', d) = DATE '2024-01-01'", "DATE_TRUNC('month', d) = date'2024-01-01'"),
    ("d > now() - INTERVAL 1 DAY", "d > NOW() - interval 1 day"),
    ("SELECT * FROM t WHERE a = 1", "select *\nfrom t where (a=1)"),
)
OTHER_SQL = (
    ("a = 'x'", "a = 'X'"),
    ("a = '1'", "a = 1"),
    ("a = r'x'", "a = r'X'"),
    ("a = true", "a = false"),
    ("a = 0", "a = 1"),
    ("a = NULL", "a = 0"),
    ("(a = 1 OR b = 2) AND c = 3", "a = 1 OR b = 2 AND c = 3"),
    ("NOT (a = 1 AND b = 2)", "NOT a = 1 AND b = 2"),
    ("a = 1", "a = 2"),
    ("a BETWEEN 1 AND 2", "a BETWEEN 2 AND 1"),
    ("a - (b - c) > 1", "a - b - c > 1"),
    ("a = 1 (", "a = 1"),
    ("a IN (1)", "NOT a IN (1)"),
    ("a = 'x  y'", "a = 'x y'"),
)


@pytest.mark.parametrize(("one", "other"), SAME_SQL)
def test_spellings_of_a_predicate_are_one_question(one, other):
    assert same_sql(one, other, "spark")


@pytest.mark.parametrize(("one", "other"), OTHER_SQL)
def test_other_predicates_are_other_questions(one, other):
    assert not same_sql(one, other, "spark")


def test_spellings_of_a_place_are_one_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spelled = (
        "t",
        "./t",
        "t/",
        "x/../t",
        f"{tmp_path}/t",
        f"file://{tmp_path}/t",
        f"file:{tmp_path}/t/",
    )

    assert all(same_table("t", other) for other in spelled)
    assert same_table("s3://b/t", "S3A://b/t/")
    assert same_table("t/a.parquet t/b.parquet", f"./t/a.parquet {tmp_path}/t/b.parquet")
    assert not same_table("t", "T")
    assert not same_table("s3://b/t", "s3://b/T")
    assert not same_table("s3://b/t", "b/t")


@pytest.mark.parametrize("table", ["./users", "users/", "{lake}/users", "file://{lake}/users"])
def test_another_spelling_is_the_same_entry_of_the_file(whyscan, lake, tmp_path, table):
    file = tmp_path / "baseline.json"
    with_file = ("--baseline", file)
    first = ("explain", "users", "-w", "country = 'DE' AND age > 40", *with_file)
    spelled = ("explain", table.format(lake=lake), "-w", "(COUNTRY='DE') and age>40", *with_file)

    assert whyscan(*first, "--update-baseline").code == 0
    written = file.read_text()
    assert whyscan(*spelled).code == 0
    assert whyscan(*spelled, "--update-baseline").code == 0
    assert file.read_text() == written
    baseline = json.loads(written)
    baseline["questions"][0]["pruned_files"] = 99.0
    baseline["exemptions"] = [
        {
            "table": str(lake / "users"),
            "predicate": "country='DE' AND (age > 40)",
            "gate": "baseline",
            "reason": "backfill",
            "until": "2999-01-01",
        }
    ]
    file.write_text(json.dumps(baseline))
    assert whyscan(*spelled).code == 0
