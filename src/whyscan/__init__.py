"""whyscan: the dry run for the lakehouse.

>>> import whyscan
>>> table = whyscan.open("./lake/events")
>>> report = table.explain("country = 'DE' AND age > 40")
>>> plan = table.plan("country = 'DE'", select=["id", "age"])
>>> whyscan.explain_sql("SELECT * FROM e JOIN u USING (id)", {"e": table, "u": "./lake/users"})

The types of results are exported for annotations. Every error derives from `WhyscanError`.
`whyscan.spark` has the functions that need a Spark session. Heavy parts are imported when they are
used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from whyscan.advising import advise
from whyscan.dbt import explain_dbt
from whyscan.errors import (
    AccessDenied,
    CorruptFile,
    EvaluationProblem,
    NoCondition,
    PredicateError,
    StorageError,
    SyntaxProblem,
    TableError,
    TextSpan,
    TooLarge,
    TypeProblem,
    UnknownColumn,
    UnknownTable,
    UsageError,
    WhyscanError,
)
from whyscan.statement import explain_sql
from whyscan.table import Table, open  # noqa: A004 - `whyscan.open` is the public name

if TYPE_CHECKING:
    from whyscan import spark
    from whyscan.layouts.advice import Advice
    from whyscan.layouts.layout import Layout
    from whyscan.planning.plan.file_scans import FileScan
    from whyscan.planning.plan.scan_plan import ScanPlan, ScanPlanSummary
    from whyscan.plans import Plan
    from whyscan.reports.description import Description
    from whyscan.reports.diff import Difference
    from whyscan.reports.findings import Finding
    from whyscan.reports.gates import Assertion, Gates, StatementGates
    from whyscan.reports.levels import Level
    from whyscan.reports.pushdown_tree import PushdownNode
    from whyscan.reports.report import Report
    from whyscan.reports.stats import TableStats
    from whyscan.statements.dbt.report import DbtReport
    from whyscan.statements.records import ScanReport, StatementReport
    from whyscan.tree.types import Field, Schema

__all__ = [
    "AccessDenied",
    "Advice",
    "Assertion",
    "CorruptFile",
    "DbtReport",
    "Description",
    "Difference",
    "EvaluationProblem",
    "Field",
    "FileScan",
    "Finding",
    "Gates",
    "Layout",
    "Level",
    "NoCondition",
    "Plan",
    "PredicateError",
    "PushdownNode",
    "Report",
    "ScanPlan",
    "ScanPlanSummary",
    "ScanReport",
    "Schema",
    "StatementGates",
    "StatementReport",
    "StorageError",
    "SyntaxProblem",
    "Table",
    "TableError",
    "TableStats",
    "TextSpan",
    "TooLarge",
    "TypeProblem",
    "UnknownColumn",
    "UnknownTable",
    "UsageError",
    "WhyscanError",
    "advise",
    "explain_dbt",
    "explain_sql",
    "open",
    "spark",
]

# The module of each result type. It is imported when the type is first used.
_MODULES = {
    "Advice": "whyscan.layouts.advice",
    "Assertion": "whyscan.reports.gates",
    "DbtReport": "whyscan.statements.dbt.report",
    "Description": "whyscan.reports.description",
    "Difference": "whyscan.reports.diff",
    "Field": "whyscan.tree.types",
    "FileScan": "whyscan.planning.plan.file_scans",
    "Finding": "whyscan.reports.findings",
    "Gates": "whyscan.reports.gates",
    "Layout": "whyscan.layouts.layout",
    "Level": "whyscan.reports.levels",
    "Plan": "whyscan.plans",
    "PushdownNode": "whyscan.reports.pushdown_tree",
    "Report": "whyscan.reports.report",
    "ScanPlan": "whyscan.planning.plan.scan_plan",
    "ScanPlanSummary": "whyscan.planning.plan.scan_plan",
    "ScanReport": "whyscan.statements.records",
    "Schema": "whyscan.tree.types",
    "StatementGates": "whyscan.reports.gates",
    "StatementReport": "whyscan.statements.records",
    "TableStats": "whyscan.reports.stats",
}

if not TYPE_CHECKING:  # A type checker that saw this function would accept every name.

    def __getattr__(name: str) -> object:
        if name == "spark":
            return import_module("whyscan.spark")
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_MODULES[name]), name)


def load_ipython_extension(shell: object) -> None:
    """Make the magics `%whyscan` and `%%whyscan`; `%load_ext whyscan` calls this."""
    from whyscan.notebook import register

    register(shell)


def __dir__() -> list[str]:
    return __all__
