"""Names that try to be more than names: they are shown, and nothing of them is obeyed."""

import pytest

from support.formats import fragment
from support.formats import page as rendered
from support.markup import ELEMENTS, HARMLESS, LAST, MARKUP, NAMES, SEEN
from support.memory_table import DataFile, MemoryTable, RowGroup
from support.reports import explain
from whyscan.tree.types import STRING

pytestmark = pytest.mark.xdist_group("browser")


def table(names):
    """Each name as a column, a partition value, a path, a bound, and all of them as the table."""
    bounds = dict.fromkeys(names, ("", LAST))
    files = [
        DataFile(f"{name}/{name}.parquet", {"p": name}, [RowGroup(1, bounds)]) for name in names
    ]
    named = dict.fromkeys(names, STRING)
    return MemoryTable(
        {"p": STRING, **named},
        files,
        ("p",),
        footers_describe_files=False,
        uri=f"s3://lake/{''.join(names)}",
        notes=tuple(f"opened as {name}" for name in names),
    )


def predicate(names):
    """Each name as a column and as a literal; some rows of every file may match."""
    return " AND ".join(f"{_column(name)} <> {_literal(name)}" for name in names)


def _column(name):
    return "`" + name.replace("`", "``") + "`"


def _literal(name):
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


def report(names):
    return explain(table(names), predicate(names), verbose=True)


def see(page):
    """Every file is chosen, and every name found in what is shown of it."""
    for place, name in enumerate(NAMES):
        seen = SEEN.get(name, name)
        page.locator(f"#row-{place}").click()
        detail = page.locator(".detail").text_content()
        assert f"path{seen}/{seen}.parquet" in detail
        assert f"p={seen}" in detail
        assert page.locator(".chart h3").nth(place).text_content() == f"{seen} string"
        condition = page.locator("[aria-label=Conjuncts] tbody code").nth(place).text_content()
        assert ("'line para '" if "\n" in name else f"'{seen}'") in condition
    together = "".join(SEEN.get(name, name) for name in NAMES)
    assert page.locator(".question code").first.text_content() == f"s3://lake/{together}"


def test_names_are_seen_add_no_element_run_nothing_and_load_nothing(show):
    usual = show(report(HARMLESS)).page.evaluate(ELEMENTS)
    opened = show(report(NAMES))
    page = opened.page

    assert page.evaluate(ELEMENTS) == usual
    see(page)
    for canvas in page.locator("canvas").all():
        canvas.focus()
        page.keyboard.press("ArrowDown")
    assert opened.dialogs == []
    assert opened.console == []
    assert len(opened.requests) == 1
    wired = "[...document.querySelectorAll('*')].filter(e => e.onclick || e.onerror || e.onload)"
    assert page.evaluate(f"{wired}.length") == 0
    assert page.locator("a:not(.skip)").count() == 0


def test_a_notebook_shows_the_names_and_no_more(chromium):
    page = chromium.new_page()
    page.set_content(fragment(report(HARMLESS)))
    usual = page.evaluate(ELEMENTS)

    page.set_content(fragment(report(NAMES)))

    assert page.evaluate(ELEMENTS) == usual
    page.close()


def test_an_injected_script_would_not_run_either(chromium, tmp_path):
    """The second wall: were a name ever written raw, the policy of the page stops it."""
    place = tmp_path / "page.html"
    html = rendered(report(["harmless"]))
    place.write_text(html.replace("<h1>", f"<h1>{MARKUP}<script>document.title = 'owned'</script>"))
    page = chromium.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))

    page.goto(place.as_uri())

    assert page.title() == "s3://lake/harmless: whyscan"
    assert any("Content Security Policy" in text for text in complaints)
    page.close()
