"""The step of action.yml that writes one comment on a pull request, and updates it later.

A comment is found by the marker in its first line. Where the token may not write, as for pull
requests from forks, that is a warning and no failure.
"""

from __future__ import annotations

import json
import os
import re
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

LONGEST = 60_000
"""GitHub takes 65,536 characters."""
A_PAGE = 100
WAIT = 30


def main() -> int:
    number = pull_request()
    if number is None:
        print("::notice::no pull request to comment on")
        return 0
    place = f"repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    body = comment(os.environ["KEY"], Path(os.environ["SUMMARY"]).read_text("utf-8"))
    try:
        earlier = find(f"{place}/{number}/comments", body.partition("\n")[0])
        if earlier is None:
            ask("POST", f"{place}/{number}/comments", {"body": body})
        else:
            ask("PATCH", f"{place}/comments/{earlier}", {"body": body})
    except (urllib.error.URLError, TimeoutError) as error:
        why = " ".join(str(error).split())
        print(f"::warning::the comment was not written: {why}; it needs pull-requests: write")
    return 0


def pull_request() -> int | None:
    """The number of the pull request that the job runs for."""
    event = Path(os.environ.get("GITHUB_EVENT_PATH", ""))
    document = json.loads(event.read_text("utf-8")) if event.is_file() else {}
    number: int | None = (document.get("pull_request") or {}).get("number")
    return number


def comment(key: str, summary: str) -> str:
    """The marker, and as much of the summary as a comment takes, in whole lines."""
    name = re.sub(r"[^\w.-]", "-", key)
    marker = f"<!-- whyscan {name} -->"
    if len(summary) > LONGEST:
        kept = summary[:LONGEST].rpartition("\n")[0]
        summary = f"{kept}\n\n… the rest is in the summary of the job\n"
    return f"{marker}\n{summary}"


def find(address: str, marker: str) -> int | None:
    """The id of the comment that begins with the marker; None without one."""
    page = 1
    while True:
        listed = ask("GET", f"{address}?per_page={A_PAGE}&page={page}")
        for entry in listed:
            if str(entry.get("body") or "").partition("\n")[0].strip() == marker:
                number: int = entry["id"]
                return number
        if len(listed) < A_PAGE:
            return None
        page += 1


def ask(method: str, address: str, body: Any = None) -> Any:
    """One request to GitHub's API."""
    request = urllib.request.Request(  # noqa: S310 - the address of the runner's own server
        f"{os.environ['GITHUB_API_URL']}/{address}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {os.environ['TOKEN']}",
            "Content-Type": "application/json",
            "User-Agent": "whyscan",
        },
    )
    with urllib.request.urlopen(request, timeout=WAIT) as answer:  # noqa: S310 - as above
        return json.load(answer)


if __name__ == "__main__":
    sys.exit(main())
