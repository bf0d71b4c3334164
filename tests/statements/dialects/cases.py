"""Statements as data: a title, the scans that are expected, and the statement in each dialect.

== the title
orders o [amount, month]: o1a o1b
-- spark duckdb
SELECT …

A scan is the table's name, its alias, the columns that are read, and the files that are kept.
A line `# …` says something to who reads the cases.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "cases"
DIALECTS = ("spark", "trino", "duckdb", "snowflake", "bigquery", "postgres")
_SCAN = re.compile(r"(\w+) (\w+) \[(.*?)\]:(.*)")


@dataclass(frozen=True)
class Case:
    """One statement; `texts` by dialect."""

    title: str
    scans: Counter[tuple[str, str, tuple[str, ...], tuple[str, ...]]]
    texts: dict[str, str]

    def __str__(self) -> str:
        return self.title


def cases() -> list[Case]:
    """All of them, file by file."""
    all_cases = []
    for path in sorted(FOLDER.glob("*.sql")):
        all_cases += [
            _case(part) for part in re.split(r"^== ", path.read_text(), flags=re.MULTILINE)[1:]
        ]
    return all_cases


def _case(text: str) -> Case:
    head, *rest = re.split(r"^-- ", text, flags=re.MULTILINE)
    title, *lines = head.strip().splitlines()
    texts = {}
    for part in rest:
        names, sql = part.split("\n", 1)
        texts.update(dict.fromkeys(names.split(), sql.strip()))
    return Case(title, Counter(_scan(line) for line in lines if not line.startswith("#")), texts)


def _scan(line: str) -> tuple[str, str, tuple[str, ...], tuple[str, ...]]:
    matched = _SCAN.fullmatch(line)
    if matched is None:
        raise ValueError(f"this is no scan: {line}")
    name, alias, columns, files = matched.groups()
    return name, alias, tuple(filter(None, columns.split(", "))), tuple(files.split())
