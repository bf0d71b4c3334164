"""No output of any command holds a credential that stands in a location.

Generated: commands x formats x places where a location can be written x kinds of credentials.
"""

import json
from itertools import product

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

SECRET = "sEcReT0123456789"
LOCATIONS = {
    "keys": f"s3://AKIAKEY:{SECRET}@bucket/t",
    "keys with a slash": f"s3://AKIAKEY:xx/{SECRET}@bucket/t",
    "password": f"https://user:{SECRET}@host/t",
    "azure": f"az://container/t?sv=1&sig={SECRET}",
    "signature": f"https://host/t?X-Amz-Signature={SECRET}&X-Amz-Date=1",
    "credential": f"https://host/t?X-Amz-Credential={SECRET}",
    "token": f"https://host/t?X-Amz-Security-Token={SECRET}",
    "google": f"gs://b/t?X-Goog-Signature={SECRET}",
    "jdbc user": f"jdbc:postgresql://u:{SECRET}@host/db",
    "jdbc password": f"jdbc:sqlserver://host;password={SECRET}",
    "path password": f"lake/t?password={SECRET}",
    "path token": f"lake/t?access_token={SECRET}",
    "path keys": f"s3//AKIAKEY:{SECRET}@bucket/t",
    "scheme": f"hdfs://user:{SECRET}@namenode/t",
}
FORMS = ("text", "json", "markdown", "html", "sarif", "junit")
REDACTED = ((), ("--redact",))

# Where a location is the table: each fails, and the error is all that is written.
AS_TABLE = {
    "explain TABLE": ("explain", "{}", "-w", "a = 1"),
    "explain two": ("explain", "urls", "{}", "-w", "url = 'x'"),
    "explain glob": ("explain", "{}/*.parquet", "-w", "a = 1"),
    "explain metadata": ("explain", "{}/metadata/v1.metadata.json", "-w", "a = 1"),
    "explain --table": ("explain", "--sql", "SELECT * FROM t", "--table", "t={}"),
    "explain --sql": ("explain", "--sql", "SELECT * FROM parquet.`{}` WHERE a = 1"),
    "explain delta": ("explain", "--sql", "SELECT * FROM delta.`{}` JOIN urls"),
    "explain name": ("explain", "--sql", "SELECT * FROM `{}`"),
    "explain duckdb": ("explain", "--sql", "FROM read_parquet('{}')", "--dialect", "duckdb"),
    "explain merge": ("explain", "--sql", "MERGE INTO delta.`{}` t USING s ON t.a = s.a"),
    "explain syntax": ("explain", "--sql", "SELECT * FROM parquet.`{}` WHERE ("),
    "explain command": ("explain", "--sql", "COPY INTO t FROM '{}'"),
    "explain unread": ("explain", "--sql", "CREATE EXTERNAL TABLE t LOCATION '{}'"),
    "explain dbt": ("explain", "--sql", "{{{{ config(x='{}') }}}} SELECT * FROM {{{{ nope( }}}}"),
    "explain predicate file": ("explain", "urls", "-w", "@{}"),
    "explain statement file": ("explain", "--sql", "@{}"),
    "explain baseline": ("explain", "urls", "-w", "url = 'x'", "--baseline", "{}"),
    "explain output": ("explain", "urls", "-w", "url = 'x'", "-o", "{}/x"),
    "explain unknown column": ("explain", "urls", "-w", "nope = '{}'"),
    "explain bad literal": ("explain", "urls", "-w", "n = '{}' AND n = DATE '{}'"),
    "explain option": ("explain", "urls", "-w", "url = 'x'", "--optoin", "{}"),
    "scan": ("scan", "{}", "-w", "a = 1"),
    "scan output": ("scan", "urls", "-w", "url = 'x'", "-o", "{}/x.csv"),
    "stats": ("stats", "{}"),
    "stats column": ("stats", "urls", "{}"),
    "diff": ("diff", "{}", "urls", "-w", "a = 1"),
    "diff other": ("diff", "urls", "{}", "-w", "url = 'x'"),
    "diff version": ("diff", "urls", "--from", "{}", "-w", "url = 'x'"),
    "no command": ("{}",),
    "explain --table without a name": ("explain", "--sql", "SELECT * FROM t", "--table", "{}"),
    "explain engine": ("explain", "urls", "-w", "n = 1", "--engine", "{}"),
    "explain layout": ("explain", "urls", "-w", "n = 1", "--layout", "{}"),
    "explain type": ("explain", "urls", "-w", "n = 1", "--partition-type", "{}"),
    "describe": ("describe", "{}"),
    "describe inventory": ("describe", "urls", "--inventory", "{}"),
    "describe version": ("describe", "urls", "--ref", "{}"),
    "describe time": ("describe", "urls", "--as-of", "{}"),
    "describe output": ("describe", "urls", "-o", "{}/x"),
    "ls": ("ls", "{}"),
    "ls namespace": ("ls", "{}.db"),
    "diff layout": ("diff", "urls", "--to-layout", "sort by '{}'", "-w", "n = 1"),
    "diff engine": ("diff", "urls", "urls", "--engine", "{}", "-w", "n = 1"),
    "advise": ("advise", "--workload", "{}", "--table", "urls=urls"),
    "advise table": ("advise", "--workload", "log.parquet", "--table", "urls={}"),
    "advise table without a name": ("advise", "--workload", "log.parquet", "--table", "{}"),
    "doctor": ("doctor", "--no-catalogs", "-o", "{}/x"),
    "schema": ("schema", "{}"),
}

# Where a location is a value: each works, and the report shows the value.
AS_VALUE = {
    "explain": ("explain", "urls", "-v", "-w", "url = '{}'"),
    "explain more": ("explain", "urls", "-v", "-w", "url > '{}' AND upper(url) = '{}' OR n = 1"),
    "explain list": ("explain", "urls", "-v", "-w", "url IN ('{}', 'https://b') AND n > 5"),
    "explain --sql": (
        "explain",
        "--sql",
        "SELECT * FROM u JOIN v ON u.n = v.n WHERE u.url LIKE '{}%' AND v.url = '{}'",
        "--table",
        "u=urls",
        "--table",
        "v=urls",
    ),
    "explain unread": ("explain", "urls", "-v", "-w", "soundex(url) = '{}'"),
    "explain --engine": ("explain", "urls", "--engine", "all", "-w", "url = '{}' OR n = 1"),
}
IN_FOUR_FORMATS = {
    "diff": ("diff", "urls", "urls", "-v", "-w", "url = '{}'"),
    "stats": ("stats", "urls"),
    "describe": ("describe", "urls"),
    "advise": ("advise", "--workload", "log.parquet", "--table", "urls=urls"),
}
# Of a workload; some cannot be read.
QUERIES = ("url = '{0}'", "url IN ('{0}', 'b') AND n = 3", "nope = '{0}'", "url = '{0}' AND (")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of which values and bounds are locations with credentials, and a log of queries."""
    folder = tmp_path_factory.mktemp("secrets")
    (folder / "urls").mkdir()
    for number, location in enumerate(LOCATIONS.values()):
        rows = pa.table({"url": [location, location + "x"], "n": [number, number + 1]})
        pq.write_table(rows, folder / "urls" / f"{number:02}.parquet")
    queries = [
        f"SELECT * FROM urls WHERE {query.format(location)}"
        for query, location in product(QUERIES, LOCATIONS.values())
    ]
    pq.write_table(pa.table({"query": queries}), folder / "log.parquet")
    return folder


def checked(run, folder):
    """The run, after a search of all that it wrote, in the folder as well."""
    assert SECRET not in run.out
    assert SECRET not in run.err
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix != ".parquet":
            assert SECRET.encode() not in path.read_bytes(), path
    return run


@pytest.mark.parametrize("kind", LOCATIONS)
@pytest.mark.parametrize("command", AS_TABLE)
def test_an_error_about_a_location_hides_its_credentials(whyscan, folder, command, kind):
    arguments = [word.format(*[LOCATIONS[kind]] * 2) for word in AS_TABLE[command]]

    run = checked(whyscan(*arguments, cwd=folder), folder)

    assert (run.code in {2, 3}, run.out) == (True, ""), run
    assert run.err.startswith("error: ")
    assert "whyscan itself failed" not in run.err


@pytest.mark.parametrize("kind", LOCATIONS)
@pytest.mark.parametrize(("command", "form", "redact"), list(product(AS_VALUE, FORMS, REDACTED)))
def test_a_report_about_a_location_hides_its_credentials(
    whyscan, folder, command, form, redact, kind
):
    arguments = [word.format(*[LOCATIONS[kind]] * 2) for word in AS_VALUE[command]]

    run = checked(whyscan(*arguments, "--format", form, *redact, cwd=folder), folder)

    assert run.code == 0, run.err
    assert run.out


CONFIGURED = (
    ("s3", f"aws_endpoint=http://user:{SECRET}@127.0.0.1:9", "aws_allow_http=true"),
    ("s3", f"aws_secret_acces_key={SECRET}"),
    ("s3", f"allow_http={SECRET}"),
    ("s3", f"timeout={SECRET}"),
    ("s3", SECRET),
    ("s3", f"aws_secret_access_key:{SECRET}"),
    ("s3", f"={SECRET}"),
    ("s3", f"max_retries={SECRET}"),
    ("az", f"azure_storage_account_key={SECRET}", "azure_storage_account_name=x y"),
    ("gs", f"google_service_account_key={SECRET}"),
    ("gs", f'google_service_account_key={{"private_key": "{SECRET}"}}'),
    ("gs", f"google_service_account={SECRET}"),
)


@pytest.mark.parametrize("words", CONFIGURED)
def test_an_error_about_an_option_hides_its_value(whyscan, folder, words, monkeypatch):
    for variable in ("HOME", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(variable, str(folder / "nowhere"))
    scheme, *options = words
    more = [word for option in (*options, "retry_timeout=0.1") for word in ("--option", option)]

    run = checked(whyscan("explain", f"{scheme}://b/t", "-w", "a = 1", *more, cwd=folder), folder)

    assert (run.code in {2, 3}, run.out) == (True, ""), run
    assert run.err.startswith("error: ")


# What PYICEBERG_CATALOG__CAT__… says of a catalog that does not answer.
CATALOGS = (
    {"URI": f"http://user:{SECRET}@127.0.0.1:9"},
    {"URI": f"http://127.0.0.1:9/?token={SECRET}"},
    {"URI": f"postgresql+psycopg2://u:{SECRET}@127.0.0.1:9/db"},
    {"URI": f"sqlite:////no/such/folder?password={SECRET}"},
    {"URI": f"thrift://u:{SECRET}@127.0.0.1:9"},
    {"URI": SECRET},
    {"URI": "http://127.0.0.1:9", "CREDENTIAL": f"id:{SECRET}"},
    {"URI": "http://127.0.0.1:9", "TOKEN": SECRET},
    {"URI": "http://127.0.0.1:9", "TYPE": SECRET},
    {"URI": "http://127.0.0.1:9", "PY_IO_IMPL": SECRET},
)


OF_A_CATALOG = {
    "explain": ("explain", "cat.db.t", "-w", "a = 1"),
    "describe": ("describe", "cat.db.t"),
    "diff": ("diff", "cat.db.t", "--from", "1", "-w", "a = 1"),
    "ls": ("ls", "cat"),
    "ls of a namespace": ("ls", "cat.db", "--format", "json"),
    "advise": ("advise", "--workload", "log.parquet", "--table", "urls=cat.db.t"),
}


@pytest.mark.parametrize("command", OF_A_CATALOG)
@pytest.mark.parametrize("catalog", CATALOGS)
def test_an_error_about_a_catalog_hides_its_configuration(
    whyscan, folder, catalog, command, monkeypatch
):
    for name, value in catalog.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__CAT__{name}", value)

    run = checked(whyscan(*OF_A_CATALOG[command], cwd=folder), folder)

    assert (run.code, run.out) == (3, "")
    assert run.err.startswith("error: ")
    assert "whyscan itself failed" not in run.err


@pytest.mark.parametrize("form", ["text", "json", "markdown", "html"])
@pytest.mark.parametrize("command", ["doctor", "ls"])
def test_a_list_of_catalogs_hides_their_configuration(whyscan, folder, command, form, monkeypatch):
    for number, catalog in enumerate(CATALOGS):
        for name, value in catalog.items():
            monkeypatch.setenv(f"PYICEBERG_CATALOG__CAT{number}__{name}", value)

    run = checked(whyscan(command, "--format", form, cwd=folder), folder)

    assert "cat0" in run.out


@pytest.mark.parametrize("kind", LOCATIONS)
def test_a_traceback_hides_credentials(whyscan, folder, monkeypatch, kind):
    def fail(text):
        raise RuntimeError(f"a bug about {text}")

    monkeypatch.setattr("whyscan.cli.options.read_predicate", fail)
    monkeypatch.setenv("WHYSCAN_TRACEBACK", "1")

    run = checked(whyscan("explain", "urls", "-w", LOCATIONS[kind], cwd=folder), folder)

    assert (run.code, run.out) == (3, "")
    assert "Traceback" in run.err
    assert "RuntimeError: a bug about" in run.err


@pytest.mark.parametrize("kind", ["keys", "azure", "jdbc password"])
@pytest.mark.parametrize("form", ["text", "json", "markdown", "html"])
@pytest.mark.parametrize("command", IN_FOUR_FORMATS)
def test_other_reports_hide_credentials(whyscan, folder, command, form, kind):
    arguments = [word.format(LOCATIONS[kind]) for word in IN_FOUR_FORMATS[command]]

    run = checked(whyscan(*arguments, "--format", form, cwd=folder), folder)

    assert run.code == 0, run.err


@pytest.mark.parametrize("kind", LOCATIONS)
def test_a_baseline_and_a_file_of_a_report_hide_credentials(whyscan, folder, kind, tmp_path):
    where = f"url = '{LOCATIONS[kind]}'"
    baseline, page = tmp_path / "baseline.json", tmp_path / "page.html"
    common = ("explain", "urls", "-w", where, "--baseline", baseline)

    first = whyscan(*common, "--update-baseline", "--format=html", "-o", page, cwd=folder)
    second = whyscan(*common, cwd=folder)

    assert (first.code, second.code) == (0, 0), first.err + second.err
    checked(second, tmp_path)
    assert page.exists()


def test_planning_uses_the_real_text(whyscan, folder):
    """The masked literal would match nothing; the real one is in exactly one file."""
    for location in LOCATIONS.values():
        run = whyscan("explain", "urls", "-w", f"url = '{location}'", "--format=json", cwd=folder)
        rows = whyscan("scan", "urls", "-w", f"url = '{location}'", "-s", "url", cwd=folder)

        assert json.loads(run.out)["levels"][0]["kept"] == 1
        assert location in rows.out.replace('""', '"'), "rows are the table's own data"
