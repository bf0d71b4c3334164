"""The rules of WCAG that a machine can check, by axe-core."""

from importlib.resources import files

import pytest

from lakes import users
from reports import explain
from whyscan.explain.gates import Gates
from whyscan.explain.stats import profile
from whyscan.explain.stats.page import page as stats_page

pytestmark = pytest.mark.xdist_group("browser")

# Contrast is most of the work, and test_page.py measures it exactly.
RULES = """axe.run({
  rules: {"color-contrast": {enabled: false}},
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
})"""


def complaints(page):
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    found = page.evaluate(RULES)
    assert len(found["passes"]) > 20
    return [
        f"{v['id']}: {v['help']} ({node['html'][:120]})"
        for v in found["violations"]
        for node in v["nodes"]
    ]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 480)])
def test_axe_has_nothing_against_the_report(show, scheme, width):
    report = explain(users(notes=("a note",)), "age > 40 AND rand() < 1", verbose=True)
    page = show(
        report.gated(Gates(max_files=1)),
        color_scheme=scheme,
        viewport={"width": width, "height": 900},
    ).page
    page.locator("#row-0").click()

    assert complaints(page) == []


def test_axe_has_nothing_against_the_profile(show):
    found = profile(users(notes=("a note",)), full=False)

    assert complaints(show(found, stats_page).page) == []
