"""Pages for everybody: the rules of WCAG that a machine can check, and contrast measured."""

from importlib.resources import files

import pytest
from msgspec.structs import replace

from support.audit_reports import audit
from support.formats import page as page_of
from support.lakes import users
from support.reports import explain
from support.statement_reports import joined
from whyscan.reports.gates import Gates, StatementGates
from whyscan.reports.stats import profile
from whyscan.spark.stages.audit.page import page as audit_page

pytestmark = pytest.mark.xdist_group("browser")

# axe looks at contrast for longer than at all the rest, and it is measured here.
RULES = """axe.run({
  rules: {"color-contrast": {enabled: false}},
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
  resultTypes: ["violations"],
}).then(({violations, passes}) => [passes.length, violations.flatMap(
  ({id, help, nodes}) => nodes.map(({html}) => `${id}: ${help} (${html.slice(0, 120)})`))])"""

# Every element with text of its own, against the first opaque background behind it.
CONTRAST = """() => {
  const paint = Object.assign(document.createElement("canvas"), {width: 1, height: 1})
    .getContext("2d", {willReadFrequently: true});
  const rgba = (colour) => {
    paint.clearRect(0, 0, 1, 1); paint.fillStyle = colour; paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const e of document.querySelectorAll("body *")) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    if (e.closest("script, noscript, [hidden], .unseen, .skip")) continue;
    if (!e.getClientRects().length) continue;
    const [a, b] = [luminance(rgba(getComputedStyle(e).color)), luminance(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    found.push([e.className || e.tagName, e.textContent.trim().slice(0, 30), ratio]);
  }
  return found;
}"""

# A swatch as a letter of its colour.
LETTERS = """() => { for (const swatch of document.querySelectorAll(".legend .swatch")) {
  swatch.style.color = getComputedStyle(swatch).backgroundColor;
  swatch.style.background = "none"; swatch.textContent = "."; } }"""


def complaints(page):
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    passed, problems = page.evaluate(RULES)
    assert passed > 20
    return problems


def faint(page, least=40):
    """Text without the contrast that WCAG asks for."""
    contrasts = page.evaluate(CONTRAST)
    assert len(contrasts) > least
    return [line for line in contrasts if line[2] < 4.5]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 480)])
def test_a_report_breaks_no_rule_and_its_text_and_colours_stand_out(show, scheme, width):
    predicate = "age > 40 AND upper(country) = 'DE' AND rand() < 1"
    report = explain(users(notes=("a note",)), predicate, verbose=True).gated(Gates(max_files=1))
    page = show(report, color_scheme=scheme, viewport={"width": width, "height": 900}).page
    page.locator("#row-0").click()

    assert complaints(page) == []
    assert faint(page) == []
    page.evaluate(LETTERS)
    swatches = [line for line in page.evaluate(CONTRAST) if line[0].startswith("swatch")]
    assert len(swatches) == 4
    assert [line for line in swatches if line[2] < 3] == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 480), ("dark", 1280)])
def test_a_profile_breaks_no_rule_and_its_text_stands_out(show, scheme, width):
    page = show(
        profile(users(), full=False),
        page_of,
        color_scheme=scheme,
        viewport={"width": width, "height": 900},
    ).page

    assert complaints(page) == []
    assert faint(page, 30) == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 480)])
def test_a_statement_breaks_no_rule_and_its_text_stands_out(show, scheme, width):
    gates = StatementGates(Gates(max_files=4), {"users": Gates(max_files=1)})
    report = replace(joined(verbose=True).gated(gates), notes=("a note",))
    page = show(report, page_of, color_scheme=scheme, viewport={"width": width, "height": 900}).page
    for folded in page.locator("details details summary").all():
        folded.click()

    assert complaints(page) == []
    assert faint(page, 60) == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 480), ("dark", 1280)])
def test_an_audit_breaks_no_rule_and_its_text_stands_out(show, scheme, width):
    page = show(
        audit(), audit_page, color_scheme=scheme, viewport={"width": width, "height": 900}
    ).page
    page.locator("#row-0").click()
    page.wait_for_selector("#query:not([hidden])")
    page.locator(".days + details summary").click()

    assert complaints(page) == []
    assert faint(page, 80) == []
