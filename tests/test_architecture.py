"""The folder tree is the architecture: imports point upwards, and start-up stays light."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "whyscan"

# A folder imports only from folders before it.
STAGES = (
    "tree",
    "pruning",
    "predicate",
    "tables",
    "planning",
    "profiles",
    "reports",
    "scan",
    "statements",
    "layouts",
    "engines",
    "spark",
    "demo",
    "cli",
)
FACADE = frozenset(
    {
        "__init__",
        "__main__",
        "advising",
        "agents",
        "dbt",
        "diagnosis",
        "notebook",
        "plans",
        "pytest_plugin",
        "statement",
        "table",
        "testing",
    }
)
ROOTS = ("masking", "errors", "fields", "terms", "configuration")
"""Modules that every folder may import; each imports only those before it."""

# Each costs a command that does not need it a tenth of a second or more.
HEAVY = (
    "datafusion",
    "duckdb",
    "jinja2",
    "mcp",
    "pandas",
    "pyarrow.dataset",
    "pyiceberg",
    "pyspark",
    "rich",
    "sqlglot.optimizer.optimizer",
    "sqlglot.optimizer.qualify",
)

VAGUE_NAMES = frozenset({"common", "helper", "helpers", "info", "manager", "misc", "util", "utils"})
LONGEST_FUNCTION = 50
LONGEST_FILE = 500


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def part_of(module: tuple[str, ...]) -> str:
    """The part of the package a dotted name belongs to: a stage, a root or `facade`."""
    match module:
        case ("whyscan",):
            return "facade"
        case ("whyscan", name, *_):
            return name if name in {*STAGES, *ROOTS} else "facade"
        case _:
            return "outside"


def module_of(path: Path) -> tuple[str, ...]:
    parts = ("whyscan", *path.relative_to(PACKAGE).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "__init__" else parts


def imported(tree: ast.AST, package: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Line and dotted name of every import, lazy ones and those for types included."""
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                for alias in node.names:
                    yield node.lineno, tuple(alias.name.split("."))
            case ast.ImportFrom():
                above = package[: len(package) + 1 - node.level] if node.level else ()
                base = (*above, *(node.module.split(".") if node.module else ()))
                for alias in node.names:
                    yield node.lineno, (*base, alias.name)


def allowed(importer: str, target: str) -> bool:
    """The direction: outside and the roots are free, `cli` sees the facade, a stage looks up."""
    if target in {"outside", importer} or importer == "facade":
        return True
    if importer in ROOTS:
        return target in ROOTS[: ROOTS.index(importer)]
    if target == "facade":
        return importer == "cli"
    return target in ROOTS or STAGES.index(target) < STAGES.index(importer)


def wrong_imports(source: str, module: tuple[str, ...], *, is_package: bool) -> list[str]:
    package = module if is_package else module[:-1]
    importer = part_of(module)
    return [
        f"{'.'.join(module)}:{line} imports {'.'.join(name)}"
        for line, name in imported(ast.parse(source), package)
        if not allowed(importer, part_of(name))
    ]


def test_every_import_points_to_an_earlier_stage():
    wrong = [
        complaint
        for path in sources()
        for complaint in wrong_imports(
            path.read_text("utf-8"), module_of(path), is_package=path.name == "__init__.py"
        )
    ]

    assert wrong == []


@pytest.mark.parametrize(
    ("module", "source", "wrong"),
    [
        ("whyscan.pruning.evaluate", "from whyscan.tree.nodes import And", False),
        ("whyscan.pruning.evaluate", "from whyscan.errors import WhyscanError", False),
        ("whyscan.pruning.evaluate", "from whyscan import errors", False),
        ("whyscan.pruning.evaluate", "from .truth import Truth", False),
        ("whyscan.pruning.evaluate", "import pyarrow", False),
        ("whyscan.table", "from whyscan.spark import session", False),
        ("whyscan.cli.main", "import whyscan", False),
        ("whyscan.pruning.evaluate", "from whyscan.tables.snapshot import Snapshot", True),
        ("whyscan.pruning.evaluate", "from whyscan import tables", True),
        ("whyscan.pruning.evaluate", "from ..tables import snapshot", True),
        ("whyscan.pruning.evaluate", "def f():\n    import whyscan.cli", True),
        ("whyscan.pruning.evaluate", "from whyscan import open", True),
        ("whyscan.spark.audit", "from whyscan.table import Table", True),
        ("whyscan.errors", "from whyscan.masking import MASK", False),
        ("whyscan.errors", "from whyscan.tree import nodes", True),
        ("whyscan.masking", "from whyscan.errors import WhyscanError", True),
    ],
)
def test_import_direction_is_noticed_in_every_spelling(module, source, wrong):
    complaints = wrong_imports(source, tuple(module.split(".")), is_package=False)

    assert bool(complaints) is wrong, complaints


def spark_part_of(module: tuple[str, ...]) -> str | None:
    """The sub-package of `spark/` that a dotted name belongs to; `shared` for its own modules."""
    match module:
        case ("whyscan", "spark", "stages", name, *_):
            return name
        case ("whyscan", "spark", ("plans" | "reading") as name, *_):
            return name
        case ("whyscan", "spark", _, *_):
            return "shared"
        case _:
            return None


# Each imports only from those on lines above it.
SPARK_PARTS = (
    {"shared"},
    {"plans", "reading"},
    {"inventory", "workload"},
    {"inputs"},
    {"audit", "verify", "advise"},
)


def wrong_imports_in_spark(source: str, module: tuple[str, ...], *, is_package: bool) -> list[str]:
    line_of = {part: at for at, parts in enumerate(SPARK_PARTS) for part in parts}
    package = module if is_package else module[:-1]
    importer = spark_part_of(module)
    return [
        f"{'.'.join(module)}:{line} imports {'.'.join(name)}"
        for line, name in imported(ast.parse(source), package)
        if (target := spark_part_of(name)) not in {None, importer}
        and line_of[target] >= line_of[importer]
    ]


def test_the_parts_of_spark_import_no_part_beside_or_behind_them():
    """So there is no circle; audit and verify share what lies below both."""
    door = {PACKAGE / "spark" / "__init__.py"}
    wrong = [
        complaint
        for path in sorted({*(PACKAGE / "spark").rglob("*.py")} - door)
        for complaint in wrong_imports_in_spark(
            path.read_text("utf-8"), module_of(path), is_package=path.name == "__init__.py"
        )
    ]

    assert wrong == []


@pytest.mark.parametrize(
    ("module", "source", "wrong"),
    [
        ("spark.stages.audit.run", "from whyscan.spark.stages.workload.query import Query", False),
        ("spark.stages.audit.run", "from whyscan.spark.stages.audit import history", False),
        ("spark.stages.audit.run", "from whyscan.spark import jobs", False),
        ("spark.stages.audit.run", "from whyscan.tables import snapshot", False),
        ("spark.stages.audit.run", "from whyscan.spark.stages import verify", True),
        ("spark.stages.workload.scans", "from whyscan.spark.stages.audit import totals", True),
        ("spark.stages.workload.scans", "from ..inventory.rows import SCHEMA", True),
        ("spark.jobs", "def f():\n    from whyscan.spark.plans import catalyst", True),
    ],
)
def test_a_circle_between_parts_of_spark_is_noticed(module, source, wrong):
    names = ("whyscan", *module.split("."))
    complaints = wrong_imports_in_spark(source, names, is_package=False)

    assert bool(complaints) is wrong, complaints


def test_every_folder_and_root_module_is_a_known_part():
    folders = {path.parent.name for path in PACKAGE.glob("*/*.py")}
    modules = {path.stem for path in PACKAGE.glob("*.py")}

    assert folders - set(STAGES) == set()
    assert modules - set(ROOTS) - FACADE == set()


def test_no_file_or_folder_has_a_vague_name():
    names = {path: module_of(path)[1:] for path in sources()}
    vague = [path for path, parts in names.items() if VAGUE_NAMES & {p.strip("_") for p in parts}]

    assert vague == []


def test_every_file_is_short():
    lengths = {
        str(p.relative_to(PACKAGE)): len(p.read_text("utf-8").splitlines()) for p in sources()
    }

    assert {name: n for name, n in lengths.items() if n > LONGEST_FILE} == {}


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from `def` to the end, the docstring not counted."""
    lines = function.end_lineno - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None:
        lines -= first.end_lineno - first.lineno + 1
    return lines


def test_every_function_fits_on_a_screen():
    lengths = {
        f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}": body_lines(node)
        for path in sources()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }

    assert {name: n for name, n in lengths.items() if n > LONGEST_FUNCTION} == {}


@pytest.mark.parametrize("module", ["whyscan", "whyscan.cli.main"])
def test_importing_loads_nothing_heavy(module):
    code = f"import sys, {module}; print(*sorted(sys.modules.keys() & set({HEAVY!r})))"

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (run.stdout.split(), run.stderr) == ([], "")


# A name says what is in it: these say only where it came from (ARCHITECTURE.md, "Glossary").
RETIRED_WORDS = frozenset(
    {
        "alike",
        "asked",
        "beforehand",
        "besides",
        "found",
        "given",
        "ground",
        "held",
        "here",
        "judged",
        "known",
        "manner",
        "nobody",
        "somebody",
        "stored",
        "told",
        "whoever",
    }
)

# Where they stand for a noun, that is: in a test's name they may be the verb of a sentence.
VERBS = frozenset({"asked", "found", "given", "held", "here", "judged", "known", "stored"})
WRITTEN = ("src", "tests", "bench", "action", "requirements")


def identifiers(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of every class, function, parameter, variable and field that is defined."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.lineno, node.name
            case ast.arg():
                yield node.lineno, node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.lineno, node.id
            case _:
                continue


def words_of(name: str) -> set[str]:
    """`knownTypes`, `known_types` and `KnownTypes` are made of `known` and `types`."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def has_a_retired_word(name: str) -> bool:
    """The name of a test is a sentence: there a participle is a verb ("a column is found")."""
    words = RETIRED_WORDS & words_of(name)
    return bool(words - VERBS if name.startswith("test_") else words)


def test_no_identifier_and_no_file_has_a_retired_word():
    root = PACKAGE.parents[1]
    files = sorted(path for folder in WRITTEN for path in (root / folder).rglob("*.py"))
    names = [
        f"{path.relative_to(root)}:{line} {name}"
        for path in files
        for line, name in identifiers(tree_of(path))
        if has_a_retired_word(name)
    ]
    paths = {path.relative_to(root) for path in files}
    places = {str(part) for path in paths for part in (path.with_suffix(""), *path.parents)}

    assert names + [place for place in sorted(places) if has_a_retired_word(Path(place).name)] == []


QUOTED = re.compile(r"/\*.*?\*/|//[^\n]*|`[^`]*`|\"[^\"\n]*\"|'[^'\n]*'", re.DOTALL)
CSS_CLASS = re.compile(r"[.#]([A-Za-z][\w-]*)(?=[^{}]*\{)")
PYTHON_BLOCK = re.compile(r"^```python[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)


def names_in_assets() -> Iterator[tuple[str, str]]:
    """File and name: the identifiers of the pages' scripts, and the classes of their styles."""
    for path in sorted(PACKAGE.rglob("*.js")):
        code = QUOTED.sub("", path.read_text("utf-8"))
        yield from ((path.name, name) for name in re.findall(r"[A-Za-z_]\w*", code))
    for path in sorted(PACKAGE.rglob("*.css")):
        style = QUOTED.sub("", path.read_text("utf-8"))
        yield from ((path.name, name) for name in CSS_CLASS.findall(style))


def names_in_docs() -> Iterator[tuple[str, str]]:
    """File and name: what the examples of the documentation define."""
    root = PACKAGE.parents[1]
    for path in sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")]):
        for block in PYTHON_BLOCK.findall(path.read_text("utf-8")):
            yield from ((path.name, name) for _, name in identifiers(ast.parse(block)))


@pytest.mark.parametrize("names", [names_in_assets, names_in_docs])
def test_no_name_of_a_page_and_of_an_example_is_a_retired_word(names):
    defined = sorted(set(names()))

    assert len(defined) > 20
    assert [name for name in defined if has_a_retired_word(name[1])] == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("found", {"found"}),
        ("_is_told", {"is", "told"}),
        ("StoredColumn", {"stored", "column"}),
        ("foundation", {"foundation"}),
        ("unknown_column", {"unknown", "column"}),
    ],
)
def test_a_name_is_taken_apart_into_its_words(name, words):
    assert words_of(name) == words


@pytest.mark.parametrize(
    ("name", "retired"),
    [
        ("found", True),
        ("AskedTable", True),
        ("test_a_column_is_found_by_its_id", False),
        ("test_what_is_told_to_the_reader", True),
    ],
)
def test_a_retired_word_may_be_a_verb_in_the_name_of_a_test(name, retired):
    assert has_a_retired_word(name) is retired


def test_every_class_name_is_there_once():
    places: dict[str, list[str]] = {}
    for path in sources():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))

    assert {name: files for name, files in places.items() if len(files) > 1} == {}


GUIDE = (PACKAGE.parents[1] / "ARCHITECTURE.md").read_text("utf-8")


def test_the_glossary_has_at_most_forty_words():
    glossary = GUIDE.split("## Glossary")[1].split("\n## ")[0]
    words = re.findall(r"^\| (?!word |---)([^|]+) \|", glossary, re.MULTILINE)

    assert 20 < len(words) <= 40, words
    assert len(words) == len(set(words))


def test_every_file_that_the_architecture_names_exists():
    top = PACKAGE.parents[1]
    folders = [PACKAGE, *(path for path in PACKAGE.rglob("*") if path.is_dir()), top]
    named = re.findall(r"`([\w/.*]+\.(?:py|md|j2|yml))`", GUIDE)

    assert [name for name in named if not any(any(f.glob(name)) for f in folders)] == []


def doors() -> dict[tuple[str, ...], frozenset[str]]:
    """By package what others may import from it: its `__all__`, as it is written."""
    exports = {}
    for path in PACKAGE.rglob("__init__.py"):
        names: frozenset[str] = frozenset()
        for node in tree_of(path).body:
            match node:
                case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                    names = frozenset(ast.literal_eval(value))
        exports[module_of(path)] = names | BEHIND_THE_API.get(module_of(path), frozenset())
    return exports


# What users import from here is its `__all__`; other packages import these modules, too.
BEHIND_THE_API = {
    ("whyscan", "spark"): frozenset(
        {"pinned_tables", "planning", "reading", "sessions", "stages", "tables", "versions"}
    )
}
DOORS = doors()


def through_doors(name: tuple[str, ...], importer: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The packages that an import enters from outside, each with the name that it takes there."""
    for end in range(1, len(name)):
        if name[:end] in DOORS and importer[:end] != name[:end]:
            yield name[: end + 1]


def imports_past_doors(source: str, module: tuple[str, ...], *, is_package: bool) -> list[str]:
    package = module if is_package else module[:-1]
    return [
        f"{'.'.join(module)}:{line} imports {entered[-1]}, which is not in `__all__` of"
        f" {'.'.join(entered[:-1])}"
        for line, name in imported(ast.parse(source), package)
        for entered in through_doors(name, module)
        if entered[-1] not in DOORS[entered[:-1]]
    ]


def test_other_packages_import_only_what_a_package_exports():
    wrong = [
        complaint
        for path in sources()
        for complaint in imports_past_doors(
            path.read_text("utf-8"), module_of(path), is_package=path.name == "__init__.py"
        )
    ]

    assert wrong == []


@pytest.mark.parametrize(
    ("module", "source", "wrong"),
    [
        ("whyscan.scan.rows", "from whyscan.pruning.functions import apply", False),
        ("whyscan.scan.rows", "from whyscan.pruning import mask", False),
        ("whyscan.pruning.functions.rules", "from whyscan.pruning.functions import table", False),
        ("whyscan.scan.rows", "from whyscan.pruning.functions import table", True),
        ("whyscan.scan.rows", "from whyscan.tables.delta.log import LOG", True),
        ("whyscan.scan.rows", "def f():\n    import whyscan.tables.delta.log", True),
    ],
)
def test_an_import_past_a_door_is_noticed(module, source, wrong):
    complaints = imports_past_doors(source, tuple(module.split(".")), is_package=False)

    assert bool(complaints) is wrong, complaints


def test_every_module_that_a_package_exports_is_imported_by_another():
    used = {
        entered
        for path in sources()
        for _, name in imported(
            tree_of(path),
            module_of(path) if path.name == "__init__.py" else module_of(path)[:-1],
        )
        for entered in through_doors(name, module_of(path))
    }
    exported = {
        (*package, name)
        for package, names in DOORS.items()
        for name in names
        if package != ("whyscan",)
    }
    modules = {module_of(path) for path in sources()}

    assert {".".join(name) for name in (exported & modules) - used} == set()


# Parts of one package that import each other, and why they may. Types do not count.
CIRCLES = {
    "spark.stages.verify: result, view": "a report is written by the view behind it",
}


def run_time_imports(path: Path) -> Iterator[tuple[str, ...]]:
    """Every import that runs, be it late; those for types alone do not."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                node.body = []
    package = module_of(path) if path.name == "__init__.py" else module_of(path)[:-1]
    for _, name in imported(tree, package):
        yield name


def parts_that_import_each_other(edges: Iterable[tuple[str, str]]) -> list[str]:
    """The groups of names of which each leads to each, as text."""
    reached: dict[str, set[str]] = {}
    for start, end in edges:
        reached.setdefault(start, set()).add(end)
    grown = True
    while grown:
        before = sum(map(len, reached.values()))
        for ends in reached.values():
            ends |= {far for end in ends for far in reached.get(end, ())}
        grown = sum(map(len, reached.values())) > before
    groups = {
        frozenset(other for other in ends if name in reached.get(other, ()))
        for name, ends in reached.items()
        if name in ends
    }
    return sorted(", ".join(sorted(group)) for group in groups)


def test_the_parts_of_a_package_import_each_other_only_where_it_says_why():
    edges: dict[tuple[str, ...], set[tuple[str, str]]] = {}
    for path in sources():
        importer = module_of(path)
        for name in run_time_imports(path):
            for end in range(2, min(len(importer), len(name))):
                package, start, target = name[:end], importer[end], name[end]
                if importer[:end] == package and package in DOORS and start != target:
                    edges.setdefault(package, set()).add((start, target))

    circles = {
        f"{'.'.join(package[1:])}: {group}"
        for package, pairs in edges.items()
        for group in parts_that_import_each_other(pairs)
    }
    assert circles == set(CIRCLES)


@pytest.mark.parametrize(
    ("edges", "groups"),
    [
        ([("a", "b"), ("b", "c")], []),
        ([("a", "b"), ("b", "a"), ("b", "c")], ["a, b"]),
        ([("a", "b"), ("b", "c"), ("c", "a"), ("d", "e"), ("e", "d")], ["a, b, c", "d, e"]),
    ],
)
def test_circles_are_found_by_their_members(edges, groups):
    assert parts_that_import_each_other(edges) == groups


FORMATS = frozenset({"delta", "deltalake", "hive", "iceberg"})
# Where the name of a format may stand outside of `tables/`.
NAMES_FORMATS = {
    "demo": "it writes a lake of all formats",
    "spark": "Spark's settings, plans and logs name the format of a table",
    "profiles": "engines are named by the formats that they read",
    "planning/why/engine_words.py": "an engine is named by the format that it reads",
    "reports/diff/view.py": "a delta is a difference there",
    "statement.py": "Delta counts versions, Iceberg names snapshots",
}


def test_only_the_readers_of_tables_name_formats():
    places = {
        path.relative_to(PACKAGE)
        for path in sources()
        for name in (path.stem, *(n for _, n in identifiers(tree_of(path))))
        if FORMATS & words_of(name)
    }
    elsewhere = {path for path in places if path.parts[0] != "tables"}
    excused = {path for path in elsewhere if {path.parts[0], path.as_posix()} & set(NAMES_FORMATS)}
    reasons = {part for path in excused for part in (path.parts[0], path.as_posix())}

    assert sorted(map(str, elsewhere - excused)) == []
    assert set(NAMES_FORMATS) - reasons == set(), "no name of a format is there any more"


# Assets that stand in the pages of two modules.
SHARED_ASSETS = frozenset({"grid.js", "numbers.js", "stats.css"})


def test_every_asset_is_read_by_one_module_or_by_templates():
    assets = [
        path
        for path in PACKAGE.rglob("*")
        if path.suffix in {".css", ".html", ".j2", ".js"} and path.is_file()
    ]
    templates = {path: path.read_text("utf-8") for path in assets if path.suffix == ".j2"}
    texts = {
        path: {
            node.value
            for node in ast.walk(tree_of(path))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        for path in sources()
    }
    owners = {
        asset.name: [str(path.relative_to(PACKAGE)) for path in texts if asset.name in texts[path]]
        for asset in assets
    }
    included = {
        asset.name
        for asset in assets
        for other, text in templates.items()
        if other != asset and f'"{asset.name}"' in text
    }

    assert [name for name in owners if not owners[name] and name not in included] == []
    assert {name for name, readers in owners.items() if len(readers) > 1} == SHARED_ASSETS


def test_every_folder_of_tests_has_a_counterpart_or_is_said_to_cut_across():
    tests = PACKAGE.parents[1] / "tests"
    folders = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")} - {Path()}
    text = (PACKAGE.parents[1] / "CONTRIBUTING.md").read_text("utf-8")
    across = {Path(name) for name in re.findall(r"^\| `tests/([\w/]+)` \|", text, re.MULTILINE)}
    mirrored = {
        folder
        for folder in folders
        if (PACKAGE / folder).is_dir() or (PACKAGE / folder).with_suffix(".py").is_file()
    }

    assert sorted(map(str, folders - mirrored - across)) == []
    assert sorted(map(str, across - folders)) == [], "these folders are gone"


@pytest.mark.parametrize("package", ["delta", "iceberg", "parquet", "avro", "inventory"])
def test_a_package_of_a_table_format_imports_none_of_its_modules(package):
    """Threads open tables and import formats late.

    One thread locks the package and wants a module of it, another locks this module and wants the
    package: Python then gives one of them a module that is not complete.
    """
    text = (PACKAGE / "tables" / package / "__init__.py").read_text("utf-8")

    imports = [n for n in ast.parse(text).body if isinstance(n, ast.Import | ast.ImportFrom)]
    assert imports == []
