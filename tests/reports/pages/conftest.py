"""Pages in a real Chromium: what they show, say, load and complain about."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import sync_playwright

from support.formats import page as rendered

if TYPE_CHECKING:
    from playwright.sync_api import Page

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync "
    # Pages follow each other in one process, and none is started in advance.
    "--process-per-site "
    "--disable-features=SpareRendererForSitePerProcess,ProactivelySwapBrowsingInstance"
)
# WHYSCAN_LATE_FRAMES=700 delays frames and unpacked data by milliseconds, as a busy machine does:
# a test that looks before the page is drawn fails then.
LATE_FRAMES = """(() => {
  const [frame, text] = [window.requestAnimationFrame.bind(window), Response.prototype.text];
  const late = () => new Promise((done) => setTimeout(done, MILLISECONDS));
  window.requestAnimationFrame = (draw) => { late().then(() => frame(draw)); };
  Response.prototype.text = async function () { await late(); return text.call(this); };
})()"""


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

    def go(self, address):
        for events in (self.console, self.requests, self.dialogs):
            events.clear()
        self.page.goto(address)

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


@pytest.fixture(scope="session")
def windows(chromium):
    """The windows that are open, by their terms: a page costs less in one that is there."""
    by_terms = {}
    yield by_terms
    for window in by_terms.values():
        window.page.context.close()


@pytest.fixture
def show(chromium, windows, tmp_path):
    """Open a page from a file, as a reader would: `show(report).page`, until the next one."""

    def open_page(report, render=rendered, **terms):
        place = tmp_path / "report.html"
        place.write_text(render(report), "utf-8")
        key = repr(sorted(terms.items()))
        if key not in windows:
            context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **terms})
            if (late := os.environ.get("WHYSCAN_LATE_FRAMES")) is not None:
                context.add_init_script(LATE_FRAMES.replace("MILLISECONDS", str(int(late))))
            windows[key] = Opened(context.new_page())
        windows[key].go(place.as_uri())
        return windows[key]

    return open_page
