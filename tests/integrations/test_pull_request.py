"""The action on a pull request: queries before and after, and one comment that is updated."""

from __future__ import annotations

import json
import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from integrations.steps import COMMENT, ROOT, run_step

pytestmark = pytest.mark.xdist_group("action")  # one installation

TABLES = "users={lake}/users\nflat={lake}/users-flat"
NARROW = "SELECT * FROM users WHERE country = 'DE' AND age > 40"
WIDE = "SELECT * FROM users WHERE age > 40"


def git(folder, *words):
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    done = subprocess.run(
        ["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path):
    """A base with three queries, of which the working tree changes one, and adds one."""
    folder = tmp_path / "repository"
    (folder / "models" / "daily").mkdir(parents=True)
    git(tmp_path, "init", "-q", str(folder))
    for name in ("same", "wider"):
        (folder / "models" / f"{name}.sql").write_text(NARROW)
    (folder / "models" / "gone.sql").write_text(NARROW)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "base")
    (folder / "models" / "wider.sql").write_text(WIDE)
    (folder / "models" / "daily" / "new | one.sql").write_text(NARROW)
    (folder / "models" / "gone.sql").unlink()
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "change")
    return folder


def event(folder, base):
    """The file in which the runner says what the job runs for."""
    file = folder / "event.json"
    file.write_text(json.dumps({"pull_request": {"number": 7, "base": {"sha": base}}}))
    return str(file)


def test_changed_queries_are_explained_before_and_after(act, repository, workspace, lent, tmp_path):
    base = git(repository, "rev-parse", "HEAD~1")
    environment = {**lent, "GITHUB_EVENT_PATH": event(tmp_path, base)}

    done = act(
        repository,
        environment,
        changed="models/**/*.sql",
        tables=TABLES.format(lake=workspace / "lake"),
        args="--price=5/TB",
    )

    assert (done.code, done.outputs["result"]) == (0, "pass")
    rows = [line for line in done.summary.splitlines() if line.startswith("| `models")]
    assert len(rows) == 2
    assert rows[0].startswith(r"| `models/daily/new \| one.sql` | new | **1 of 6** | new |")
    assert rows[1].startswith("| `models/wider.sql` | 1 of 6 | **3 of 6** | 505 B | **1.5 kB** |")
    assert done.outputs["files-read"] == "4"


def test_a_pull_request_without_a_changed_query_passes(act, repository, workspace, lent):
    done = act(
        repository,
        lent,
        changed="models/**/*.sql",
        base="HEAD",
        tables=TABLES.format(lake=workspace / "lake"),
    )

    assert (done.code, done.outputs["result"], done.summary) == (0, "pass", "")


def test_a_query_that_has_no_answer_is_an_error_in_its_row(act, repository, lent):
    done = act(repository, lent, changed="models/wider.sql", base="HEAD~1")

    assert (done.code, done.outputs["result"]) == (3, "error")
    assert "| `models/wider.sql` | new | **error** |" in done.summary


def test_a_base_that_was_not_fetched_is_named(act, repository, lent):
    done = act(repository, lent, changed="*.sql", base="f" * 40)

    assert done.code == 1
    assert "fetch-depth: 0" in done.log


class Comments(BaseHTTPRequestHandler):
    """The comments of GitHub's API, as its documentation describes them."""

    def do_GET(self):
        words = parse_qs(urlsplit(self.path).query)
        size, page = int(words["per_page"][0]), int(words["page"][0])
        listed = list(self.server.comments.values())
        self._answer(200, listed[(page - 1) * size : page * size])

    def do_POST(self):
        number = len(self.server.comments) + 1
        self.server.comments[number] = {"id": number, **self._body()}
        self._answer(201, self.server.comments[number])

    def do_PATCH(self):
        number = int(self.path.rpartition("/")[2])
        self.server.comments[number] |= self._body()
        self._answer(200, self.server.comments[number])

    def _body(self):
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def _answer(self, code, document):
        allowed = self.headers["Authorization"] == "Bearer may-write"
        text = json.dumps(document if allowed or self.command == "GET" else {}).encode()
        self.send_response(code if allowed or self.command == "GET" else 403)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        self.server.requests.append((self.command, urlsplit(self.path).path))

    def log_message(self, *_):
        pass


@contextmanager
def api(comments=()):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Comments)
    server.comments = {n: {"id": n, "body": body} for n, body in enumerate(comments, start=1)}
    server.requests = []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def write(installed, tmp_path):
    """The last step, with a summary and a token."""

    def run(server, text, token="may-write", **environment):
        summary = tmp_path / "summary.md"
        summary.write_text(text)
        context = {
            "github.action_path": str(ROOT),
            "steps.install.outputs.bin": str(installed),
            "steps.explain.outputs.summary": str(summary),
            "inputs.comment-key": "whyscan",
            "inputs.token": token,
        }
        variables = {
            "GITHUB_API_URL": f"http://127.0.0.1:{server.server_port}",
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_EVENT_PATH": event(tmp_path, "0" * 40),
            **environment,
        }
        return run_step(COMMENT, context, tmp_path / "comment", tmp_path, **variables)

    return run


def test_one_comment_is_written_and_then_updated(write):
    with api(["another comment"] * 130) as server:
        assert write(server, "first").code == 0
        assert write(server, "second").code == 0

        ours = [c["body"] for c in server.comments.values() if "whyscan" in c["body"]]

    assert ours == ["<!-- whyscan whyscan -->\nsecond"]
    assert server.requests[-1] == ("PATCH", "/repos/o/r/issues/comments/131")


def test_a_long_summary_is_cut_at_a_line(write):
    with api() as server:
        write(server, "a line of the summary\n" * 5000)

        body = server.comments[1]["body"]

    assert len(body) < 65_536
    assert set(body.splitlines()[1:-2]) == {"a line of the summary"}
    assert body.endswith("… the rest is in the summary of the job\n")


def test_a_token_that_may_not_write_is_a_warning(write):
    with api() as server:
        done = write(server, "text", token="read-only")

    assert done.code == 0
    assert "::warning::the comment was not written: HTTP Error 403" in done.log


def test_a_job_without_a_pull_request_writes_nothing(write):
    with api() as server:
        done = write(server, "text", GITHUB_EVENT_PATH="")

    assert (done.code, server.requests) == (0, [])
