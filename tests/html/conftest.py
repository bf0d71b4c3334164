"""Pages in a real Chromium: what they show, say, load and complain about."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import sync_playwright

from whyscan.explain.html import page as rendered

if TYPE_CHECKING:
    from playwright.sync_api import Page

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
)


@dataclass
class Opened:
    """A page, and what happened while it was open."""

    page: Page
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.page.on("console", lambda message: self.console.append(message.text))
        self.page.on("pageerror", lambda error: self.console.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", self._dialog)

    def _dialog(self, dialog):
        self.dialogs.append(dialog.message)
        dialog.dismiss()


@pytest.fixture(scope="session")
def chromium():
    """One browser; ask for it under pytest.mark.xdist_group("browser")."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"no browser on this machine: none of {', '.join(BROWSERS)}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS.split())
        yield browser
        browser.close()


@pytest.fixture
def show(chromium, tmp_path):
    """Open a report's page from a file, as a reader would: `show(report).page`."""
    with shower(chromium, tmp_path) as open_page:
        yield open_page


@pytest.fixture(scope="module")
def show_once(chromium, tmp_path_factory):
    """The same for a page that several tests look at."""
    with shower(chromium, tmp_path_factory.mktemp("pages")) as open_page:
        yield open_page


@contextmanager
def shower(chromium, folder):
    contexts = []

    def open_page(report, **terms):
        place = folder / f"report-{len(contexts)}.html"
        place.write_text(rendered(report), "utf-8")
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **terms})
        contexts.append(context)
        opened = Opened(context.new_page())
        opened.page.goto(place.as_uri())
        return opened

    yield open_page
    for context in contexts:
        context.close()
