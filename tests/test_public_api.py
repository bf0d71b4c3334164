"""The doors of the Python API: every public name has a docstring, types and a short repr."""

from __future__ import annotations

import inspect
import subprocess
import sys
from enum import Enum

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
import whyscan.spark
import whyscan.testing
from support.lakes import users
from whyscan.demo.lake import write_lake
from whyscan.statement import explain_sql
from whyscan.table import Table
from whyscan.tree.types import INT, STRING, Field, Schema, StructType

ROOT = [name for name in whyscan.__all__ if name != "spark"]
ON_SPARK = list(whyscan.spark.__all__)
FUNCTIONS = {
    **{f"whyscan.{name}": getattr(whyscan, name) for name in ROOT},
    **{f"whyscan.spark.{name}": getattr(whyscan.spark, name) for name in ON_SPARK},
    "whyscan.testing.assert_prunes": whyscan.testing.assert_prunes,
}
LONGEST_REPR = 1_000
BOTH = "country = 'DE' AND age > 40"


def members(owner: type):
    """The methods and properties that a class of this package defines for its users."""
    for name, member in inspect.getmembers(owner):
        if name.startswith("_") or (issubclass(owner, Enum) and name in {"name", "value"}):
            continue
        function = member.fget if isinstance(member, property) else member
        if inspect.isfunction(function) and function.__module__.startswith("whyscan"):
            yield name, function


def callables():
    for name, thing in FUNCTIONS.items():
        if inspect.isclass(thing):
            yield from ((f"{name}.{member}", function) for member, function in members(thing))
        else:
            yield name, thing


CALLABLES = dict(callables())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_name_has_a_docstring(name):
    assert inspect.getdoc(FUNCTIONS[name]), name


@pytest.mark.parametrize("name", CALLABLES)
def test_every_parameter_and_result_has_a_type_that_is_not_any(name):
    signature = inspect.signature(CALLABLES[name])
    parameters = [p for p in signature.parameters.values() if p.name not in {"self", "cls"}]
    texts = [str(parameter.annotation) for parameter in parameters]

    assert inspect.Parameter.empty not in {parameter.annotation for parameter in parameters}
    assert signature.return_annotation is not inspect.Signature.empty
    assert [text for text in texts if "Any" in text] == []
    # Keywords are listed by name, so that `help` shows them.
    assert [p.name for p in parameters if p.kind is inspect.Parameter.VAR_KEYWORD] == []


@pytest.mark.parametrize(
    "name",
    [
        "whyscan.open",
        "whyscan.explain_sql",
        "whyscan.Table.explain",
        "whyscan.Table.plan",
        "whyscan.Table.scan",
        "whyscan.Table.diff",
        "whyscan.Table.stats",
        "whyscan.spark.audit",
        "whyscan.spark.verify",
        "whyscan.spark.read",
        "whyscan.spark.write_inventory",
        "whyscan.testing.assert_prunes",
    ],
)
def test_options_are_keyword_only_and_named_as_those_of_the_command_line(name):
    parameters = inspect.signature(CALLABLES[name]).parameters
    optional = [p for p in parameters.values() if p.default is not inspect.Parameter.empty]

    assert {p.name for p in optional if p.kind is not p.KEYWORD_ONLY} <= {"where", "tables"}
    assert not {"predicate", "predicates"} & set(parameters)
    # A second name of a parameter stands behind the plain name.
    assert ("columns" not in parameters) or ("select" in parameters)
    assert ("options" not in parameters) or ("storage" in parameters)


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("numbers")
    pq.write_table(pa.table({"x": [1, 2], "y": [3, 4]}), folder / "a.parquet")
    return folder


@pytest.mark.parametrize(
    ("method", "arguments", "seen"),
    [
        ("plan", ["x > 1"], lambda plan: plan.to_arrow().column_names),
        ("explain", ["x > 1"], lambda report: report.to_dict()["levels"]),
        ("scan", ["x > 1"], lambda rows: rows.schema.names),
        ("stats", [], lambda stats: [column.column for column in stats.columns]),
    ],
)
def test_columns_is_another_name_of_select(numbers, method, arguments, seen):
    ask = getattr(whyscan.open(numbers), method)

    assert seen(ask(*arguments, columns=["y"])) == seen(ask(*arguments, select=["y"]))
    assert seen(ask(*arguments, columns=["y"])) != seen(ask(*arguments))
    with pytest.raises(whyscan.UsageError, match="select and columns are one parameter"):
        ask(*arguments, select=["y"], columns=["y"])


def test_options_is_another_name_of_storage(numbers):
    assert whyscan.open(numbers, options={"cache": "off"}).schema.names() == ("x", "y")
    with pytest.raises(whyscan.UsageError, match="storage and options are one parameter"):
        whyscan.open(numbers, storage={}, options={})


def test_help_shows_the_names_and_their_parameters():
    program = "import whyscan; help(whyscan); help(whyscan.Table.explain)"
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout

    for word in ("UnknownColumn", "StatementReport", "assume_no_nan", "explain_sql"):
        assert word in shown


def test_importing_the_package_imports_no_heavy_part():
    heavy = {"pyarrow", "numpy", "sqlglot", "duckdb", "pyspark"}
    program = f"import sys, whyscan; print(sorted({heavy} & set(sys.modules)))"
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout

    assert shown.strip() == "[]"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'explian'"):
        whyscan.explian  # noqa: B018 - it raises
    with pytest.raises(AttributeError, match="no attribute 'adit'"):
        whyscan.spark.adit  # noqa: B018 - it raises


def test_a_type_checker_sees_the_types_of_results(tmp_path):
    file = tmp_path / "user.py"
    file.write_text(
        "import whyscan\n"
        "def read(table: whyscan.Table) -> whyscan.Report:\n"
        "    return table.explain('a = 1', select=['a'])\n"
        "def plan(table: whyscan.Table) -> whyscan.Plan:\n"
        "    return table.plan('a = 1')\n"
        "def wrong(report: whyscan.Report) -> whyscan.Nonsense: ...\n"
        "whyscan.open('t').explain('a = 1', colums=['a'])\n"
    )
    shown = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", str(file)],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    errors = [line for line in shown.splitlines() if ": error:" in line]

    assert len(errors) == 2, shown
    assert "Nonsense" in errors[0]
    assert "colums" in errors[1]


def results():
    table = Table(users())
    yield table
    yield table.plan(BOTH)
    yield table.explain(BOTH)
    yield table.stats()
    yield table.diff(table, BOTH)
    yield explain_sql(f"SELECT * FROM u WHERE {BOTH}", {"u": table})
    yield whyscan.UnknownColumn("x" * 10_000, hint="y" * 10_000, text="z" * 100_000)
    long = " AND ".join(f"age <> {number}" for number in range(1_000))
    yield table.plan(long)
    yield table.explain(long)


@pytest.fixture(scope="module")
def all_results():
    return list(results())


@pytest.mark.parametrize("number", range(9))
def test_a_repr_is_a_few_lines(all_results, number):
    result = all_results[number]

    assert type(result).__name__ in repr(result)
    assert len(repr(result)) <= LONGEST_REPR
    assert len(repr(result).splitlines()) <= 3


def test_a_table_names_its_format_and_its_version_or_snapshot(tmp_path):
    write_lake(tmp_path, force=False)

    assert repr(whyscan.open(tmp_path / "users")).endswith("/users': hive>")
    assert repr(whyscan.open(tmp_path / "users-delta")).endswith("': delta, version 2>")
    assert repr(whyscan.open(tmp_path / "archive")).endswith("': iceberg, snapshot 1>")


def test_the_repr_of_a_schema_names_the_first_columns_and_their_types():
    few = Schema((Field("country", STRING), Field("age", INT)))
    many = Schema(tuple(Field(f"c{at}", StructType((Field("x", INT),) * 50)) for at in range(500)))

    assert repr(few) == "<Schema of 'country' string, 'age' int>"
    assert len(repr(many)) <= LONGEST_REPR
    assert repr(many).endswith("… and 490 more>")


def test_printing_a_report_writes_the_whole_text():
    report = Table(users()).explain(BOTH)

    assert str(report).startswith("reads 1 of 6 files")
    assert "conjunct" in str(report)
    assert repr(report).startswith("<Report: reads 1 of 6 files")


def test_an_error_says_its_hint_once():
    error = whyscan.UnknownColumn("unknown column 'aeg'", hint="did you mean age?")

    assert str(error) == "unknown column 'aeg'\nhint: did you mean age?"
    assert repr(error) == "UnknownColumn(\"unknown column 'aeg'\", 'hint: did you mean age?')"
    assert str(whyscan.TableError("gone")) == "gone"


def test_a_difference_has_the_numbers_of_both_reports():
    table = Table(users())
    difference = table.diff(table, BOTH)

    assert (difference.before.files_level, difference.after.files_level) == (
        table.explain(BOTH).files_level,
    ) * 2
    assert difference.gated(0, 0).passed
