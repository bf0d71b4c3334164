"""The hooks of .pre-commit-hooks.yaml, run by pre-commit on commits to a repository with a lake."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from whyscan.cli.predicates import explain_each

ROOT = Path(__file__).parents[2]
HOOKS = ROOT / ".pre-commit-hooks.yaml"
PRE_COMMIT = Path(sys.executable).with_name("pre-commit")
PUBLISHED = ("src", "pyproject.toml", "README.md", "LICENSE", HOOKS.name)

CONFIG = """\
repos:
  - repo: {repository}
    rev: v1
    hooks:
      - id: whyscan
        args: [lake/users, --where=country = 'DE' AND age > 40, --max-files={limit}]
      - id: whyscan-predicates
        args: [lake/users, --max-files=2, --]
        exclude: ^queries/
      - id: whyscan-statements
        args: [--table=users=lake/users, --max-files=users={limit}, --]
        files: ^queries/
"""


def git(*words, cwd):
    identity = ("-c", "user.name=n", "-c", "user.email=e@example.com")
    subprocess.run(["git", *identity, *words], cwd=cwd, check=True, capture_output=True)


def commit_all(folder):
    git("init", "--quiet", cwd=folder)
    git("add", "--all", cwd=folder)
    git("commit", "--quiet", "--message=all", cwd=folder)


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The repository that a user's configuration names."""
    folder = tmp_path_factory.mktemp("published")
    for name in PUBLISHED:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copyfile
        copy(source, folder / name)
    commit_all(folder)
    git("tag", "v1", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def repository(tmp_path_factory, workspace):
    """A user's repository: a lake, and predicates in files."""
    folder = tmp_path_factory.mktemp("repository")
    shutil.copytree(workspace / "lake", folder / "lake")
    (folder / "young.sql").write_text("-- of one country\ncountry = 'DE' AND age < 30\n")
    (folder / "all.sql").write_text("age < 100\n")
    (folder / "queries").mkdir()
    query = "SELECT * FROM users WHERE country = 'DE' AND age > 40\n"
    (folder / "queries" / "old.sql").write_text(query)
    return folder


@pytest.fixture(scope="module")
def hooks(published, repository, tmp_path_factory, lent):
    """`pre-commit run` there, with what whyscan depends on lent to the environment it makes."""
    home = tmp_path_factory.mktemp("home")

    def run(limit, *files):
        config = CONFIG.format(repository=published, limit=limit)
        (repository / ".pre-commit-config.yaml").write_text(config)
        commit_all(repository)
        return subprocess.run(
            [PRE_COMMIT, "run", "--color=never", "--files", *files],
            cwd=repository,
            env={**os.environ, "PRE_COMMIT_HOME": str(home), **lent},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_pre_commit_accepts_the_manifest():
    done = subprocess.run([PRE_COMMIT, "validate-manifest", HOOKS], check=False)

    assert done.returncode == 0


@pytest.mark.xdist_group("pre-commit")
def test_the_hooks_pass_and_fail_with_the_report(hooks):
    passed = hooks(1, "young.sql", "queries/old.sql")
    failed = hooks(0, "young.sql", "all.sql", "queries/old.sql")

    assert passed.returncode == 0, passed.stdout
    assert passed.stdout.count("Passed") == 3
    assert failed.returncode == 1
    assert failed.stdout.count("Failed") == 3
    assert failed.stdout.count("fail  max_files: 1, at most 0 asked") == 2
    assert "fail  max_files: 6, at most 2 asked" in failed.stdout
    assert "country = 'DE' AND age < 30" in failed.stdout


def test_files_without_dashes_before_them_are_wrong_usage(capfdbinary):
    assert explain_each(["lake/users", "young.sql"]) == 2
    assert b"hint: end the hook's args with it" in capfdbinary.readouterr().err
