"""Markdown: whole, and inert whatever a table or a predicate is called."""

import re

from support.formats import markdown
from support.lakes import delta_users, users
from support.memory_table import DataFile, MemoryTable, RowGroup
from support.reports import explain
from whyscan.reports.gates import Gates
from whyscan.reports.markdown import FILES_SHOWN, code, plain
from whyscan.tree.types import INT, STRING

BOTH = "country = 'DE' AND age > 40"


def tables(text):
    """Every table as rows of cells, an escaped bar being no end of a cell."""
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]


def test_the_answer_comes_first_then_levels_and_conjuncts():
    text = markdown(explain(delta_users(), BOTH))

    assert text.startswith("**reads 1 of 6 files (16.7 %)")
    assert ["`country = 'DE'`", "partition-safe", "exact", "4 files", "2 files"] in tables(text)
    cells = ["files", "removed 4 by partition, 1 by statistics; 4 of 24 rows"]
    assert cells in [row[:2] for row in tables(text)]
    assert "every file" not in text


def test_the_parts_of_an_or_the_overlap_and_the_rewrite_are_there():
    text = markdown(explain(delta_users(), "country = 'DE' OR age > 50"))

    assert ["↳ OR `country = 'DE'`", "partition-safe", "exact", "4 files", ""] in tables(text)
    assert "SELECT ... WHERE country = 'DE' UNION ALL" in text
    both = markdown(explain(delta_users(), BOTH))
    assert "partition values alone remove 4 files, statistics alone 3 files" in both


def test_gates_show_what_failed():
    text = markdown(explain(users(), BOTH).gated(Gates(max_files=0, min_pruning=50)))

    assert "❌ fail: max\\_files: 1, at most 0 asked" in text
    assert "✅ pass: min\\_pruning: 83.3 %, at least 50 % asked" in text


def test_files_are_listed_on_demand_and_counted_where_they_are_too_many():
    many = [DataFile(f"f{i}", {}, [RowGroup(1, {"n": (i, i)})]) for i in range(FILES_SHOWN + 5)]
    text = markdown(explain(MemoryTable({"n": INT}, many), "n = 7", verbose=True))

    assert "every file, 5 of 105 left out" in text
    assert sum(row[0].startswith("`f") for row in tables(text)) == FILES_SHOWN


def test_every_row_of_a_table_has_as_many_cells_as_its_head():
    name = "a|b`c"
    table = MemoryTable(
        {name: STRING}, [DataFile("p|`q`|r", {}, [RowGroup(1, {name: ("a", "b")})])]
    )
    text = markdown(explain(table, "`a|b``c` = 'x|y' OR `a|b``c` = '``'", verbose=True))

    for block in re.split(r"\n\n", text):
        assert len({len(row) for row in tables(block)}) <= 1


def test_text_is_shown_and_never_obeyed():
    assert plain("<b>*x*</b> [a](b) @all #1 ~~z~~") == (
        "\\<b\\>\\*x\\*\\</b\\> \\[a\\](b) @<!-- -->all \\#1 \\~\\~z\\~\\~"
    )
    assert plain("see https://x.y and www.z.com") == (
        "see https:<!-- -->//x.y and www<!-- -->.z.com"
    )
    assert plain("red \x1b[31m") == "red \\\\x1b\\[31m"


def test_a_fence_is_longer_than_the_fences_inside():
    assert code("a ``b`` c") == "```a ``b`` c```"
    assert code("`a`") == "`` `a` ``"
    assert code("a\nb") == "`a b`"
