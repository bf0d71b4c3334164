"""The page on the tables that the stages write names every column of each, in order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from whyscan.spark.stages.audit import history, result_tables
from whyscan.spark.stages.workload import frames, scans
from whyscan.tables.inventory.bounds import BOUND
from whyscan.tables.inventory.container_schema import CHUNK, COLUMN, CONTAINERS, TABLES

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"
SCHEMAS = {
    "containers": CONTAINERS,
    "containers.columns": COLUMN,
    "containers.columns.lower": BOUND,
    "containers.chunks": CHUNK,
    "tables": TABLES,
    "workload": frames.ROWS,
    "scans": scans.ROWS,
    "history": history.SCHEMA,
    "queries": result_tables.QUERIES,
    "findings": result_tables.FINDINGS,
}


def documented():
    """The first column of each section's table, by the section."""
    sections = re.split(r"^## (.+)$", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]
    return {
        title: re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
        for title, text in zip(sections[::2], sections[1::2], strict=True)
    }


def test_every_table_has_a_section():
    assert list(documented()) == list(SCHEMAS)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_section_has_the_columns_of_its_table(name):
    assert documented()[name] == [field.name for field in SCHEMAS[name]]
