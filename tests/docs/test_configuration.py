"""What the page on CI tells people to paste is what the action, the hooks and baselines take."""

from __future__ import annotations

import json
import re
from pathlib import Path

import yaml

from whyscan.reports.baseline import SCHEMA_VERSION, Key, covers, read_baseline

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "gates.md").read_text("utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_workflow_uses_inputs_and_outputs_that_the_action_has():
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    workflow, on_pull_requests, _, _ = blocks("yaml")
    step, _ = yaml.safe_load(workflow)
    _, commenting = yaml.safe_load(on_pull_requests)["jobs"]["whyscan"]["steps"]

    assert step["with"].keys() | commenting["with"].keys() <= action["inputs"].keys()
    assert set(re.findall(r"steps\.whyscan\.outputs\.(\w+)", workflow)) <= action["outputs"].keys()
    section = PAGE.partition("## GitHub Action")[2].partition("\n## ")[0]
    assert [name for name in action["inputs"] if f"`{name}`" not in section] == []
    assert [name for name in action["outputs"] if f"`{name}`" not in section] == []


def test_the_template_for_gitlab_has_the_inputs():
    spec, _ = yaml.safe_load_all((ROOT / "templates" / "whyscan.yml").read_text("utf-8"))
    _, _, included, _ = blocks("yaml")
    [template] = yaml.safe_load(included)["include"]

    assert template["remote"].endswith("/templates/whyscan.yml")
    assert template["inputs"].keys() <= spec["spec"]["inputs"].keys()


def test_the_hooks_are_those_of_the_manifest():
    manifest = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    *_, configuration = blocks("yaml")
    [repository] = yaml.safe_load(configuration)["repos"]

    assert [hook["id"] for hook in repository["hooks"]] == [hook["id"] for hook in manifest]


def test_the_exemption_is_accepted():
    [exemption] = map(json.loads, blocks("json"))
    baseline = {"schema_version": SCHEMA_VERSION, "exemptions": [exemption]}

    [agreed] = read_baseline(json.dumps(baseline), "docs").exemptions
    key = Key(exemption["table"], "any predicate", "spark", "UTC")
    assert covers(agreed, key, exemption["gate"])
