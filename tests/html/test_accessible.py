"""The rules of WCAG that a machine can check, by axe-core."""

from importlib.resources import files

import pytest

from lakes import users
from reports import explain
from whyscan.explain.gates import Gates

pytestmark = pytest.mark.xdist_group("browser")

RULES = "axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']})"


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 480)])
def test_axe_has_nothing_against_the_page(show, scheme, width):
    report = explain(users(notes=("a note",)), "age > 40 AND rand() < 1", verbose=True)
    page = show(
        report.gated(Gates(max_files=1)),
        color_scheme=scheme,
        viewport={"width": width, "height": 900},
    ).page
    page.locator("#row-0").click()

    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    found = page.evaluate(RULES)

    complaints = [
        f"{v['id']}: {v['help']} ({node['html'][:120]})"
        for v in found["violations"]
        for node in v["nodes"]
    ]
    assert complaints == []
    assert len(found["passes"]) > 20
