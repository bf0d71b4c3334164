"""`whyscan mcp`, asked by the client of the protocol's SDK."""

from __future__ import annotations

import asyncio
import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from support.commands import WHYSCAN, whyscan
from whyscan import agents
from whyscan.agents import Roots, server
from whyscan.cli.main import COMMANDS
from whyscan.demo.lake import write_lake
from whyscan.errors import UsageError

BOTH = "country = 'DE' AND age > 40"


def awaited(work):
    """What a coroutine function returns. The tests of pages leave a loop running in this thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(work())).result()


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("agents")
    write_lake(folder / "lake", force=False)
    (folder / "secret").mkdir()
    (folder / "link").symlink_to(folder / "secret")
    (folder / "lake" / "link").symlink_to(folder / "secret")
    return folder / "lake"


@pytest.fixture
def ask(lake):
    """One call of a tool in this process: whether it is an error, its text, its document."""

    def call(name, **arguments):
        async def called():
            async with Client(server([str(lake)])) as client:
                return await client.call_tool(name, arguments)

        result = awaited(called)
        return result.is_error, result.content[0].text, result.structured_content

    return call


def test_a_client_on_standard_input_lists_the_tools_and_gets_a_report(lake):
    async def session():
        parameters = StdioServerParameters(
            command=str(WHYSCAN), args=["mcp", str(lake)], env=dict(os.environ)
        )
        async with Client(stdio_client(parameters)) as client:
            tools = (await client.list_tools()).tools
            arguments = {"table": f"{lake}/users", "where": BOTH}
            return tools, await client.call_tool("explain", arguments)

    tools, result = awaited(session)

    assert [tool.name for tool in tools] == [
        "explain",
        "explain_sql",
        "stats",
        "diff",
        "describe",
        "advise",
        "audit_summary",
    ]
    assert all(tool.annotations.read_only_hint and tool.description for tool in tools)
    assert tools[0].input_schema["required"] == ["table", "where"]
    assert result.content[0].text.startswith("reads 1 of 6 files")
    assert result.structured_content["levels"][0]["kept"] == 1


@pytest.mark.parametrize(
    ("tool", "document", "arguments"),
    [
        ("explain", "report", {"table": "users", "where": BOTH}),
        ("stats", "stats", {"table": "users-flat", "columns": ["age"]}),
        ("diff", "diff", {"before": "users-flat", "after": "users", "where": BOTH}),
        ("describe", "describe", {"table": "users-delta", "versions": 1}),
    ],
)
def test_a_structured_result_is_the_document_of_the_command(ask, lake, tool, document, arguments):
    places = {n: f"{lake}/{v}" for n, v in arguments.items() if n in {"table", "before", "after"}}

    failed, text, structured = ask(tool, **arguments | places)

    schema = json.loads(whyscan("schema", document, cwd=".").out)
    assert not failed
    assert list(Draft202012Validator(schema).iter_errors(structured)) == []
    assert len(text) <= agents.LONGEST_TEXT


def test_a_statement_is_explained_with_its_tables(ask, lake):
    failed, text, structured = ask(
        "explain_sql",
        sql="SELECT * FROM users u JOIN flat f USING (id) WHERE u.age > 40",
        tables={"users": f"{lake}/users", "flat": f"{lake}/users-flat"},
    )

    assert not failed
    assert text.startswith("reads ")
    assert {scan["name"] for scan in structured["scans"]} == {"users", "flat"}


def test_advice_is_given_for_a_log(ask, lake):
    (lake / "log.csv").write_text("query,times\nSELECT id FROM flat WHERE age > 60,9\n")

    failed, _, structured = ask(
        "advise", workload=f"{lake}/log.csv", tables={"flat": f"{lake}/users-flat"}
    )

    assert not failed
    assert [table["table"] for table in structured["tables"]] == ["flat"]


def test_the_document_of_an_audit_is_summarised(ask, lake):
    queries = [{"sql": f"SELECT {n}", "times": n, "wasted": 1, "tables": []} for n in range(30)]
    audit = {"run": {"queries": 30}, "queries": queries, "actions": [{"saves": 5}]}
    (lake / "audit.json").write_text(json.dumps(audit))

    failed, _, structured = ask("audit_summary", document=f"{lake}/audit.json")

    assert not failed
    assert (structured["query_count"], len(structured["queries"])) == (30, 10)
    assert structured["actions"] == [{"saves": 5}]
    assert "tables" not in structured["queries"][0]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("explain", {"table": "{lake}/../secret", "where": "TRUE"}),
        ("explain", {"table": "{lake}/link", "where": "TRUE"}),
        ("explain", {"table": "file://{lake}/../secret", "where": "TRUE"}),
        ("explain", {"table": "{lake}2/users", "where": "TRUE"}),
        ("describe", {"table": "s3://bucket/t"}),
        ("describe", {"table": "prod.db.t"}),
        ("stats", {"table": "~/t"}),
        ("stats", {"table": "{lake}/*/../../secret"}),
        ("explain_sql", {"sql": "SELECT 1 FROM t", "tables": {"t": "/"}}),
        ("advise", {"workload": "/etc/passwd", "tables": {"t": "{lake}/users"}}),
        ("audit_summary", {"document": "/etc/passwd"}),
    ],
)
def test_what_is_below_no_root_is_refused(ask, lake, tool, arguments):
    def placed(value):
        if isinstance(value, dict):
            return {name: placed(entry) for name, entry in value.items()}
        return value.replace("{lake}", str(lake))

    failed, text, structured = ask(tool, **placed(arguments))

    assert (failed, structured) == (True, None)
    assert "is below no root of this server" in text


@pytest.mark.parametrize(
    ("root", "inside", "outside"),
    [
        ("s3://b/lake", "s3://b/lake/t", "s3://b/lake2/t"),
        ("s3://b/lake/", "s3://b/lake/*/x", "s3://b/lake/../t"),
        ("s3://b", "s3://b/any", "s3://b2/any"),
        ("prod", "prod.db.t", "prod2.db.t"),
        ("prod.db", "prod.db.t", "prod.db2.t"),
    ],
)
def test_a_root_is_compared_part_by_part(root, inside, outside):
    roots = Roots((root,))

    assert roots.require(inside) == inside
    with pytest.raises(UsageError, match="is below no root"):
        roots.require(outside)


@pytest.mark.parametrize("name", ["prod.db.t", "delta.`{lake}/../secret`", "`{lake}/users`"])
def test_a_statement_opens_no_table_by_itself_that_is_below_no_root(ask, lake, name):
    failed, text, _ = ask("explain_sql", sql=f"SELECT 1 FROM {name.format(lake=lake)}", tables={})

    assert failed
    assert "unknown table" in text


def test_an_error_has_its_hint_and_no_traceback(ask, lake):
    failed, text, structured = ask("explain", table=f"{lake}/users", where="agee > 40")

    assert (failed, structured) == (True, None)
    assert "unknown column 'agee'" in text
    assert "hint: " in text
    assert "Traceback" not in text


def test_an_answer_that_is_too_large_is_refused_and_a_long_text_is_cut(ask, lake, monkeypatch):
    monkeypatch.setattr(agents, "LONGEST_TEXT", 100)
    _, text, _ = ask("describe", table=f"{lake}/users")
    monkeypatch.setattr(agents, "LARGEST_DOCUMENT", 100)
    failed, refusal, structured = ask("describe", table=f"{lake}/users")

    assert text.endswith("… the structured result has the rest")
    assert (failed, structured) == (True, None)
    assert "100 are the limit" in refusal


def test_a_file_that_is_no_audit_is_refused(ask, lake):
    (lake / "other.json").write_text("[]")

    failed, text, _ = ask("audit_summary", document=f"{lake}/other.json")

    assert failed
    assert "is no document of an audit" in text


def test_the_skill_names_every_tool_and_only_commands_that_exist():
    skill = (Path(__file__).parents[1] / "SKILL.md").read_text("utf-8")
    page = (Path(__file__).parents[1] / "docs" / "commands" / "mcp.md").read_text("utf-8")

    tools = [name for name in vars(agents.Tools) if f"| `{name}`" in page]
    assert len(tools) == 7
    assert [name for name in tools if f"`{name}`" not in skill] == []
    assert set(re.findall(r"`whyscan (\w+)", skill)) <= set(COMMANDS)


def test_the_command_needs_a_root():
    done = whyscan("mcp", cwd=".")

    assert done.code == 2
    assert "Missing argument 'ROOT...'" in done.err


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("explain", {"table": "{lake}/users", "where": "country = '{secret}'"}),
        ("explain", {"table": "{lake}/users", "where": "nope = '{secret}'"}),
        ("explain", {"table": "{lake}/users", "where": "TRUE", "dialect": "{secret}"}),
        ("explain", {"table": "{secret}", "where": "TRUE"}),
        ("explain", {"where": "{secret}"}),
        ("explain", {"table": ["{secret}"], "where": "TRUE"}),
        ("explain_sql", {"sql": "SELECT * FROM delta.`{secret}`", "tables": {}}),
        ("explain_sql", {"sql": "SELECT * FROM t", "tables": {"t": "{secret}"}}),
        ("stats", {"table": "{lake}/users", "columns": ["{secret}"]}),
        ("diff", {"before": "{lake}/users", "after": "{secret}", "where": "TRUE"}),
        ("describe", {"table": "{lake}/users", "versions": "{secret}"}),
        ("advise", {"workload": "{secret}", "tables": {"t": "{lake}/users"}}),
        ("audit_summary", {"document": "{secret}"}),
        ("{secret}", {}),
    ],
)
@pytest.mark.parametrize("secret", ["https://u:sEcReT@host/t", "https://host/t?X-Amz-Token=sEcReT"])
def test_no_answer_has_a_credential(ask, lake, tool, arguments, secret):
    text = json.dumps([tool, arguments]).replace("{lake}", str(lake))
    tool, arguments = json.loads(text.replace("{secret}", secret))

    _, text, structured = ask(tool, **arguments)

    assert "sEcReT" not in f"{text}{json.dumps(structured)}"
