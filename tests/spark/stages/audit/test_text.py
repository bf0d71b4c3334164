"""The audit as people read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.audit_reports import audit, nothing, wasteful
from support.formats import text
from support.golden import golden
from whyscan.reports.text_layout import Page

GOLDEN = Path(__file__).parent / "golden"
AUDITS = {
    "whole": (audit, Page(), 20),
    "narrow": (audit, Page(width=60, unicode=False), 2),
    "nothing": (nothing, Page(), 20),
}


@pytest.mark.parametrize("name", AUDITS)
def test_the_text_is_as_it_was_last_read(name):
    made, page, shown = AUDITS[name]
    printed = text(made(), page, shown=shown)

    assert printed == golden(GOLDEN / f"{name}.txt", printed)
    assert max(map(len, printed.splitlines())) <= page.width


def test_names_and_queries_that_a_terminal_would_obey_are_inert():
    hostile = wasteful(sql="SELECT 1 -- \x1b[31m\n\x07", error="gone \x1b]0;x\x07")

    assert [c for c in text(audit(queries=(hostile,))) if not c.isprintable() and c != "\n"] == []
