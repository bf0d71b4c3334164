"""The wheel and the sdist: what is in them, and that they install where nothing else is."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

from support.environments import NotInstalled, lock_of, python_of

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-d", str(folder), cwd=ROOT)
    return folder


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def only(folder, pattern):
    [path] = folder.glob(pattern)
    return path


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(dist):
    with zipfile.ZipFile(only(dist, "*.whl")) as wheel:
        inside = {name for name in wheel.namelist() if ".dist-info/" not in name}

    tracked = run("git", "ls-files", "src/whyscan", cwd=ROOT).split()
    assert inside >= {name.removeprefix("src/") for name in tracked}
    assert {Path(name).suffix for name in inside} == {".py", ".typed", ".css", ".js", ".j2"}


def test_the_sdist_has_the_package_and_no_tests(dist):
    with tarfile.open(only(dist, "*.tar.gz")) as sdist:
        folders = {Path(name).parts[1] for name in sdist.getnames()}

    assert {"src", "README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml"} <= folders
    assert not folders & {"tests", "bench", "docs", "requirements"}


def test_the_description_is_accepted_by_the_index(dist):
    try:
        python = python_of("dist")
    except NotInstalled as error:
        pytest.skip(f"twine cannot be installed: {error}")

    printed = run(str(python), "-m", "twine", "check", "--strict", *map(str, dist.iterdir()))

    assert printed.count("PASSED") == 2


@pytest.mark.proof
@pytest.mark.parametrize("version", PYTHONS)
def test_the_wheel_installs_into_an_empty_environment_and_answers(version, dist, tmp_path):
    python = shutil.which(f"python{version}")
    works = python and subprocess.run([python, "-c", ""], check=False).returncode == 0
    if not works:
        pytest.skip(f"this machine has no Python {version}")
    run(python, "-m", "venv", str(tmp_path / "env"))
    pip = (str(tmp_path / "env/bin/python"), "-m", "pip", "--disable-pip-version-check", "-q")
    run(*pip, "install", "--require-hashes", "-r", str(lock_of("core")))
    run(*pip, "install", "--no-deps", str(only(dist, "*.whl")))
    whyscan = str(tmp_path / "env/bin/whyscan")

    run(whyscan, "demo", cwd=tmp_path)
    printed = run(whyscan, "explain", "whyscan-demo/users", "-w", "country = 'DE'", cwd=tmp_path)

    assert printed.startswith("reads 2 of 6 files")
    assert run(whyscan, "--version").strip() == f"whyscan {PROJECT['version']}"


def test_the_classifiers_name_the_versions_that_are_tested():
    classified = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if ":: Python :: 3." in c]

    assert classified == [version for version in PYTHONS if version != "3.14"]


@pytest.mark.parametrize("name", ["ci", "release"])
def test_a_workflow_calls_targets_that_exist(name):
    workflow = yaml.safe_load((ROOT / f".github/workflows/{name}.yml").read_text("utf-8"))
    targets = {line.split(":")[0] for line in (ROOT / "Makefile").read_text("utf-8").splitlines()}

    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    called = [step["run"].split()[1] for step in steps if step.get("run", "").startswith("make ")]

    assert called
    assert set(called) <= targets


def test_the_container_installs_what_is_locked():
    copied = [
        word
        for line in (ROOT / "Dockerfile").read_text("utf-8").splitlines()
        if line.startswith("COPY")
        for word in line.split()[1:-1]
    ]

    assert all((ROOT / name).exists() for name in copied)
